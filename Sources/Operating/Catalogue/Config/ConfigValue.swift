/// A value of a config key.
public enum ConfigValue: Sendable, Equatable {
    /// A whole number in the unit of its key.
    case integer(Int)
    case boolean(Bool)
    /// Text, a path, an address or one of several words.
    case text(String)
    case list([String])

    /// The text that YAML reads back as this value.
    public var yaml: String {
        switch self {
        case .integer(let number): "\(number)"
        case .boolean(let boolean): boolean ? "true" : "false"
        case .text(let text): Self.quoted(text)
        case .list(let items): "[" + items.map(Self.quoted).joined(separator: ", ") + "]"
        }
    }

    /// The text that a flag or an environment variable takes for this value.
    public var plain: String {
        switch self {
        case .integer(let number): "\(number)"
        case .boolean(let boolean): boolean ? "true" : "false"
        case .text(let text): text
        case .list(let items): items.joined(separator: ",")
        }
    }

    private static func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            (0x61...0x7A).contains(byte) || (0x41...0x5A).contains(byte) || (0x30...0x39).contains(byte)
                || byte == 0x2E || byte == 0x2F || byte == 0x5F || byte == 0x2D
        }
        let isWord =
            text.utf8.contains { (0x61...0x7A).contains($0) } && !["true", "false", "null"].contains(text)
        if isPlain && isWord { return text }
        return "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}

/// The type of a config key's value.
public enum ConfigType: Sendable, Equatable {
    case integer(ClosedRange<Int>)
    case boolean
    /// A TCP port; the help of the key explains 0.
    case port
    /// A TCP port, or the word `off`; the help of the key explains 0.
    case portOrOff
    /// A path of a file or directory; may be empty if the default is.
    case path
    /// An IPv4 or IPv6 address, not a name.
    case address
    case choice([String])
    /// One host name; may be empty if the default is.
    case hostName
    /// A host name or IPv4 address with a port.
    case endpoint
    /// Host names, each optionally with a leading `*.`.
    case hostNames
    /// IPv4 and IPv6 addresses and networks.
    case networks
    /// Origins of web pages, as browsers write them, or `*` for all.
    case origins

    /// Whether the value is a list.
    public var isList: Bool { self == .hostNames || self == .networks || self == .origins }

    /// What may be written, as messages and docs show it.
    public var allowed: String {
        switch self {
        case .integer(let range):
            range.lowerBound == range.upperBound
                ? "\(range.lowerBound)" : "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .boolean: "true or false"
        case .port: "a port from 0 to 65535"
        case .portOrOff: "off, or a port from 0 to 65535"
        case .path: "a path"
        case .address: "an IPv4 or IPv6 address"
        case .choice(let words): "one of " + words.joined(separator: ", ")
        case .hostName: "a host name"
        case .endpoint: "a host name and a port, such as api.push.apple.com:443"
        case .hostNames: "a list of host names"
        case .networks: "a list of addresses and networks"
        case .origins: "a list of origins, such as https://app.example.com, or * for all"
        }
    }

    /// The placeholder for the value in usage lines.
    public var placeholder: String {
        switch self {
        case .integer: "N"
        case .boolean: "true|false"
        case .port: "PORT"
        case .portOrOff: "PORT|off"
        case .path: "PATH"
        case .address: "ADDRESS"
        case .choice(let words): words.joined(separator: "|")
        case .hostName: "NAME"
        case .endpoint: "NAME:PORT"
        case .hostNames: "NAME,…"
        case .networks: "NETWORK,…"
        case .origins: "ORIGIN,…"
        }
    }
}
