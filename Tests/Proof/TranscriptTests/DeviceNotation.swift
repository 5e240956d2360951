/// A value in the notation of device transcripts: `Name {field: 1, list: ["a"], pairs: {key: "value"}}`.
enum DeviceValue {
    case number(Int64)
    case text(String)
    case truth(Bool)
    case word(String)
    case list([DeviceValue])
    case record([DeviceField])

    /// Returns a field of a record.
    subscript(name: String) -> DeviceValue? {
        guard case .record(let fields) = self else { return nil }
        return fields.first { $0.name == name }?.value
    }

    /// The bytes of a text or word.
    var bytes: [UInt8]? {
        switch self {
        case .text(let text), .word(let text): Array(text.utf8)
        default: nil
        }
    }

    var integer: Int64? { if case .number(let number) = self { number } else { nil } }
    var boolean: Bool? { if case .truth(let truth) = self { truth } else { nil } }
    var items: [DeviceValue] { if case .list(let items) = self { items } else { [] } }
    var fields: [DeviceField] {
        if case .record(let fields) = self { fields } else { [] }
    }

    /// The value in the notation.
    var shown: String {
        switch self {
        case .number(let number): "\(number)"
        case .text(let text): "\"\(text)\""
        case .truth(let truth): "\(truth)"
        case .word(let word): word
        case .list(let items): "[\(items.map(\.shown).joined(separator: ", "))]"
        case .record(let fields):
            "{\(fields.map { "\($0.name): \($0.value.shown)" }.joined(separator: ", "))}"
        }
    }
}

/// A named value of a record.
struct DeviceField {
    var name: String
    var value: DeviceValue

    init(_ name: String, _ value: DeviceValue) {
        self.name = name
        self.value = value
    }
}

/// A parser of the notation.
struct DeviceNotation {
    private var rest: Substring

    /// A text that cannot be parsed.
    struct Unreadable: Error { let text: String }

    /// Parses a name followed by a value; the value is an empty record if absent.
    static func named(_ text: String) throws -> (name: String, value: DeviceValue) {
        var reader = DeviceNotation(rest: text[...])
        let name = reader.word()
        reader.skipBlanks()
        let value = reader.rest.isEmpty ? .record([]) : try reader.value()
        reader.skipBlanks()
        guard reader.rest.isEmpty, !name.isEmpty else { throw Unreadable(text: text) }
        return (name, value)
    }

    private mutating func value() throws -> DeviceValue {
        skipBlanks()
        switch rest.first {
        case "{":
            return .record(
                try items(until: "}") { reader in
                    reader.skipBlanks()
                    let name = reader.rest.first == "\"" ? try reader.text() : reader.word()
                    try reader.take(":")
                    return DeviceField(name, try reader.value())
                })
        case "[": return .list(try items(until: "]") { try $0.value() })
        case "\"": return .text(try text())
        default:
            let word = word()
            guard !word.isEmpty else { throw Unreadable(text: String(rest)) }
            if let number = Int64(word) { return .number(number) }
            if word == "true" || word == "false" { return .truth(word == "true") }
            return .word(word)
        }
    }

    private mutating func items<Item>(
        until end: Character, _ item: (inout DeviceNotation) throws -> Item
    ) throws -> [Item] {
        rest = rest.dropFirst()
        var items: [Item] = []
        while true {
            skipBlanks()
            if rest.first == end {
                rest = rest.dropFirst()
                return items
            }
            if !items.isEmpty { try take(",") }
            items.append(try item(&self))
        }
    }

    private mutating func text() throws -> String {
        try take("\"")
        guard let end = rest.firstIndex(of: "\"") else { throw Unreadable(text: String(rest)) }
        defer { rest = rest[rest.index(after: end)...] }
        return String(rest[..<end])
    }

    private mutating func word() -> String {
        let word = rest.prefix { $0.isLetter || $0.isNumber || "_-.".contains($0) }
        rest = rest.dropFirst(word.count)
        return String(word)
    }

    private mutating func take(_ sign: Character) throws {
        skipBlanks()
        guard rest.first == sign else { throw Unreadable(text: String(rest)) }
        rest = rest.dropFirst()
    }

    private mutating func skipBlanks() { rest = rest.drop { $0 == " " } }
}
