import COpenSSL

/// OpenSSL's queue of errors, which every failure must leave empty: `SSL_get_error` looks at it.
enum OpenSSLErrors {
    /// Empties the thread's queue and gives its words, the first cause first.
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

    /// The failure that the queue tells of.
    static func failure(_ action: String, otherwise: String = "OpenSSL gives no reason") -> TransportError {
        let words = drain()
        return TransportError(action, detail: words.isEmpty ? otherwise : words)
    }
}
