import Basics
import Wire

/// The pairs of a message: its notification, with keys of legacy HTTP, and its data.
struct APNsContent {
    typealias Pair = (key: String, value: String)

    private static let prefix: StaticString = "gcm.notification."

    /// The notification; empty for a data message.
    var notification: [Pair] = []
    /// The data, with values as text.
    var data: [Pair] = []

    /// The URL of the notification's image.
    var image: String? { notification.last { $0.key == "image" && !$0.value.isEmpty }?.value }
    /// The key under which Android replaces notifications.
    var tag: String? { notification.last { $0.key == "tag" }?.value }

    /// Reads a body in the encoding of `app_data`. Throws `APNsRefusal` if data has the key `aps`, which is the payload's own.
    init(_ body: [UInt8], replacedBy common: APNsBlock.Common) throws(APNsRefusal) {
        var fields: [Pair] = []
        var pairs: [Pair] = []
        do throws(MCSError) {
            try AppData.forEach(in: body.raw) { key, value in
                let end = min(Self.prefix.utf8CodeUnitCount, key.byteCount)
                if key.extracting(0..<end).equals(Self.prefix) {
                    let name = key.extracting(end..<key.byteCount)
                    fields.append((Self.text(name), Self.text(value)))
                } else if !key.equals("gcm.n.e") {
                    pairs.append((Self.text(key), Self.text(value)))
                }
            }
        } catch {
            throw APNsRefusal(.internalFault)
        }
        notification = fields
        data = pairs
        if let given = common.notification { notification = Self.pairs(given) }
        if let given = common.data { data = Self.pairs(given) }
        guard !data.contains(where: { $0.key == "aps" }) else {
            throw APNsMapper.invalid("data holds the key aps")
        }
    }

    private static func text(_ bytes: RawSpan) -> String {
        String(decoding: [UInt8](copying: bytes), as: UTF8.self)
    }

    private static func pairs(_ members: [JSONValue.Member]) -> [Pair] {
        members.map { ($0.key, $0.value.text ?? $0.value.compact) }
    }
}
