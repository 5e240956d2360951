import Basics
public import Wire

extension MCS {
    /// What the fuzz program and the hostile files drive: reads bytes as one direction of a device link.
    ///
    /// Returns the messages before the end or the first error. Traps where reading is not stable: what a message is
    /// written as must read as the same message, and the reader must not depend on how the bytes are cut.
    @discardableResult
    public static func exercise(_ bytes: RawSpan, pieces: Int = 7) -> (messages: [Message], error: MCSError?)
    {
        let whole = read(bytes, pieces: bytes.byteCount)
        let cut = read(bytes, pieces: max(1, pieces))
        precondition(whole.messages == cut.messages, "a cut changed what is read")
        precondition(whole.error == cut.error, "a cut changed the error")
        for message in whole.messages {
            var written = ByteBuffer()
            written.append(byte: version)
            message.append(to: &written)
            let again = read(written.bytes, pieces: written.count, limit: .max >> 8)
            precondition(again.messages == [message] && again.error == nil, "a message changed by writing it")
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
