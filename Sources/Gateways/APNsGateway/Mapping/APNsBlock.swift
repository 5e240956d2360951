import Basics
import Wire

/// What a message holds for APNs alone: the object in `MessageFields.apns`.
struct APNsBlock {
    /// What the server added to the app server's object: the member `common`.
    struct Common {
        /// Whether the message came by HTTP v1, which has defaults of its own.
        var isV1 = false
        /// The notification for iOS in place of that in the body, which is Android's. `nil` for that in the body.
        var notification: [JSONValue.Member]?
        /// The data for iOS in place of that in the body. `nil` for that in the body.
        var data: [JSONValue.Member]?
    }

    var headers: [JSONValue.Member] = []
    /// The members of `payload`, but for `aps`.
    var custom: [JSONValue.Member] = []
    /// The members of `payload.aps`.
    var aps: [JSONValue.Member] = []
    /// `fcm_options.image`.
    var image: String?
    /// `fcm_options.analytics_label`, or that of the message.
    var label: String?
    /// `live_activity_token`; empty if there is none.
    var liveActivityToken = ""
    var common = Common()

    /// Reads an object; no bytes stand for an empty one.
    init(_ text: [UInt8]) throws(APNsRefusal) {
        guard !text.isEmpty else { return }
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: text.raw)
        } catch {
            // The sessions make the object, so only damage in the store leads here.
            throw APNsRefusal(.internalFault)
        }
        headers = value["headers"]?.members ?? []
        for member in value["payload"]?.members ?? [] {
            if member.key == "aps" {
                aps = member.value.members ?? []
            } else {
                custom.append(member)
            }
        }
        image = value["fcm_options"]?["image"]?.text
        liveActivityToken = value["live_activity_token"]?.text ?? ""
        let added = value["common"]
        common.isV1 = added?["v1"]?.boolean ?? false
        common.notification = added?["notification"]?.members
        common.data = added?["data"]?.members
        label = value["fcm_options"]?["analytics_label"]?.text ?? added?["label"]?.text
        if label?.isEmpty == true { label = nil }
        if image?.isEmpty == true { image = nil }
    }
}
