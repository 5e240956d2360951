import Basics

/// The check of a URL that an operator sets for a webhook.
public enum WebhookURL {
    /// Returns what is wrong with a URL, in words that follow "invalid url: "; `nil` if nothing is.
    ///
    /// Names are resolved at each connection, and their addresses checked then (`AddressClass`).
    public static func problem(_ text: String, _ reach: WebhookReach) -> String? {
        let bytes = Array(text.utf8)
        // First, since it is the likely mistake.
        let isPlain = reach.allowsPlainLoopback && isPlain(text)
        guard isPlain || text.lowercased().hasPrefix("https://") else {
            return "expected https://HOST/PATH, since messages are only sent encrypted"
        }
        guard Limits.Webhook.urlBytes.contains(bytes.count) else {
            return
                "expected \(Limits.Webhook.urlBytes.lowerBound) to \(Limits.Webhook.urlBytes.upperBound) bytes"
        }
        guard bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !Self.refused.contains($0) }) else {
            return "expected printable ASCII characters without spaces; encode others with %"
        }
        let rest = text.dropFirst((isPlain ? "http://" : "https://").count)
        guard !rest.contains("#") else { return "a fragment (#…) is never sent; leave it out" }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard !authority.contains("@") else {
            return "a user name or password in a URL would appear in logs; requests are signed instead"
        }
        guard let host = host(of: authority) else {
            return "expected a host name or address, and a port up to 65535"
        }
        if isPlain {
            guard AddressClass.isLoopback(host) else {
                return "expected https://HOST/PATH: http:// is only for loopback, with test_bench"
            }
            return nil
        }
        if !reach.allowsPrivate, let problem = AddressClass.problem(ofLiteral: host) {
            return "\(problem); webhook_private_addresses allows it"
        }
        return nil
    }

    /// Returns whether a URL is one without TLS.
    public static func isPlain(_ text: String) -> Bool { text.lowercased().hasPrefix("http://") }

    /// Returns the host of a URL that was checked, without its port.
    static func host(of url: String) -> String {
        let authority = url.dropFirst((isPlain(url) ? "http://" : "https://").count).prefix {
            $0 != "/" && $0 != "?"
        }
        return host(of: authority).map { String($0) } ?? String(authority)
    }

    /// Characters that no URL has unencoded, and that programs read differently.
    private static let refused = Set("\"<>\\^`{|}".utf8)

    /// Returns the host of an authority without its port. Returns `nil` if it is malformed.
    private static func host(of authority: Substring) -> Substring? {
        var host = authority
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            host = authority[authority.index(after: authority.startIndex)..<end]
            let port = authority[authority.index(after: end)...]
            guard port.isEmpty || port.first == ":" && isPort(port.dropFirst()) else { return nil }
            return AddressClass.isIPv6(host) ? host : nil
        }
        if let colon = authority.firstIndex(of: ":") {
            guard isPort(authority[authority.index(after: colon)...]) else { return nil }
            host = authority[..<colon]
        }
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        let isName = labels.enumerated().allSatisfy { at, label in
            (!label.isEmpty || at == labels.count - 1 && at > 0) && label.utf8.count <= 63
                && label.utf8.allSatisfy(isNameByte)
        }
        // Numbers alone are an address; forms such as 127.1 and 0x7f.1 are read differently by programs.
        let isNumeric = host.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
        guard isName, !isNumeric || AddressClass.ipv4(host) != nil else { return nil }
        return host
    }

    private static func isPort(_ text: Substring) -> Bool {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } && (UInt16(text) ?? 0) > 0
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
    }
}
