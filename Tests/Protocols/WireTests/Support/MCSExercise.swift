import Basics
public import Wire

extension MCS {
    /// Reads bytes as one direction of a device connection, for the fuzz program and the hostile files.
    ///
    /// Returns the messages before the end or the first error. Traps if an encoded message is not decoded as the same
    /// message, or if the result depends on the split of the bytes.
    @discardableResult
    public static func exercise(_ bytes: RawSpan, pieces: Int = 7) -> (messages: [Message], error: MCSError?)
    {
        let whole = read(bytes, pieces: bytes.byteCount)
        let cut = read(bytes, pieces: max(1, pieces))
        precondition(whole.messages == cut.messages, "the split changed the messages")
        precondition(whole.error == cut.error, "the split changed the error")
        for message in whole.messages {
            var written = ByteBuffer()
            written.append(byte: version)
            message.append(to: &written)
            let again = read(written.bytes, pieces: written.count, limit: .max >> 8)
            precondition(again.messages == [message] && again.error == nil, "encoding changed a message")
        }
        return whole
    }

    private static func read(
        _ bytes: RawSpan, pieces: Int, limit: Int = Limits.MCS.frameBytes
    ) -> (messages: [Message], error: MCSError?) {
        var reader = FrameReader(limit: limit, loginLimit: Limits.MCS.loginFrameBytes)
        var messages: [Message] = []
        var offset = 0
        do throws(MCSError) {
            while offset < bytes.byteCount {
                let end = min(bytes.byteCount, offset + max(1, pieces))
                try reader.read(bytes.extracting(offset..<end)) { (tag, message) throws(MCSError) in
                    if let message = try Message(tag: tag, decoding: message) { messages.append(message) }
                    return true
                }
                offset = end
            }
        } catch {
            return (messages, error)
        }
        return (messages, nil)
    }
}
