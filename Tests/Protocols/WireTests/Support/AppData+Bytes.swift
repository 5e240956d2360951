import Basics
public import Wire

extension AppData {
    /// Returns the bytes of all keys and values, as `Limits.Message.payloadBytes` counts. Throws if the body is malformed.
    public static func payloadBytes(of body: RawSpan) throws(MCSError) -> Int {
        var count = 0
        try forEach(in: body) { key, value in count += key.byteCount + value.byteCount }
        return count
    }
}
