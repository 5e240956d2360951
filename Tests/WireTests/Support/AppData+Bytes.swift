import Basics
public import Wire

extension AppData {
    /// The bytes of all keys and values of a body: what `Limits.Message.payloadBytes` counts; throws where the body is none.
    public static func payloadBytes(of body: RawSpan) throws(MCSError) -> Int {
        var count = 0
        try forEach(in: body) { key, value in count += key.byteCount + value.byteCount }
        return count
    }
}
