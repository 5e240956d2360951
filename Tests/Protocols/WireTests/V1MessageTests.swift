import Basics
import Testing

@testable import Wire

/// The message of HTTP v1: the JSON mapping of protocol buffers, and further checks (http 8.1 to 8.5).
@Suite struct V1MessageTests {
    static func read(_ members: String) throws -> V1Message {
        try V1Message(
            Array("{\"message\":{\"token\":\"t\"\(members.isEmpty ? "" : ",")\(members)}}".utf8).raw)
    }

    private static func pairs(_ pairs: [(key: [UInt8], value: [UInt8])]) -> [String] {
        pairs.map {
            String(decoding: $0.key, as: UTF8.self) + "=" + String(decoding: $0.value, as: UTF8.self)
        }
    }

    private static func shown(_ members: String) throws -> [String: String] {
        let pairs = try #require(try read(members).notification)
        #expect(Set(pairs.map { "\($0.key)" }).count == pairs.count, "each key once")
        return Dictionary(
            uniqueKeysWithValues: pairs.map { ("\($0.key)", String(decoding: $0.value, as: UTF8.self)) })
    }

    @Test("Snake and camel case are equal, null is absent, and the last of several equal names counts")
    func names() throws {
        for members in [
            #""android":{"collapse_key":"k","restricted_package_name":"p","ttl":"60s","priority":"HIGH"}"#,
            #""android":{"collapseKey":"k","restrictedPackageName":"p","ttl":"60s","priority":"high"}"#,
            #""android":{"collapseKey":"x","collapse_key":"k","restrictedPackageName":"p","ttl":"60s","priority":1},"topic":null,"android_v2":null"#,
            #""android":{"collapse\u004bey":"k","restricted_package_name":"p","ttl":"60.999s","priority":"High"},"data":null"#,
        ] {
            let message = try Self.read(members)
            #expect(message.target == .token([0x74]) && !message.isDryRun)
            #expect(message.collapseKey == [0x6B] && message.restrictedPackage == [0x70], "\(members)")
            #expect(message.lifetimeSeconds == 60 && message.priority == .high)
            #expect(message.data.isEmpty && message.notification == nil)
        }
        let plain = try Self.read("")
        #expect(plain.lifetimeSeconds == Limits.Message.lifetimeSeconds && plain.priority == nil)
        let checked = try V1Message(Array(#"{"validateOnly":true,"message":{"topic":"/topics/a"}}"#.utf8).raw)
        #expect(checked.isDryRun && checked.target == .topic([0x61]))
    }

    @Test("Android's data replaces the common data, and the last of several equal keys counts")
    func data() throws {
        #expect(
            Self.pairs(try Self.read(#""data":{"a":"1","b":"2","a":"3"}"#).data) == ["a=3", "b=2"])
        #expect(
            Self.pairs(try Self.read(#""data":{"a":"1"},"android":{"data":{"c":"\u00e4"}}"#).data)
                == ["c=ä"])
        #expect(try Self.read(#""data":{"a":"1"},"android":{"data":{}}"#).data.isEmpty)
    }

    @Test("Android's notification overrides and extends the common one, in the device's format")
    func notification() throws {
        #expect(
            try Self.shown(
                ##""notification":{"title":"t","body":"b"},"android":{"notification":{"body":"c","color":"#aaBB00","channelId":"ch"}}"##
            ) == ["title": "t", "body": "c", "color": "#aaBB00", "android_channel_id": "ch"])
        let all = try Self.shown(
            #""android":{"notification":{"body_loc_key":"k","body_loc_args":["a", "b"],"sticky":true,"local_only":false,"event_time":"2026-11-20T06:42:46.123456Z","notification_priority":"PRIORITY_MAX","visibility":"SECRET","notification_count":"7","vibrate_timings":["1s","0.25s"],"light_settings":{"color":{"red":1,"green":0.5},"light_on_duration":"3.5s","light_off_duration":"1s"},"bypassProxyNotification":true,"proxy":"deny"}}"#
        )
        #expect(
            all == [
                "body_loc_key": "k", "body_loc_args": #"["a","b"]"#, "sticky": "true", "local_only": "false",
                "event_time": "1795156966123", "notification_priority": "2", "visibility": "-1",
                "notification_count": "7", "vibrate_timings": "[1000,250]",
                "light_settings": ##"["#ff8000",3500,1000]"##,
            ])
        #expect(
            try Self.shown(#""android":{"notification":{"visibility":0,"notification_priority":0}}"#) == [:])
    }

    @Test("android_v2 is a notification with high or a background sync with normal priority")
    func androidV2() throws {
        let shown = try Self.read(
            #""android_v2":{"ttl":"5s","remote_notification":{"notification":{"title":"t","id":9}}}"#)
        #expect(shown.priority == .high && shown.lifetimeSeconds == 5)
        #expect(shown.notification?.map { "\($0.key)" } == ["title", "id"])
        let silent = try Self.read(#""androidV2":{"background_sync":{},"data":{"a":"1"}}"#)
        #expect(silent.priority == .normal && silent.notification == nil && silent.data.count == 1)
    }

    @Test("Fields for the web and for Apple are accepted")
    func others() throws {
        let message = try Self.read(
            #""webpush":{"headers":{"TTL":"5"},"data":{"x":"y"},"notification":{"title":"t","actions":[1,{}]},"fcm_options":{"link":"https://a.example"}},"apns":{"headers":{"apns-priority":"5"},"payload":{"aps":{"badge":3,"alert":{"title":"x"}},"own":[]},"fcmOptions":{"image":"https://i.example/a"},"live_activity_token":"l"},"fcm_options":{"analytics_label":"a-_.~%9"}"#
        )
        #expect(message.data.isEmpty && message.notification == nil)
        #expect(
            message.apple.apns
                == Array(
                    #"{"headers":{"apns-priority":"5"},"payload":{"aps":{"badge":3,"alert":{"title":"x"}},"own":[]},"fcm_options":{"image":"https://i.example/a"},"live_activity_token":"l","common":{"v1":true,"label":"a-_.~%9"}}"#
                        .utf8))
    }

    @Test(
        "A schema violation is refused with the path and the text of the real service",
        arguments: Self.wrongForms)
    func forms(body: String, field: String, text: String) throws {
        let error = try #require(throws: V1Error.self) { try V1Message(Array(body.utf8).raw) }
        #expect(error.status == .badRequest && error.code == nil, "no FcmError: \(body)")
        #expect(error.message == text)
        #expect(error.violations.first?.field == field && error.violations.count == 1)
    }

    private static let wrongForms: [(String, String, String)] = [
        (
            #"{"message":{"token":"t","x":1}}"#, "message",
            #"Invalid JSON payload received. Unknown name "x" at 'message': Cannot find field."#
        ),
        (
            #"{"Message":{}}"#, "",
            #"Invalid JSON payload received. Unknown name "Message": Cannot find field."#
        ),
        (
            #"{"message":{"data":{"n":12}}}"#, "message.data[0].value",
            "Invalid value at 'message.data[0].value' (TYPE_STRING), 12"
        ),
        (
            #"{"message":{"data":{"a":"b","n":null}}}"#, "message.data[1].value",
            "Invalid value at 'message.data[1].value' (TYPE_STRING), null"
        ),
        (
            #"{"message":{"android":{"ttl":"5"}}}"#, "message.android.ttl",
            #"Invalid value at 'message.android.ttl' (type.googleapis.com/google.protobuf.Duration), "5""#
        ),
        (
            #"{"message":{"android":{"priority":"URGENT"}}}"#, "message.android.priority",
            #"Invalid value at 'message.android.priority' (type.googleapis.com/google.firebase.fcm.v1.AndroidConfig.AndroidMessagePriority), "URGENT""#
        ),
        (
            #"{"message":{"android":{"notification":{"body_loc_args":["a",1]}}}}"#,
            "message.android.notification.body_loc_args[1]",
            "Invalid value at 'message.android.notification.body_loc_args[1]' (TYPE_STRING), 1"
        ),
        (
            #"{"message":{"android":{"notification":{"notificationCount":1.5}}}}"#,
            "message.android.notification.notification_count",
            "Invalid value at 'message.android.notification.notification_count' (TYPE_INT32), 1.5"
        ),
        (
            #"{"message":{"android":{"notification":{"notificationCount":"0x1"}}}}"#,
            "message.android.notification.notification_count",
            #"Invalid value at 'message.android.notification.notification_count' (TYPE_INT32), "0x1""#
        ),
        (
            #"{"message":{"token":"a","topic":"b"}}"#, "message",
            "Invalid value at 'message' (oneof), oneof field 'target' is already set. Cannot set 'topic'"
        ),
        (
            #"{"message":"x"}"#, "message",
            #"Invalid value at 'message' (type.googleapis.com/google.firebase.fcm.v1.Message), "x""#
        ),
        (
            #"{"validate_only":"true"}"#, "validate_only",
            #"Invalid value at 'validate_only' (TYPE_BOOL), "true""#
        ),
        (
            #"{"message":{"token":"a\u0000b"}}"#, "message.token",
            #"Invalid value at 'message.token' (TYPE_STRING), "a\u0000b""#
        ),
        ("[]", "", "Invalid value at '' (type.googleapis.com/google.firebase.fcm.v1.SendMessageRequest), []"),
    ]

    @Test("An invalid value is reported with its field and an FcmError", arguments: Self.wrongValues)
    func values(members: String, field: String) throws {
        let error = try #require(throws: V1Error.self) { try Self.read(members) }
        #expect(error.status == .badRequest && error.code == .invalidArgument)
        #expect(error.violations.map(\.field) == [field])
    }

    private static let wrongValues: [(String, String)] = [
        (#""android":{"ttl":"-1s"}"#, "message.android.ttl"),
        (#""android":{"ttl":"2419200.000000001s"}"#, "message.android.ttl"),
        (#""android_v2":{"ttl":"2419201s"}"#, "message.android_v2.ttl"),
        (#""android":{},"android_v2":{}"#, "message.android_v2"),
        (#""android":{"notification":{"color":"red"}}"#, "message.android.notification.color"),
        (##""android":{"notification":{"color":"#12345g"}}"##, "message.android.notification.color"),
        (#""fcm_options":{"analytics_label":"a b"}"#, "message.fcm_options.analytics_label"),
        (
            #""apns":{"fcmOptions":{"analyticsLabel":"\#(String(repeating: "a", count: 51))"}}"#,
            "message.apns.fcm_options.analytics_label"
        ),
        (#""webpush":{"fcm_options":{"link":"http://a"}}"#, "message.webpush.fcm_options.link"),
    ]

    @Test("A missing target and invalid JSON are refused")
    func whole() throws {
        for body in ["{}", #"{"message":{}}"#, #"{"message":{"token":null}}"#, #"{"message":null}"#] {
            let error = try #require(throws: V1Error.self) { try V1Message(Array(body.utf8).raw) }
            #expect(error.message == "Recipient of the message is not set." && error.code == .invalidArgument)
            #expect(error.violations.map(\.field) == ["message"])
        }
        let error = try #require(throws: V1Error.self) { try V1Message(Array("{".utf8).raw) }
        #expect(error.message.hasPrefix("Invalid JSON payload received."))
    }

    @Test("Every refusal has its status and code (http 8.6)", arguments: Self.refusals)
    func refused(refusal: Refusal, status: Int, word: String, code: String?) throws {
        let response = V1Error(refusal).response
        let body = try JSONValue(parsing: response.body.raw)
        #expect(response.status.rawValue == status && body["error"]?["code"] == .integer(status))
        #expect(body["error"]?["status"]?.text == word)
        let details = body["error"]?["details"]?.elements ?? []
        let codes = details.compactMap { $0["errorCode"]?.text }
        #expect(codes == (code.map { [$0] } ?? []))
        #expect((response.extra?.name.description == "Retry-After") == (status == 503))
    }

    private static let refusals: [(Refusal, Int, String, String?)] = [
        (.invalidToken, 400, "INVALID_ARGUMENT", "INVALID_ARGUMENT"),
        (.missingTarget, 400, "INVALID_ARGUMENT", "INVALID_ARGUMENT"),
        (.reservedKey("from"), 400, "INVALID_ARGUMENT", "INVALID_ARGUMENT"),
        (.packageMismatch, 400, "INVALID_ARGUMENT", "INVALID_ARGUMENT"),
        (.tooLarge(field: "data", bytes: 5_000, limit: 4_096), 400, "INVALID_ARGUMENT", "INVALID_ARGUMENT"),
        (.senderMismatch, 403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH"),
        (.notRegistered, 404, "NOT_FOUND", "UNREGISTERED"),
        (.deviceRateExceeded, 429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED"),
        (.senderRateExceeded, 429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED"),
        (.internalError, 500, "INTERNAL", "INTERNAL"), (.unavailable, 503, "UNAVAILABLE", "UNAVAILABLE"),
        (.apns(APNsRefusal(.credential)), 401, "UNAUTHENTICATED", "THIRD_PARTY_AUTH_ERROR"),
        (.apns(APNsRefusal(.unregistered)), 404, "NOT_FOUND", "UNREGISTERED"),
        (.apns(APNsRefusal(.badToken)), 400, "INVALID_ARGUMENT", "INVALID_ARGUMENT"),
        (.apns(APNsRefusal(.activityEnded)), 400, "INVALID_ARGUMENT", "INVALID_ARGUMENT"),
        (.apns(APNsRefusal(.mismatch)), 403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH"),
        (.apns(APNsRefusal(.tooLarge)), 400, "INVALID_ARGUMENT", "INVALID_ARGUMENT"),
        (.apns(APNsRefusal(.rateExceeded)), 429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED"),
        (.apns(APNsRefusal(.unavailable)), 503, "UNAVAILABLE", "UNAVAILABLE"),
        (.apns(APNsRefusal(.internalFault)), 500, "INTERNAL", "INTERNAL"),
    ]

    @Test("Apple's verdict is a detail of the error")
    func verdict() throws {
        let verdict = APNsVerdict(status: 403, reason: "InvalidProviderToken")
        let response = V1Error(.apns(APNsRefusal(.credential, verdict))).response
        #expect(
            String(decoding: response.body, as: UTF8.self)
                == #"{"error":{"code":401,"message":"Auth error from APNS or Web Push Service","status":"UNAUTHENTICATED","details":[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"THIRD_PARTY_AUTH_ERROR"},{"@type":"type.googleapis.com/google.firebase.fcm.v1.ApnsError","statusCode":403,"reason":"InvalidProviderToken"}]}}"#
        )
        // With this header an SDK would fetch another access token and try again.
        #expect(response.extra == nil)
    }

    @Test("Only the error for an expired token reports the expiry")
    func expiry() throws {
        #expect(
            String(decoding: V1Error.expired.response.body, as: UTF8.self).contains("ACCESS_TOKEN_EXPIRED"))
        let other = V1Error.unauthenticated.response
        #expect(!String(decoding: other.body, as: UTF8.self).contains("details"))
        #expect(other.status == .unauthorized)
    }
}
