import Basics

/// What the bench needs of the text protocol of NATS, as a client.
enum NATS {
    /// What a server says that matters.
    enum Word {
        /// The payload of a message.
        case message
        case ping
        case pong
        /// It refuses something, in its own words.
        case error
        /// About itself, or that it agrees.
        case other
    }

    /// Logs in, without an answer to each message.
    static let connect = Array(
        #"CONNECT {"verbose":false,"pedantic":false,"tls_required":true,"name":"ccs-bench"}\#r\#n"#.utf8)
    /// Asks whether all before it was taken.
    static let ping = Array("PING\r\n".utf8)
    static let pong = Array("PONG\r\n".utf8)

    /// Subscribes to one subject.
    static func subscribe(subject: String) -> [UInt8] { Array("SUB \(subject) 1\r\n".utf8) }

    /// All of a message before its payload.
    static func publishHead(subject: String, payload: Int) -> String { "PUB \(subject) \(payload)\r\n" }
}

/// Cuts a stream into what a server of NATS says.
struct NATSReader {
    /// Bytes of a line; longer is none of theirs.
    private static let longestLine = 65_536
    /// What has come of something that is not whole.
    private var carry: [UInt8] = []

    /// Takes the next bytes, cut anywhere; tells of each word with the payload of a message, or the line. False: no NATS.
    mutating func take(_ bytes: RawSpan, _ found: (NATS.Word, RawSpan) -> Void) -> Bool {
        guard carry.isEmpty else {
            let joined = carry + [UInt8](copying: bytes)
            carry.removeAll()
            return takeWhole(joined.raw, found)
        }
        return takeWhole(bytes, found)
    }

    private mutating func takeWhole(_ bytes: RawSpan, _ found: (NATS.Word, RawSpan) -> Void) -> Bool {
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
            // Behind the payload the line ends once more.
            let next = payload + Self.length(bytes, at, end) + 2
            guard next <= count else { break }
            found(.message, bytes.extracting(payload..<next - 2))
            at = next
        }
        if at < count { carry = [UInt8](copying: bytes.extracting(at..<count)) }
        return true
    }

    /// What a line begins with; nil: nothing that a server says.
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

    /// The number at the end of a line: bytes of the payload.
    private static func length(_ bytes: RawSpan, _ begin: Int, _ end: Int) -> Int {
        var at = end - 1
        // Before it stands a carriage return.
        while at > begin, bytes.byte(at: at - 1) != UInt8(ascii: " ") { at -= 1 }
        var length = 0
        while at < end, case let digit = bytes.byte(at: at) &- 0x30, digit < 10, length < 1 << 32 {
            length = length * 10 + Int(digit)
            at += 1
        }
        return length
    }
}
