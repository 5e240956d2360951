public import Basics

extension JSONValue {
    /// The value of an object's member, or `nil` if there is no such member or the value is not an object.
    public subscript(key: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key == key }?.value
    }

    /// The content of a string, or `nil` for another type.
    public var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// The value of an integer, or `nil` for another type.
    public var integer: Int? {
        guard case .integer(let integer) = self else { return nil }
        return integer
    }

    /// The value of any number, or `nil` for another type.
    public var double: Double? {
        switch self {
        case .integer(let integer): Double(integer)
        case .number(let number): number
        default: nil
        }
    }

    /// The value of a boolean, or `nil` for another type.
    public var boolean: Bool? {
        guard case .boolean(let boolean) = self else { return nil }
        return boolean
    }

    /// The elements of an array, or `nil` for another type.
    public var elements: [JSONValue]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }

    /// The members of an object, or `nil` for another type.
    public var members: [Member]? {
        guard case .object(let members) = self else { return nil }
        return members
    }

    /// Appends the value on one line without whitespace.
    public func append(to buffer: inout ByteBuffer) { append(to: &buffer, indent: nil) }

    /// The value on one line without whitespace.
    public var compact: String { written(indent: nil) }

    /// The value over several lines, indented by two spaces, without a final newline.
    public var pretty: String { written(indent: 0) }

    private func written(indent: Int?) -> String {
        var buffer = ByteBuffer()
        append(to: &buffer, indent: indent)
        return String(decoding: buffer.copied(), as: UTF8.self)
    }

    private func append(to buffer: inout ByteBuffer, indent: Int?) {
        switch self {
        case .null: buffer.append("null")
        case .boolean(let boolean): buffer.append(boolean ? "true" : "false")
        case .integer(let integer): buffer.append(decimal: integer)
        case .number(let number):
            // JSON has no infinity and no NaN.
            buffer.append(text: number.isFinite ? number.description : "null")
        case .string(let text): JSONWriter.append(text: text, to: &buffer)
        case .array(let elements):
            Self.append("[", "]", count: elements.count, indent, to: &buffer) { at, buffer, inner in
                elements[at].append(to: &buffer, indent: inner)
            }
        case .object(let members):
            Self.append("{", "}", count: members.count, indent, to: &buffer) { at, buffer, inner in
                JSONWriter.append(text: members[at].key, to: &buffer)
                buffer.append(inner == nil ? ":" : ": ")
                members[at].value.append(to: &buffer, indent: inner)
            }
        }
    }

    private static func append(
        _ open: StaticString, _ close: StaticString, count: Int, _ indent: Int?,
        to buffer: inout ByteBuffer, _ item: (Int, inout ByteBuffer, Int?) -> Void
    ) {
        buffer.append(open)
        for at in 0..<count {
            if at > 0 { buffer.append(",") }
            if let indent { newline(indent + 1, to: &buffer) }
            item(at, &buffer, indent.map { $0 + 1 })
        }
        if let indent, count > 0 { newline(indent, to: &buffer) }
        buffer.append(close)
    }

    private static func newline(_ depth: Int, to buffer: inout ByteBuffer) {
        buffer.append("\n")
        for _ in 0..<depth { buffer.append("  ") }
    }
}
