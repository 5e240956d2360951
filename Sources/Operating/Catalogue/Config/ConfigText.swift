import Basics

/// An invalid value of a config key.
public struct ConfigMistake: Error, Sendable, Equatable {
    /// What is wrong, with the value that was found.
    public var problem: String
    /// What to write instead.
    public var hint: String

    /// Creates a mistake from what is wrong and what to write instead.
    public init(_ problem: String, hint: String) {
        self.problem = problem
        self.hint = hint
    }
}

extension ConfigKey {
    /// Parses the text of one value from a file, a flag or the environment.
    ///
    /// The items of a list are separated by commas.
    public func value(of text: String) throws(ConfigMistake) -> ConfigValue {
        switch entry.type {
        case .integer(let range): .integer(try integer(text, in: range))
        case .port: .integer(try integer(text, in: 0...65_535))
        case .portOrOff: text == "off" ? .text(text) : .integer(try integer(text, in: 0...65_535))
        case .boolean: .boolean(try boolean(text))
        case .path, .address: .text(try line(text))
        case .choice(let words): .text(try word(text, of: words))
        case .hostName: .text(try hostName(text))
        case .endpoint: .text(try endpoint(text))
        case .hostNames:
            .list(
                try hostNames(text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)))
        case .networks:
            .list(
                try networks(
                    text.isEmpty
                        ? [] : text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)))
        case .origins:
            .list(
                try origins(
                    text.isEmpty
                        ? [] : text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)))
        }
    }

    /// Parses the items of a list.
    public func value(of items: [String]) throws(ConfigMistake) -> ConfigValue {
        switch entry.type {
        case .hostNames: return .list(try hostNames(items))
        case .networks: return .list(try networks(items))
        case .origins: return .list(try origins(items))
        default: throw ConfigMistake("takes one value, not a list", hint: "write \(entry.type.allowed)")
        }
    }

    /// Refuses items with characters that no address or network has; `AddressNetwork` parses the rest later.
    private func networks(_ items: [String]) throws(ConfigMistake) -> [String] {
        for item in items {
            let isPlain = item.utf8.allSatisfy { byte in
                (0x30...0x3A).contains(byte) || (0x61...0x66).contains(byte | 0x20) || byte == 0x2E
                    || byte == 0x2F
            }
            guard isPlain, !item.isEmpty else {
                throw ConfigMistake(
                    "\(shown(item)) is not an address or network",
                    hint: "write an IPv4 or IPv6 address, or a network like 10.0.0.0/8")
            }
        }
        return items
    }

    /// Refuses what no browser sends as an origin, since no page would ever match it.
    private func origins(_ items: [String]) throws(ConfigMistake) -> [String] {
        for item in items where item != "*" && !Self.isOrigin(item) {
            throw ConfigMistake(
                "\(shown(item)) is not an origin",
                hint:
                    "write a scheme, a host in lower case and a port only if it is not that of the scheme, such as https://app.example.com, or \"*\" for all"
            )
        }
        return items
    }

    private static func isOrigin(_ text: String) -> Bool {
        let schemes: [(start: String, port: Int?)] = [
            ("https://", 443), ("http://", 80), ("chrome-extension://", nil), ("moz-extension://", nil),
        ]
        guard let scheme = schemes.first(where: { text.hasPrefix($0.start) }), text == text.lowercased()
        else { return false }
        let parts = text.dropFirst(scheme.start.count).split(
            separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let host = parts.first, isHostName(String(host)), !host.hasPrefix("*") else { return false }
        guard parts.count == 2 else { return true }
        guard let port = Int(parts[1]), String(port) == parts[1] else { return false }
        return (1...65_535).contains(port) && port != scheme.port
    }

    private func integer(_ text: String, in range: ClosedRange<Int>) throws(ConfigMistake) -> Int {
        let unit = entry.unit.isEmpty ? "" : " \(entry.unit)"
        let allowed = "\(entry.type.allowed)\(unit)"
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw ConfigMistake("\(shown(text)) is not a whole number", hint: "write \(allowed)")
        }
        guard let number = Int(text), range.contains(number) else {
            throw ConfigMistake("\(shown(text, quoted: false)) is out of range", hint: "write \(allowed)")
        }
        return number
    }

    private func boolean(_ text: String) throws(ConfigMistake) -> Bool {
        switch text {
        case "true": true
        case "false": false
        default: throw ConfigMistake("\(shown(text)) is neither true nor false", hint: "write true or false")
        }
    }

    private func word(_ text: String, of words: [String]) throws(ConfigMistake) -> String {
        if words.contains(text) { return text }
        let near = NearestName.of(text, among: words).map { "did you mean \($0)? " } ?? ""
        throw ConfigMistake("\(shown(text)) is not a valid value", hint: "\(near)write \(entry.type.allowed)")
    }

    private func line(_ text: String) throws(ConfigMistake) -> String {
        guard text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
            throw ConfigMistake("contains a control character", hint: "write \(entry.type.allowed)")
        }
        guard !text.isEmpty || entry.preset == .text("") else {
            throw ConfigMistake("is empty", hint: "write \(entry.type.allowed)")
        }
        return text
    }

    private func hostName(_ text: String) throws(ConfigMistake) -> String {
        guard text.isEmpty && entry.preset == .text("") || Self.isHostName(text) && !text.hasPrefix("*")
        else {
            throw ConfigMistake(
                "\(shown(text)) is not a host name", hint: "letters, digits, dashes and dots")
        }
        return text
    }

    private func endpoint(_ text: String) throws(ConfigMistake) -> String {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, Self.isHostName(String(parts[0])), !text.hasPrefix("*"),
            parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = Int(parts[1]), (1...65_535).contains(port)
        else {
            throw ConfigMistake(
                "\(shown(text)) is not a host name with a port", hint: "write \(entry.type.allowed)")
        }
        return text
    }

    private func hostNames(_ items: [String]) throws(ConfigMistake) -> [String] {
        for item in items where !Self.isHostName(item) {
            throw ConfigMistake(
                "\(shown(item)) is not a host name",
                hint: "letters, digits, dashes and dots; *. may come first")
        }
        return items
    }

    private static func isHostName(_ text: String) -> Bool {
        let name = text.hasPrefix("*.") ? text.dropFirst(2) : text[...]
        guard !name.isEmpty, name.utf8.count <= 253 else { return false }
        return name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            (1...63).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
                && label.utf8.allSatisfy { byte in
                    byte == 0x2D || (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
                }
        }
    }

    /// The value as a message shows it, cut to fit a line.
    private func shown(_ text: String, quoted: Bool = true) -> String {
        let cut = Printable.text(text, limit: Limits.Config.shownCharacters)
        return quoted ? "\"\(cut)\"" : cut
    }
}
