import Basics
import Testing

@testable import Wire

/// The block `apns` of HTTP v1, and what the message holds for iOS besides (http 8.4, apns 3.5).
@Suite("Apple part of HTTP v1") struct V1AppleTests {
    private static func apple(_ members: String) throws -> V1Apple { try V1MessageTests.read(members).apple }

    private static func apns(_ members: String) throws -> String? {
        try apple(members).apns.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("a message without notification and aps holds nothing for APNs")
    func dataOnly() throws {
        for members in [
            "", #""data":{"a":"1"}"#, #""apns":{}"#, #""apns":{"payload":{"x":1}}"#,
            #""apns":{"headers":{"apns-priority":"5"}}"#, #""android":{"notification":{"title":"t"}}"#,
        ] {
            let apple = try Self.apple(members)
            #expect(apple.apns == nil && !apple.isNotification, "\(members)")
        }
        #expect(try Self.apple(#""apns":{"payload":{"aps":{}}}"#).apns != nil, "canary: an aps")
    }

    @Test(
        "what Android overrides is kept for iOS",
        arguments: [
            (#""notification":{"title":"t"}"#, #"{"common":{"v1":true}}"#),
            (
                #""notification":{"title":"t","body":"\"b"},"android":{"notification":{"title":"u"}}"#,
                #"{"common":{"v1":true,"notification":{"title":"t","body":"\"b"}}}"#
            ),
            (
                #""notification":{"title":"t"},"data":{"a":"1","b":"ä"},"android":{"data":{"a":"2"}}"#,
                #"{"common":{"v1":true,"data":{"a":"1","b":"ä"}}}"#
            ),
            (
                #""apns":{"payload":{"aps":{"badge":1}}},"android":{"notification":{"body":"b"},"data":{}}"#,
                #"{"payload":{"aps":{"badge":1}},"common":{"v1":true,"notification":{},"data":{}}}"#
            ),
            (
                #""apns":{"liveActivityToken":"ab","fcmOptions":{"analyticsLabel":"l"},"payload":{ "aps" : {} }}"#,
                #"{"payload":{"aps":{}},"fcm_options":{"analytics_label":"l"},"live_activity_token":"ab","common":{"v1":true}}"#
            ),
        ])
    func common(members: String, expected: String) throws {
        #expect(try Self.apns(members) == expected)
    }

    @Test("the lifetime for iOS is that of apns-expiration, whatever android.ttl is")
    func lifetime() throws {
        func seconds(_ header: String?) throws -> Int {
            let headers = header.map { #","apns":{"headers":{\#($0)}}"# } ?? ""
            return try Self.apple(#""android":{"ttl":"7s"}\#(headers)"#).lifetimeSeconds(now: 1_000_000)
        }
        #expect(try seconds(nil) == Limits.Message.lifetimeSeconds)
        #expect(try seconds(#""Apns-Expiration":"1600""#) == 600)
        #expect(try seconds(#""apns-expiration":"0""#) == 0)
        #expect(try seconds(#""apns-expiration":"999""#) == 0)
        #expect(try seconds(#""apns-expiration":"999999999999""#) == Limits.Message.lifetimeSeconds)
        #expect(try seconds(#""apns-expiration":"soon""#) == Limits.Message.lifetimeSeconds)
    }

    @Test(
        "a wrong field of the block is named",
        arguments: [
            (#""aps":[]"#, "aps"), (#""aps":{"badge":"3"}"#, "aps.badge"),
            (#""aps":{"alert":3}"#, "aps.alert"),
            (#""aps":{"alert":{"title":1}}"#, "aps.alert.title"),
            (#""aps":{"alert":{"launch-image":[]}}"#, "aps.alert.launch-image"),
            (#""aps":{"alert":{"title-loc-args":["a"]}}"#, "aps.alert.title-loc-key"),
            (#""aps":{"alert":{"subtitle-loc-args":["a"]}}"#, "aps.alert.subtitle-loc-key"),
            (#""aps":{"alert":{"loc-args":["a"],"loc-key":""}}"#, "aps.alert.loc-key"),
            (#""aps":{"alert":{"loc-args":[1],"loc-key":"k"}}"#, "aps.alert.loc-args"),
            (#""aps":{"alert":{"loc-args":"a","loc-key":"k"}}"#, "aps.alert.loc-args"),
            (#""aps":{"sound":1}"#, "aps.sound"), (#""aps":{"sound":{"critical":1}}"#, "aps.sound.name"),
            (#""aps":{"sound":{"name":""}}"#, "aps.sound.name"),
            (#""aps":{"sound":{"name":"a","volume":1.01}}"#, "aps.sound.volume"),
            (#""aps":{"sound":{"name":"a","volume":-1}}"#, "aps.sound.volume"),
            (#""aps":{"sound":{"name":"a","volume":"1"}}"#, "aps.sound.volume"),
        ])
    func wrong(payload: String, field: String) throws {
        let error = #expect(throws: V1Error.self) {
            try Self.apple(#""apns":{"payload":{\#(payload)}}"#)
        }
        #expect(error?.violations.map(\.field) == ["message.apns.payload.\(field)"])
    }

    @Test("the image must be a URL")
    func image() throws {
        for image in ["i", "https://", "https:///a", "ftp://a", "https://a b"] {
            let error = #expect(throws: V1Error.self, "\(image)") {
                try Self.apple(#""apns":{"fcm_options":{"image":"\#(image)"}}"#)
            }
            #expect(error?.violations.map(\.field) == ["message.apns.fcm_options.image"])
        }
        _ = try Self.apple(#""apns":{"fcm_options":{"image":"https://a.example/b.png"}}"#)
    }

    @Test("every form that the admin SDKs send is accepted")
    func right() throws {
        _ = try Self.apple(
            #""apns":{"payload":{"aps":{"alert":"a","sound":"s","badge":0,"content-available":1}}}"#)
        _ = try Self.apple(
            #""apns":{"payload":{"aps":{"alert":{"title":"t","title-loc-key":"k","title-loc-args":["a"],"subtitle-loc-key":"k","subtitle-loc-args":["a"],"loc-key":"k","loc-args":["a"]},"sound":{"critical":1,"name":"n","volume":0.5},"category":"c","thread-id":"d","mutable-content":1}}}"#
        )
        _ = try Self.apple(
            #""apns":{"payload":{"aps":{"alert":{"loc-args":[]},"sound":{"name":"n","volume":1}}}}"#)
    }

    @Test("the block is limited")
    func size() throws {
        let frame = #"{"payload":{"aps":{},"x":""}}"#.utf8.count
        let full = String(repeating: "y", count: Limits.Message.apnsOverrideBytes - frame)
        _ = try Self.apple(#""apns":{ "payload":{"aps":{},"x":"\#(full)"}}"#)
        let error = #expect(throws: V1Error.self) {
            try Self.apple(#""apns":{"payload":{"aps":{},"x":"\#(full)z"}}"#)
        }
        #expect(error?.violations.first?.field == "message.apns")
    }
}
