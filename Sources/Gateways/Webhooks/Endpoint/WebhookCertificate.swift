/// Explains why the certificate of an endpoint was not accepted.
public enum WebhookCertificate {
    /// Verdicts of OpenSSL that mean an unknown issuer (`X509_V_ERR_…`): no issuer found, a certificate that signs itself, alone or at
    /// the end of a chain, and a chain that does not verify its first one.
    private static let unknownIssuer = [2, 18, 19, 20, 21]

    /// What libcurl reports when OpenSSL has accepted the chain and the name is wrong: its own 1, or nothing.
    private static let wrongName = [0, 1]

    /// Returns what is wrong, and what to do. `verdict` is OpenSSL's (`X509_V_ERR_…`), or one of `wrongName`; `text` is its text.
    public static func problem(verdict: Int, text: String, host: String) -> String {
        switch verdict {
        case let code where wrongName.contains(code): "its certificate is not for the host name \(host)"
        case let code where unknownIssuer.contains(code):
            "its certificate comes from an unknown CA (\(text)): set webhook_ca_file to a file with that CA"
        default: "its certificate is not valid: \(text)"
        }
    }
}
