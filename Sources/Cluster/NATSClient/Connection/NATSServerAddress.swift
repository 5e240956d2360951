import Basics

/// The address of a NATS server: `host:port`, `nats://host:port`, or a host alone.
public struct NATSServerAddress: Hashable, Sendable, CustomStringConvertible {
    /// The port of NATS.
    public static let defaultPort: UInt16 = 4_222

    /// The host name or IP address, without brackets.
    public let host: String
    /// The port.
    public let port: UInt16

    /// Creates an address.
    public init(host: String, port: UInt16 = defaultPort) {
        self.host = host
        self.port = port
    }

    /// Reads an address.
    public init(parsing text: String) throws(NATSAddressError) {
        var rest = Substring(text)
        if let scheme = rest.firstRange(of: "://") {
            guard rest[..<scheme.lowerBound] == "nats" else { throw .scheme(Self.shown(text)) }
            rest = rest[scheme.upperBound...]
        }
        guard !rest.contains("@") else { throw .login }
        let host: Substring
        var port: Substring?
        if rest.first == "[" {
            guard let end = rest.firstIndex(of: "]") else { throw .invalid(Self.shown(text)) }
            host = rest[rest.index(after: rest.startIndex)..<end]
            let after = rest[rest.index(after: end)...]
            guard after.isEmpty || after.first == ":" else { throw .invalid(Self.shown(text)) }
            port = after.isEmpty ? nil : after.dropFirst()
        } else {
            let parts = rest.split(separator: ":", omittingEmptySubsequences: false)
            // An IPv6 address without brackets has more than one colon.
            guard parts.count <= 2 else { throw .brackets(Self.shown(text)) }
            host = parts[0]
            port = parts.count == 2 ? parts[1] : nil
        }
        let isName = host.unicodeScalars.allSatisfy { (0x21...0x7E).contains($0.value) && $0 != "/" }
        guard (1...255).contains(host.utf8.count), isName else { throw .invalid(Self.shown(text)) }
        let number = port.map { UInt16($0) } ?? Self.defaultPort
        guard let number, number > 0 else { throw .port(Self.shown(text)) }
        self.init(host: String(host), port: number)
    }

    private static func shown(_ text: String) -> String {
        Printable.text(text, limit: Limits.NATS.errorCharacters)
    }

    /// `host:port`, with brackets around an IPv6 address.
    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// Why a text is not the address of a NATS server.
public enum NATSAddressError: Error, Hashable, Sendable, CustomStringConvertible {
    case invalid(String)
    case scheme(String)
    case port(String)
    case brackets(String)
    case login

    /// The problem in words.
    public var description: String {
        switch self {
        case .invalid(let text): "invalid server \"\(text)\": expected host:port"
        case .scheme(let text):
            "invalid server \"\(text)\": expected host:port or nats://host:port; TLS has its own setting"
        case .port(let text): "invalid server \"\(text)\": expected a port from 1 to 65535 after the colon"
        case .brackets(let text):
            "invalid server \"\(text)\": expected an IPv6 address in brackets, such as [::1]:4222"
        case .login:
            "invalid server: expected host:port without a user or password, which have their own settings"
        }
    }
}
