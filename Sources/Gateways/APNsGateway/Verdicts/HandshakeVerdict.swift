/// Why a connection to Apple cannot be used, by what the TLS handshake ended with.
public enum HandshakeVerdict {
    /// The protocol that Apple agrees to (ALPN).
    public static let wanted = "h2"

    /// Returns the reason for a connection that ended before it was used. `words` are those of OpenSSL or of the system.
    public static func failure(_ words: String, inHandshake: Bool, hasCertificate: Bool) -> APNsOpenFailure {
        if hasCertificate, refusesCertificate(words) { return .credentialRefused }
        guard inHandshake else { return .unreachable }
        return refusesProtocol(words) ? .notHTTP2 : .untrusted
    }

    /// Whether OpenSSL's words are those of an alert about the client certificate, such as `tlsv1 alert unknown ca`.
    public static func refusesCertificate(_ words: String) -> Bool {
        words.contains("alert")
            && ["certificate", "unknown ca", "access denied"].contains { words.contains($0) }
    }

    /// Returns what is wrong with the protocol of a connection, and what to do. Returns `nil` if it is HTTP/2.
    public static func problem(ofProtocol agreed: String?) -> String? {
        guard agreed != wanted else { return nil }
        return problem("agrees to \(agreed ?? "no protocol")")
    }

    /// Returns words for the log: those of OpenSSL, or clearer ones for a server that refuses HTTP/2.
    public static func words(_ words: String) -> String {
        refusesProtocol(words) ? problem("refuses it (\(words))") : words
    }

    private static func refusesProtocol(_ words: String) -> Bool {
        words.contains("no application protocol") || words.contains("bad extension alpn")
    }

    private static func problem(_ what: String) -> String {
        "the server does not speak HTTP/2: ccsd offers \(wanted) (ALPN), and it \(what); it is not Apple, but perhaps a proxy"
    }
}
