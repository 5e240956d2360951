/// Explains why the certificate of an endpoint was not accepted.
public enum WebhookCertificate {
    /// Verdicts of OpenSSL that mean an unknown issuer (`X509_V_ERR_…`): no issuer found, a certificate that signs itself, alone or at
    /// the end of a chain, and a chain that does not verify its first one.
    private static let unknownIssuer = [2, 18, 19, 20, 21]

    /// Returns what is wrong, and what to do. `verdict` is OpenSSL's, 0 if the chain is good and the name is not; `text` is its text.
    public static func problem(verdict: Int, text: String, host: String) -> String {
        switch verdict {
        case 0: "its certificate is not for the host name \(host)"
        case let code where unknownIssuer.contains(code):
            "its certificate comes from an unknown CA (\(text)): set webhook_ca_file to a file with that CA"
        default: "its certificate is not valid: \(text)"
        }
    }
}
