import Basics

/// The host names and addresses that a listener answers to.
///
/// A page of another site can make a browser connect to any address by a name of its own (DNS rebinding), and reads the answers as
/// those of its own site. The header `Host` has the name that the browser believes in, which a page cannot change.
public struct AcceptedHosts: Sendable {
    private let names: Set<String>
    /// Whether any address is accepted: one that is written as a number is the page's own origin, so nothing is rebound.
    private let acceptsAddresses: Bool

    /// Accepts loopback, and these names and addresses; with a wildcard among them (`0.0.0.0`, `::`) every address.
    public init(_ names: [String]) {
        self.names = Set(names.map(Self.plain))
        acceptsAddresses = !self.names.isDisjoint(with: ["0.0.0.0", "::"])
    }

    /// Returns whether a request is for one of them. Without `Host`, as in HTTP/1.0, it does not come from a browser.
    public func accepts(_ request: HTTPRequest) -> Bool {
        request.header("host").map { accepts(String(decoding: $0, as: UTF8.self)) } ?? true
    }

    /// Returns whether a value of `Host` (RFC 9110, 7.2) names one of them, with or without a port.
    func accepts(_ value: String) -> Bool {
        guard let host = Self.host(of: value) else { return false }
        if host == "localhost" || host == "::1" || names.contains(host) { return true }
        let isIPv4 = Self.isIPv4(host)
        if isIPv4, host.hasPrefix("127.") { return true }
        return acceptsAddresses && (isIPv4 || host.contains(":"))
    }

    /// Returns the host without its port and brackets, in lower case. Returns `nil` for anything that is not `HOST` or `HOST:PORT`.
    private static func host(of value: String) -> String? {
        var host = value[...]
        var rest: Substring = ""
        if host.hasPrefix("[") {
            guard let end = host.firstIndex(of: "]") else { return nil }
            rest = host[host.index(after: end)...]
            host = host[host.index(after: host.startIndex)..<end]
            guard host.utf8.allSatisfy({ Hex.value(of: $0) != nil || $0 == 0x3A || $0 == 0x2E }) else {
                return nil
            }
        } else if let colon = host.firstIndex(of: ":") {
            rest = host[colon...]
            host = host[..<colon]
        }
        let isPort = rest.isEmpty || rest.utf8.dropFirst().allSatisfy { (0x30...0x39).contains($0) }
        guard isPort, rest.isEmpty || rest.hasPrefix(":"), !host.isEmpty else { return nil }
        return plain(String(host))
    }

    /// Returns a name in lower case, without the dot at the end of a complete one.
    private static func plain(_ name: String) -> String {
        let lower = name.lowercased()
        return lower.hasSuffix(".") ? String(lower.dropLast()) : lower
    }

    private static func isIPv4(_ host: String) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4
            && parts.allSatisfy { part in
                (1...3).contains(part.utf8.count) && part.utf8.allSatisfy { (0x30...0x39).contains($0) }
            }
    }
}
