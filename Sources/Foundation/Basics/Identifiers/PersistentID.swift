/// The ID of a stored message for devices and, over HTTP, app servers (mcs-device 3.2).
///
/// Text form `0:<microseconds>%<8 hex digits>f9fd7ecd`, at most 39 characters: below the 50 that the most limited client
/// accepts, without `|` and newline.
public struct PersistentID: Hashable, Sendable {
    /// Position in the device's mailbox.
    public var sequence: SequenceNumber
    /// Drawn anew by each process, so that IDs stay unique after the clock is set back.
    public var salt: UInt32

    public init(sequence: SequenceNumber, salt: UInt32) {
        self.sequence = sequence
        self.salt = salt
    }

    private static let tail: StaticString = "f9fd7ecd"

    /// Parses the text form. Returns `nil` if this server did not make it.
    public init?(text: borrowing RawSpan) {
        var cursor = 2
        var sequence: UInt64 = 0
        let count = text.byteCount
        guard count >= 20, count <= 39, text.byte(at: 0) == 0x30, text.byte(at: 1) == 0x3A else { return nil }
        while cursor < count, text.byte(at: cursor) != 0x25 {
            let digit = text.byte(at: cursor) &- 0x30
            guard digit < 10 else { return nil }
            let (product, over) = sequence.multipliedReportingOverflow(by: 10)
            let (sum, past) = product.addingReportingOverflow(UInt64(digit))
            guard !over, !past else { return nil }
            sequence = sum
            cursor += 1
        }
        guard cursor > 2, count - cursor == 17 else { return nil }
        var salt: UInt32 = 0
        for at in cursor + 1...cursor + 8 {
            guard let digit = Hex.value(of: text.byte(at: at)) else { return nil }
            salt = salt << 4 | UInt32(digit)
        }
        for at in 0..<8 where text.byte(at: cursor + 9 + at) != Self.tail.byte(at: at) { return nil }
        self.init(sequence: SequenceNumber(sequence), salt: salt)
    }

    /// Appends the text form.
    public func append(to buffer: inout ByteBuffer) {
        buffer.append("0:")
        buffer.append(decimal: sequence.number)
        buffer.append("%")
        Hex.append(salt, to: &buffer)
        buffer.append(Self.tail)
    }

    public var text: String {
        var buffer = ByteBuffer()
        append(to: &buffer)
        return String(decoding: buffer.copied(), as: UTF8.self)
    }
}
