import Basics

/// A message that is sent repeatedly with a new number and time.
struct Template {
    /// Marks the time of sending within a payload: 16 hexadecimal digits follow.
    static let timeMark: [UInt8] = Array("~~".utf8)
    /// Marks the number within a message ID: 10 decimal digits follow.
    static let numberMark: [UInt8] = Array("m#".utf8)
    static let timeDigits = 16
    static let numberDigits = 10

    /// The position and format of a message number.
    enum Number {
        /// No number, since acknowledgements come in order.
        case none
        /// Ten decimal digits at an offset.
        case digits(Int)
        /// Two bytes at an offset: an identifier.
        case identifier(Int)
    }

    let bytes: [UInt8]
    let number: Number
    let timeAt: Int

    /// Returns a CCS stanza of `size` bytes, or of its minimum size; with `lifetimeSeconds` 0 it is sent now or never.
    static func stanza(token: String, size: Int, lifetimeSeconds: Int) -> Template {
        let (head, middle, end) = stanzaParts(token, lifetimeSeconds)
        return Template(
            head: head, hasNumber: true, middle: middle, tail: filler(token, size, lifetimeSeconds) + end)
    }

    /// Returns a CCS stanza of that size to a topic, with the lifetime of the bench.
    static func stanza(topic: String, size: Int) -> Template {
        stanza(token: "/topics/\(topic)", size: size, lifetimeSeconds: Bench.lifetime)
    }

    /// Returns a CCS stanza of that size whose text is shown by iOS.
    static func notification(token: String, size: Int, lifetimeSeconds: Int) -> Template {
        let head =
            "<message id=\"\"><gcm xmlns=\"google:mobile:data\">{\"to\":\"\(token)\",\"message_id\":\"m#"
        let middle = "\",\"notification\":{\"body\":\"~~"
        let end = "\"},\"time_to_live\":\(lifetimeSeconds)}</gcm></message>"
        let fixed = head.utf8.count + numberDigits + middle.utf8.count + timeDigits + end.utf8.count
        return Template(
            head: head, hasNumber: true, middle: middle,
            tail: String(repeating: "x", count: max(0, size - fixed)) + end)
    }

    private static func stanzaParts(_ token: String, _ lifetime: Int) -> (String, String, String) {
        (
            "<message id=\"\"><gcm xmlns=\"google:mobile:data\">{\"to\":\"\(token)\",\"message_id\":\"m#",
            "\",\"data\":{\"n\":\"~~", "\"},\"time_to_live\":\(lifetime)}</gcm></message>"
        )
    }

    /// Returns the filler for the size of a stanza: messages of all protocols carry the same data.
    private static func filler(_ token: String, _ size: Int, _ lifetime: Int) -> String {
        let parts = stanzaParts(token, lifetime)
        let fixed =
            parts.0.utf8.count + numberDigits + parts.1.utf8.count + timeDigits + parts.2.utf8.count
        return String(repeating: "x", count: max(0, size - fixed))
    }

    /// Returns a request of the legacy interface with the data of the stanza of that size (http 2.1).
    static func legacy(token: String, size: Int, lifetimeSeconds: Int, key: String) -> Template {
        request(
            "/fcm/send", authorization: "key=\(key)", "{\"to\":\"\(token)\",\"data\":{\"n\":\"~~",
            filler(token, size, lifetimeSeconds) + "\"},\"time_to_live\":\(lifetimeSeconds)}")
    }

    /// Returns a request of HTTP v1 with the data of the stanza of that size (http 8).
    static func v1(
        token: String, size: Int, lifetimeSeconds: Int, project: String, bearer: String
    ) -> Template {
        request(
            "/v1/projects/\(project)/messages:send", authorization: "Bearer \(bearer)",
            "{\"message\":{\"token\":\"\(token)\",\"data\":{\"n\":\"~~",
            filler(token, size, lifetimeSeconds) + "\"},\"android\":{\"ttl\":\"\(lifetimeSeconds)s\"}}}")
    }

    private static func request(
        _ path: String, authorization: String, _ begin: String, _ end: String
    ) -> Template {
        let length = begin.utf8.count + timeDigits + end.utf8.count
        let head =
            "POST \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            + "Authorization: \(authorization)\r\nContent-Length: \(length)\r\n\r\n"
        return Template(head: head, hasNumber: false, middle: begin, tail: end)
    }

    /// Appends the message with a number and a time; as one record, unless more is to be added to it.
    @inline(__always)
    func append(number: Int, time: Int64, to outbox: inout Outbox, endsRecord: Bool = true) {
        let start = outbox.bytes.count
        outbox.bytes.append(bytes)
        switch self.number {
        case .none: break
        case .digits(let at): Digits.put(number, at: start + at, into: &outbox.bytes)
        case .identifier(let at):
            let identifier = Self.identifier(of: number)
            outbox.bytes.set(UInt8(identifier >> 8), at: start + at)
            outbox.bytes.set(UInt8(truncatingIfNeeded: identifier), at: start + at + 1)
        }
        Digits.putTime(time, at: start + timeAt, into: &outbox.bytes)
        if endsRecord { outbox.endRecord() }
    }

    /// Returns two bytes with the lower bits of a message number that are never 0, as MQTT wants them (3.1.1, 2.3.1).
    static func identifier(of number: Int) -> UInt16 { UInt16(number & 0x7FFF) + 1 }
}

extension Template {
    /// Creates a message of these parts; `middle` precedes the time, `head` the number, if any.
    init(head: String, hasNumber: Bool, middle: String, tail: String) {
        var bytes = Array(head.utf8)
        let number = hasNumber ? Number.digits(bytes.count) : .none
        if hasNumber { bytes += [UInt8](repeating: 0x30, count: Self.numberDigits) }
        bytes += Array(middle.utf8)
        let timeAt = bytes.count
        bytes += [UInt8](repeating: 0x30, count: Self.timeDigits) + Array(tail.utf8)
        self.init(bytes: bytes, number: number, timeAt: timeAt)
    }
}

/// Reads and writes numbers at fixed offsets, of fixed length.
enum Digits {
    /// Overwrites ten digits.
    static func put(_ number: Int, at start: Int, into buffer: inout ByteBuffer) {
        var rest = number
        for at in (0..<Template.numberDigits).reversed() {
            buffer.set(UInt8(0x30 + rest % 10), at: start + at)
            rest /= 10
        }
    }

    /// Overwrites sixteen digits.
    static func putTime(_ time: Int64, at start: Int, into buffer: inout ByteBuffer) {
        for at in 0..<Template.timeDigits {
            let digit = UInt8((UInt64(bitPattern: time) >> UInt64(60 - 4 * at)) & 15)
            buffer.set(digit < 10 ? 0x30 + digit : 0x57 + digit, at: start + at)
        }
    }

    /// Reads the number at an offset.
    static func number(in bytes: RawSpan, at start: Int) -> Int {
        var value = 0
        for at in 0..<Template.numberDigits { value = value * 10 + Int(bytes.byte(at: start + at) & 15) }
        return value
    }

    /// Reads the time at an offset.
    static func time(in bytes: RawSpan, at start: Int) -> Int64 {
        var value: UInt64 = 0
        for at in 0..<Template.timeDigits {
            let byte = bytes.byte(at: start + at)
            value = value << 4 | UInt64(byte < 0x40 ? byte & 15 : byte &- 0x57)
        }
        return Int64(bitPattern: value)
    }
}
