import Basics

/// The message that an app server of the bench sends to one device again and again: only its id and its time change.
struct Stanza {
    /// What marks the time of sending within a payload: 16 hexadecimal digits follow.
    static let timeMark: [UInt8] = Array("~~".utf8)
    /// What marks the number within a message id: 10 decimal digits follow.
    static let numberMark: [UInt8] = Array("m#".utf8)
    /// Digits of a time.
    static let timeDigits = 16
    /// Digits of a number.
    static let numberDigits = 10

    private var bytes: [UInt8]
    private let numberAt: Int
    private let timeAt: Int

    /// A stanza of `size` octets at least as long as its parts; `lifetimeSeconds` 0 is now or never.
    init(token: String, size: Int, lifetimeSeconds: Int) {
        let head =
            "<message id=\"\"><gcm xmlns=\"google:mobile:data\">{\"to\":\"\(token)\",\"message_id\":\"m#"
        let middle = "\",\"data\":{\"n\":\"~~"
        let tail = "\"},\"time_to_live\":\(lifetimeSeconds)}</gcm></message>"
        let fixed =
            head.utf8.count + Self.numberDigits + middle.utf8.count + Self.timeDigits + tail.utf8.count
        let filler = String(repeating: "x", count: max(0, size - fixed))
        bytes = Array(head.utf8) + [UInt8](repeating: 0x30, count: Self.numberDigits) + Array(middle.utf8)
        numberAt = head.utf8.count
        timeAt = bytes.count
        bytes += [UInt8](repeating: 0x30, count: Self.timeDigits) + Array((filler + tail).utf8)
    }

    /// Octets of the stanza.
    var count: Int { bytes.count }

    /// Appends the stanza with a number and a time as one record.
    @inline(__always)
    func append(number: Int, time: Int64, to outbox: inout Outbox) {
        let start = outbox.bytes.count
        outbox.bytes.append(bytes)
        Digits.put(number, at: start + numberAt, into: &outbox.bytes)
        Digits.putTime(time, at: start + timeAt, into: &outbox.bytes)
        outbox.endRecord()
    }
}

/// Numbers at fixed places, of fixed length.
enum Digits {
    /// Overwrites ten digits.
    static func put(_ number: Int, at start: Int, into buffer: inout ByteBuffer) {
        var rest = number
        for at in (0..<Stanza.numberDigits).reversed() {
            buffer.set(UInt8(0x30 + rest % 10), at: start + at)
            rest /= 10
        }
    }

    /// Overwrites sixteen digits.
    static func putTime(_ time: Int64, at start: Int, into buffer: inout ByteBuffer) {
        for at in 0..<Stanza.timeDigits {
            let digit = UInt8((UInt64(bitPattern: time) >> UInt64(60 - 4 * at)) & 15)
            buffer.set(digit < 10 ? 0x30 + digit : 0x57 + digit, at: start + at)
        }
    }

    /// The number that begins at an offset.
    static func number(in bytes: RawSpan, at start: Int) -> Int {
        var value = 0
        for at in 0..<Stanza.numberDigits { value = value * 10 + Int(bytes.byte(at: start + at) & 15) }
        return value
    }

    /// The time that begins at an offset.
    static func time(in bytes: RawSpan, at start: Int) -> Int64 {
        var value: UInt64 = 0
        for at in 0..<Stanza.timeDigits {
            let byte = bytes.byte(at: start + at)
            value = value << 4 | UInt64(byte < 0x40 ? byte & 15 : byte &- 0x57)
        }
        return Int64(bitPattern: value)
    }
}

/// Finds marks and the digits behind them in a stream that may be cut anywhere.
struct MarkScanner {
    private let mark: (UInt8, UInt8)
    private let digits: Int
    private var carry: [UInt8] = []

    /// Looks for a mark of two octets with so many digits behind it.
    init(mark: [UInt8], digits: Int) {
        self.mark = (mark[0], mark[1])
        self.digits = digits
    }

    /// Calls `found` with a span and the offset of the digits, for each mark in the stream so far.
    @inline(__always)
    mutating func scan(_ bytes: RawSpan, _ found: (RawSpan, Int) -> Void) {
        guard carry.isEmpty else {
            var joined = carry
            joined += [UInt8](copying: bytes)
            carry.removeAll()
            return scanWhole(joined.raw, found)
        }
        scanWhole(bytes, found)
    }

    @inline(__always)
    private mutating func scanWhole(_ bytes: RawSpan, _ found: (RawSpan, Int) -> Void) {
        var at = 0
        let count = bytes.byteCount
        while at + 1 < count {
            guard bytes.byte(at: at) == mark.0, bytes.byte(at: at + 1) == mark.1 else {
                at += 1
                continue
            }
            guard at + 2 + digits <= count else { break }
            found(bytes, at + 2)
            at += 2 + digits
        }
        // What may begin a mark stays for the next piece.
        if at < count, bytes.byte(at: at) == mark.0 { carry = [UInt8](copying: bytes.extracting(at..<count)) }
    }
}
