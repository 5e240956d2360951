public import Basics
public import Delivery

/// Encodes and decodes what APNs has reported: the state of device tokens, and the feedback list.
public enum APNsRecord {
    /// Lower ones were written before the first release, and are refused.
    private static let version: UInt8 = 3

    /// Replaces the content of a buffer with the record of an entry of the feedback list. Sender, time and registration are the key.
    public static func write(_ feedback: APNsFeedback, to buffer: inout ByteBuffer) {
        var writer = RecordWriter(
            buffer, version: version, place: place(feedback.registration))
        writer.bytes(feedback.bundle)
        writer.bytes(feedback.apnsToken)
        write(feedback.verdict, to: &writer)
        writer.bytes(feedback.tokenPrefix?.bytes ?? [])
        buffer = writer.finish()
    }

    /// Returns the entry in a record. Throws `RecordFault` if it cannot be read.
    public static func feedback(
        _ bytes: borrowing RawSpan, sender: SenderID, seenAt: UnixMilliseconds, _ name: RegistrationName
    ) throws(RecordFault) -> APNsFeedback {
        var reader = try RecordReader(copy bytes, version: version, place: place(name))
        var feedback = APNsFeedback(
            sender: sender, seenAt: seenAt, registration: name, bundle: try reader.byteArray(),
            apnsToken: try reader.byteArray(), verdict: try verdict(&reader))
        let id = try reader.byteArray()
        feedback.tokenPrefix = TokenPrefix(id)
        guard id.isEmpty || feedback.tokenPrefix != nil else { throw .value }
        try reader.finish()
        return feedback
    }

    static func write(_ state: APNsTokenState, to writer: inout RecordWriter) {
        write(state.confirmedAt, to: &writer)
        write(state.unknownSince, to: &writer)
        write(state.mismatchedSince, to: &writer)
        writer.byte(state.end == nil ? 0 : 1)
        guard let end = state.end else { return }
        writer.signed(end.seenAt)
        write(end.verdict, to: &writer)
    }

    static func state(_ reader: inout RecordReader) throws(RecordFault) -> APNsTokenState {
        var state = APNsTokenState()
        state.confirmedAt = try time(&reader)
        state.unknownSince = try time(&reader)
        state.mismatchedSince = try time(&reader)
        if try isPresent(&reader) {
            let seenAt = try reader.signed()
            state.end = APNsTokenState.End(verdict: try verdict(&reader), seenAt: seenAt)
        }
        return state
    }

    private static func write(_ verdict: APNsVerdict, to writer: inout RecordWriter) {
        writer.number(UInt64(max(0, verdict.status)))
        writer.bytes(Array(verdict.reason.utf8))
        write(verdict.invalidSince, to: &writer)
    }

    private static func verdict(_ reader: inout RecordReader) throws(RecordFault) -> APNsVerdict {
        APNsVerdict(
            status: try reader.count(), reason: try reader.text(), invalidSince: try time(&reader))
    }

    private static func write(_ time: UnixMilliseconds?, to writer: inout RecordWriter) {
        writer.byte(time == nil ? 0 : 1)
        if let time { writer.signed(time) }
    }

    private static func time(_ reader: inout RecordReader) throws(RecordFault) -> UnixMilliseconds? {
        try isPresent(&reader) ? try reader.signed() : nil
    }

    private static func isPresent(_ reader: inout RecordReader) throws(RecordFault) -> Bool {
        switch try reader.byte() {
        case 0: false
        case 1: true
        default: throw .value
        }
    }

    private static func place(_ name: RegistrationName) -> RecordIdentity {
        RecordIdentity(.feedback, name.device.number, name.number.number)
    }
}
