import COpenSSL

/// OpenSSL's error queue, which must be empty after every failure, since `SSL_get_error` reads it.
enum OpenSSLErrors {
    /// Empties the thread's queue and returns its texts, the first cause first.
    static func drain() -> String {
        var causes: [String] = []
        while true {
            let code = ERR_get_error()
            guard code != 0 else { break }
            guard let reason = unsafe ERR_reason_error_string(code) else { continue }
            let words = unsafe String(cString: reason)
            if !causes.contains(words) { causes.append(words) }
        }
        return causes.joined(separator: ", ")
    }

    /// Returns an error with the texts of the queue, which it empties.
    static func failure(_ action: String, otherwise: String = "OpenSSL gave no reason") -> TransportError {
        let words = drain()
        return TransportError(action, detail: words.isEmpty ? otherwise : words)
    }
}
