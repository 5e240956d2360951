/// A mistake in the settings of a client, as OpenSSL reports it when the handshake fails.
enum HandshakeProblem: String, CaseIterable {
    case plainHTTP = "plain_http"
    case notTLS = "not_tls"
    case untrusted = "certificate_not_trusted"

    /// Finds the mistake in the text of a failed handshake; `nil` for anything else, such as versions that do not match.
    init?(failure: String) {
        func has(_ words: [String]) -> Bool { words.contains { failure.contains($0) } }
        if has(["http request", "https proxy request"]) {
            self = .plainHTTP
        } else if has([
            "wrong version number", "packet length too long", "unknown protocol", "bad record type",
        ]) {
            self = .notTLS
        } else if has(["alert unknown ca", "alert bad certificate", "alert certificate unknown"]) {
            self = .untrusted
        } else {
            return nil
        }
    }

    /// What the client did, and what to do.
    var advice: String {
        switch self {
        case .plainHTTP: "the client speaks HTTP without TLS: use https://"
        case .notTLS:
            "the client does not begin with TLS: this port has TLS from the first byte, without STARTTLS"
        case .untrusted:
            "the client does not trust the certificate: it needs the CA, ca.pem in the data directory unless certificate_file is set"
        }
    }
}
