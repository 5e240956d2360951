import Basics

/// A JSON value as a tree, for tools, configuration and HTTP bodies, but never for messages.
public enum JSONValue: Sendable, Equatable {
    case null
    case boolean(Bool)
    /// A number written without fraction and exponent that fits 64 bits.
    case integer(Int)
    /// Any other number.
    case number(Double)
    case string(String)
    case array([JSONValue])
    /// The members in the order written; keys are unique unless repeated ones were to be kept.
    case object([Member])

    /// A member of an object.
    public struct Member: Sendable, Equatable {
        public var key: String
        public var value: JSONValue

        /// Creates a member.
        public init(_ key: String, _ value: JSONValue) {
            self.key = key
            self.value = value
        }
    }

    /// Parses a document. The last of several equal keys counts, unless all are to be kept, to be refused with the name of the field.
    public init(parsing text: RawSpan, keepingRepeatedKeys keepsAll: Bool = false) throws(JSONError) {
        let reader = try JSONReader(text)
        self = Self.value(reader.root, in: reader, keepsAll)
    }

    private static func value(
        _ slice: JSONSlice, in reader: borrowing JSONReader, _ keepsAll: Bool
    ) -> JSONValue {
        switch reader.kind(slice) {
        case .null: return .null
        case .boolean: return .boolean(reader.boolean(slice) ?? false)
        case .string: return .string(String(decoding: reader.string(slice), as: UTF8.self))
        case .number:
            if let integer = reader.integer(slice) { return .integer(integer) }
            let text = String(decoding: [UInt8](copying: reader.raw(slice)), as: UTF8.self)
            return .number(Double(text) ?? .infinity)
        case .array:
            var cursor = reader.begin(slice)
            var elements: [JSONValue] = []
            while let element = reader.nextElement(&cursor) {
                elements.append(value(element, in: reader, keepsAll))
            }
            return .array(elements)
        case .object:
            var cursor = reader.begin(slice)
            var members: [Member] = []
            var places: [String: Int] = [:]
            while let member = reader.nextMember(&cursor) {
                let key = String(decoding: reader.string(member.key), as: UTF8.self)
                let entry = Member(key, value(member.value, in: reader, keepsAll))
                if !keepsAll, let place = places[key] {
                    members[place] = entry
                } else {
                    places[key] = members.count
                    members.append(entry)
                }
            }
            return .object(members)
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int) { self = .integer(value) }
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    public init(nilLiteral: ()) { self = .null }
    /// Creates an object with the members in the order given; keys must be unique.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(elements.map { Member($0.0, $0.1) })
    }
}
