import Basics

/// The part of the NATS text protocol that the bench needs, as a client.
enum NATS {
    /// Kinds of server messages that the bench distinguishes.
    enum Word {
        /// The payload of a message.
        case message
        case ping
        case pong
        /// A refusal, with its text.
        case error
        /// Server information, or an OK.
        case other
    }

    /// Logs in, without a response to each message.
    static let connect = Array(
        #"CONNECT {"verbose":false,"pedantic":false,"tls_required":true,"name":"ccs-bench"}\#r\#n"#.utf8)
    /// Requests a PONG, which confirms everything before it.
    static let ping = Array("PING\r\n".utf8)
    static let pong = Array("PONG\r\n".utf8)

    /// Returns the subscription to a subject.
    static func subscribe(subject: String) -> [UInt8] { Array("SUB \(subject) 1\r\n".utf8) }

    /// Returns a message up to its payload.
    static func publishHead(subject: String, payload: Int) -> String { "PUB \(subject) \(payload)\r\n" }
}

/// Splits the stream of a NATS server into its messages.
struct NATSReader {
    /// Largest size of a line in bytes; a server sends none longer.
    private static let longestLine = 65_536
    /// The incomplete message so far.
    private var carry: [UInt8] = []

    /// Consumes the next bytes, split anywhere; calls `found` with each kind and the payload of a message, or the line. Returns
    /// false if it is not NATS.
    mutating func consume(_ bytes: RawSpan, _ found: (NATS.Word, RawSpan) -> Void) -> Bool {
        guard carry.isEmpty else {
            let joined = carry + [UInt8](copying: bytes)
            carry.removeAll()
            return consumeWhole(joined.raw, found)
        }
        return consumeWhole(bytes, found)
    }

    private mutating func consumeWhole(_ bytes: RawSpan, _ found: (NATS.Word, RawSpan) -> Void) -> Bool {
        var at = 0
        let count = bytes.byteCount
        while at < count {
            var end = at
            while end < count, bytes.byte(at: end) != UInt8(ascii: "\n") { end += 1 }
            guard end < count else {
                guard count - at <= Self.longestLine else { return false }
                break
            }
            guard let word = Self.word(bytes, at, end) else { return false }
            guard word == .message else {
                found(word, bytes.extracting(at..<end - 1))
                at = end + 1
                continue
            }
            let payload = end + 1
            // A line end follows the payload.
            let next = payload + Self.length(bytes, at, end) + 2
            guard next <= count else { break }
            found(.message, bytes.extracting(payload..<next - 2))
            at = next
        }
        if at < count { carry = [UInt8](copying: bytes.extracting(at..<count)) }
        return true
    }

    /// Returns the kind of a line, or `nil` if it is not a line of a server.
    private static func word(_ bytes: RawSpan, _ at: Int, _ end: Int) -> NATS.Word? {
        guard end - at >= 3 else { return nil }
        return switch (bytes.byte(at: at), bytes.byte(at: at + 1)) {
        case (UInt8(ascii: "M"), UInt8(ascii: "S")): .message
        case (UInt8(ascii: "P"), UInt8(ascii: "I")): .ping
        case (UInt8(ascii: "P"), UInt8(ascii: "O")): .pong
        case (UInt8(ascii: "-"), UInt8(ascii: "E")): .error
        case (UInt8(ascii: "+"), UInt8(ascii: "O")), (UInt8(ascii: "I"), UInt8(ascii: "N")): .other
        default: nil
        }
    }

    /// Returns the number at the end of a line: the size of the payload.
    private static func length(_ bytes: RawSpan, _ begin: Int, _ end: Int) -> Int {
        var at = end - 1
        // A carriage return precedes the end.
        while at > begin, bytes.byte(at: at - 1) != UInt8(ascii: " ") { at -= 1 }
        var length = 0
        while at < end, case let digit = bytes.byte(at: at) &- 0x30, digit < 10, length < 1 << 32 {
            length = length * 10 + Int(digit)
            at += 1
        }
        return length
    }
}
