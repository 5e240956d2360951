import Basics
import Wire

/// The headers of HTTP v1 `apns.headers`, which override those that the server would send (apns 3.3).
struct APNsHeaders {
    /// Headers without a meaning for the mapper.
    private(set) var others: [(name: String, value: [UInt8])] = []
    private var known: [String: String] = [:]

    private static let mapped: Set<String> = [
        "apns-push-type", "apns-topic", "apns-priority", "apns-expiration", "apns-collapse-id", "apns-id",
    ]

    /// Reads the headers that start with `apns-`; others do not concern Apple. The last of equal names counts.
    ///
    /// Throws `APNsRefusal` if a header is not printable ASCII, which HTTP/2 could not carry.
    init(_ members: [JSONValue.Member]) throws(APNsRefusal) {
        for member in members {
            let name = member.key.lowercased()
            guard name.hasPrefix("apns-"), let value = member.value.text else { continue }
            let isName = name.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ":") }
            guard isName, value.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
                throw APNsMapper.invalid("a header is not printable ASCII")
            }
            if Self.mapped.contains(name) {
                known[name] = value
            } else {
                others.removeAll { $0.name == name }
                others.append((name, Array(value.utf8)))
            }
        }
    }

    /// `apns-push-type`, or `nil`.
    var pushType: APNsPushType? {
        get throws(APNsRefusal) {
            guard let text = known["apns-push-type"] else { return nil }
            guard let type = APNsPushType(rawValue: text) else { throw APNsMapper.invalid("InvalidPushType") }
            return type
        }
    }

    /// `apns-topic`, or `nil`.
    var topic: [UInt8]? { known["apns-topic"].map { Array($0.utf8) } }

    /// `apns-priority`, or `nil`.
    var priority: Int? {
        get throws(APNsRefusal) {
            guard let text = known["apns-priority"] else { return nil }
            guard let priority = ["1": 1, "5": 5, "10": 10][text] else {
                throw APNsMapper.invalid("BadPriority")
            }
            return priority
        }
    }

    /// `apns-expiration` in seconds since 1970, or `nil`.
    var expiration: Int64? {
        get throws(APNsRefusal) {
            guard let text = known["apns-expiration"] else { return nil }
            guard let seconds = AppleExpiration.seconds(text) else {
                throw APNsMapper.invalid("BadExpirationDate")
            }
            return seconds
        }
    }

    /// `apns-collapse-id`, or `nil`.
    var collapseID: [UInt8]? {
        get throws(APNsRefusal) {
            guard let text = known["apns-collapse-id"], !text.isEmpty else { return nil }
            guard text.utf8.count <= Limits.APNs.collapseIDBytes else {
                throw APNsMapper.invalid("BadCollapseId")
            }
            return Array(text.utf8)
        }
    }

    /// `apns-id` in lower case, or `nil`.
    var id: String? {
        get throws(APNsRefusal) {
            guard let text = known["apns-id"]?.lowercased() else { return nil }
            let groups = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
            guard groups.map(\.count) == [8, 4, 4, 4, 12],
                groups.allSatisfy({ $0.allSatisfy { Hex.value(of: $0) != nil } })
            else { throw APNsMapper.invalid("BadMessageId") }
            return text
        }
    }
}
