/// Writes HTTP/2 frames, valid or not (RFC 9113, 6).
public enum HTTP2Frames {
    /// The connection preface.
    public static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    /// A frame of any type.
    public static func frame(
        _ type: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = [], length: Int? = nil
    ) -> [UInt8] {
        let count = UInt32(length ?? payload.count)
        return [UInt8(count >> 16 & 0xFF), UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF), type, flags]
            + word(stream) + payload
    }

    /// A 32-bit number.
    public static func word(_ value: UInt32) -> [UInt8] {
        [UInt8(value >> 24), UInt8(value >> 16 & 0xFF), UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)]
    }

    /// A DATA frame.
    public static func data(_ stream: UInt32, _ body: [UInt8], ends: Bool = false) -> [UInt8] {
        frame(0, flags: ends ? 1 : 0, stream: stream, body)
    }

    /// A HEADERS frame.
    public static func headers(
        _ stream: UInt32, _ fields: [(String, String)], ends: Bool = false, isWhole: Bool = true
    ) -> [UInt8] {
        frame(1, flags: (ends ? 1 : 0) | (isWhole ? 4 : 0), stream: stream, block(fields))
    }

    /// A CONTINUATION frame.
    public static func continuation(_ stream: UInt32, _ block: [UInt8], isLast: Bool) -> [UInt8] {
        frame(9, flags: isLast ? 4 : 0, stream: stream, block)
    }

    /// An RST_STREAM frame.
    public static func reset(_ stream: UInt32, code: UInt32 = 8) -> [UInt8] {
        frame(3, stream: stream, word(code))
    }

    /// A SETTINGS frame.
    public static func settings(_ entries: [(UInt16, UInt32)] = []) -> [UInt8] {
        frame(4, entries.flatMap { [UInt8($0.0 >> 8), UInt8($0.0 & 0xFF)] + word($0.1) })
    }

    /// The acknowledgement of SETTINGS.
    public static let settingsAck = frame(4, flags: 1)
    /// A PING frame.
    public static let ping = frame(6, [1, 2, 3, 4, 5, 6, 7, 8])

    /// A WINDOW_UPDATE frame.
    public static func windowUpdate(_ stream: UInt32, _ bytes: UInt32) -> [UInt8] {
        frame(8, stream: stream, word(bytes))
    }

    /// The usual start of a client.
    public static let hello = preface + settings() + settingsAck

    /// Fields in HPACK, each as a literal without indexing.
    public static func block(_ fields: [(String, String)]) -> [UInt8] {
        fields.flatMap { name, value in [0x00] + text(name) + text(value) }
    }

    /// A string in HPACK without Huffman coding (RFC 7541, 5.2).
    public static func text(_ text: String) -> [UInt8] {
        number(text.utf8.count, prefix: 7, bits: 0) + Array(text.utf8)
    }

    /// A number in HPACK (RFC 7541, 5.1).
    public static func number(_ value: Int, prefix: Int, bits: UInt8) -> [UInt8] {
        let most = 1 << prefix - 1
        guard value >= most else { return [bits | UInt8(value)] }
        var bytes = [bits | UInt8(most)]
        var rest = value - most
        while rest >= 128 {
            bytes.append(UInt8(rest & 127 | 128))
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }

    /// The fields of a request.
    public static func request(
        _ method: String, _ path: String, _ more: [(String, String)] = []
    ) -> [(String, String)] {
        [
            (":method", method), (":scheme", "https"), (":authority", "fcm.googleapis.com"), (":path", path),
        ] + more
    }
}
