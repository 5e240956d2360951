public import Basics

/// The encoded key-value pairs of a message: the `app_data` fields of a data message in sequence, as a stored body holds them.
///
/// Each is the byte 0x3A, a varint length, 0x0A with the key and 0x12 with the value (mcs-device 2.1).
public enum AppData {
    private static let fieldNumber = 7

    /// Appends one pair to a body.
    @inline(__always)
    public static func append(
        key: borrowing RawSpan, value: borrowing RawSpan, to body: inout ByteBuffer
    ) {
        body.appendFieldHead(
            fieldNumber, length: contentSize(key: key.byteCount, value: value.byteCount))
        body.appendField(1, bytes: key)
        body.appendField(2, bytes: value)
    }

    /// Appends one pair whose key is a literal.
    @inline(__always)
    public static func append(
        key: StaticString, value: borrowing RawSpan, to body: inout ByteBuffer
    ) {
        body.appendFieldHead(
            fieldNumber, length: contentSize(key: key.utf8CodeUnitCount, value: value.byteCount))
        body.appendField(1, text: key)
        body.appendField(2, bytes: value)
    }

    /// Appends one pair of literals.
    public static func append(key: StaticString, text value: StaticString, to body: inout ByteBuffer) {
        body.appendFieldHead(
            fieldNumber, length: contentSize(key: key.utf8CodeUnitCount, value: value.utf8CodeUnitCount))
        body.appendField(1, text: key)
        body.appendField(2, text: value)
    }

    /// Appends a body without the pairs of one key; a malformed body is appended unchanged.
    public static func append(_ pairs: RawSpan, leavingOut key: StaticString, to body: inout ByteBuffer) {
        let before = body.count
        var fields = ProtobufReader(pairs)
        var start = 0
        do throws(MCSError) {
            while let field = try fields.next() {
                var isLeftOut = false
                if field.number == fieldNumber {
                    let entry = try fields.bytes(field)
                    isLeftOut = entry.extracting(try parts(of: entry).key).equals(key)
                } else {
                    try fields.skip(field)
                }
                if !isLeftOut { body.append(pairs.extracting(start..<fields.position)) }
                start = fields.position
            }
        } catch {
            // Sessions validate what app servers send, so only a damaged store can cause this.
            body.truncate(to: before)
            body.append(pairs)
        }
    }

    /// Calls `visit` for each pair in order. Throws if the body is malformed.
    ///
    /// The spans are borrowed from the body and valid only during the call.
    public static func forEach(
        in body: RawSpan, _ visit: (_ key: RawSpan, _ value: RawSpan) -> Void
    ) throws(MCSError) {
        var fields = ProtobufReader(body)
        while let field = try fields.next() {
            guard field.number == fieldNumber else {
                try fields.skip(field)
                continue
            }
            let entry = try fields.bytes(field)
            let parts = try parts(of: entry)
            visit(entry.extracting(parts.key), entry.extracting(parts.value))
        }
    }

    /// Appends the pairs of a body as a JSON object whose values are strings.
    ///
    /// Of a malformed body, only the pairs before the error are appended.
    public static func append(
        jsonOf body: RawSpan, in context: JSONWriter.Context, to buffer: inout ByteBuffer
    ) {
        buffer.append("{")
        let start = buffer.count
        do throws(MCSError) {
            try forEach(in: body) { key, value in
                if buffer.count > start { buffer.append(",") }
                JSONWriter.append(string: key, in: context, to: &buffer)
                buffer.append(":")
                JSONWriter.append(string: value, in: context, to: &buffer)
            }
        } catch {
            // The session has checked the frame that the body comes from, so only damage in the store leads here.
        }
        buffer.append("}")
    }

    /// Returns the ranges of key and value in the content of one `app_data` field. Throws if one is missing.
    static func parts(of entry: RawSpan) throws(MCSError) -> (key: Range<Int>, value: Range<Int>) {
        var fields = ProtobufReader(entry)
        var key: Range<Int>?
        var value: Range<Int>?
        while let field = try fields.next() {
            switch field.number {
            case 1: key = try fields.range(field)
            case 2: value = try fields.range(field)
            default: try fields.skip(field)
            }
        }
        guard let key else { throw .missingField(1) }
        guard let value else { throw .missingField(2) }
        return (key, value)
    }

    @inline(__always)
    private static func contentSize(key: Int, value: Int) -> Int {
        2 &+ Varint.size(UInt64(key)) &+ key &+ Varint.size(UInt64(value)) &+ value
    }
}
