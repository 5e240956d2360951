import Basics
import HTTP2Engine

extension HTTPCall {
    /// Returns the header list of the request. Throws `malformed` for invalid bytes or a head that is too long.
    func fields(authority: String) throws(HTTP2SendFailure) -> HTTP2Fields {
        guard method.utf8.allSatisfy(ASCII.isToken), Self.isFieldValue(authority), Self.isFieldValue(path),
            path.utf8.first == UInt8(ascii: "/"), path.utf8.allSatisfy({ $0 > 0x20 })
        else { throw .malformed }
        var size = Self.size(authority) + Self.size(path)
        var fields = HTTP2Fields(count: headers.count + Self.otherFields)
        fields.add(":method") { $0.append(text: method) }
        fields.add(":scheme") { $0.append("https") }
        fields.add(":authority") { $0.append(text: authority) }
        fields.add(":path") { $0.append(text: path) }
        for header in headers {
            let value = header.value.revealed
            guard !header.name.isEmpty, header.name.utf8.allSatisfy(ASCII.isToken), Self.isFieldValue(value)
            else { throw .malformed }
            size += Self.size(header.name) + Self.size(value)
            fields.add(name: header.name, isUnindexed: isUnindexed(header.name)) { $0.append(text: value) }
        }
        guard size <= Limits.HTTP.requestHeadBytes else { throw .malformed }
        if !body.isEmpty || method == "POST" {
            fields.add("content-length") { $0.append(decimal: body.count) }
        }
        return fields
    }

    /// Fields that are not in `headers`.
    private static let otherFields = 5

    /// Whether a header is left out of the compression table: a credential must not enter it, and a value that is never repeated
    /// need not.
    private func isUnindexed(_ name: String) -> Bool {
        let authorization = "authorization"
        return singularHeaders.contains(name)
            || name.utf8.count == authorization.utf8.count && name.lowercased() == authorization
    }

    /// The size of a name or value as RFC 9113 counts half a field (10.5.1).
    private static func size(_ text: String) -> Int { text.utf8.count + 32 }

    private static func isFieldValue(_ text: String) -> Bool {
        let bytes = text.utf8.span
        for at in bytes.indices where !ASCII.isFieldValue(bytes[at]) { return false }
        return true
    }
}
