import Basics
import Delivery
import Testing

@testable import APNsGateway

/// The headers, row by row (apns 3.3).
@Suite("headers for APNs") struct APNsHeaderTests {
    private static let notification = [("body", "b")]

    private static func headers(_ headers: String, aps: String = "") -> MappingSample {
        MappingSample(
            notification: aps.isEmpty ? notification : [],
            apns: #"{"headers":{\#(headers)},"payload":{"aps":{\#(aps)}}}"#)
    }

    @Test("path and environment are those of the registration")
    func token() throws {
        let request = try MappingSample(token: "s_0a1b").request()
        #expect(request.deviceToken.bytes == Array("0a1b".utf8) && request.environment == .sandbox)
    }

    @Test(
        "the push type follows what the user notices",
        arguments: [
            (#""alert":"a""#, "alert"), (#""badge":1"#, "alert"), (#""sound":"s""#, "alert"),
            (#""content-available":1"#, "background"), (#""alert":null,"content-available":1"#, "background"),
            (#""content-available":1,"badge":0"#, "alert"), (#""thread-id":"t""#, "background"),
        ])
    func kind(aps: String, expected: String) throws {
        let request = try Self.headers("", aps: aps).request()
        #expect(request.pushType.rawValue == expected)
        #expect(request.priority == (expected == "alert" ? 10 : 5))
    }

    @Test("data alone travels as a background push")
    func silent() throws {
        let sample = MappingSample(data: [("k", "v")])
        #expect(try sample.aps() == #"{"content-available":1}"#)
        #expect(try sample.request().pushType == .background && sample.request().priority == 5)
    }

    @Test("every push type can be named, and the topic gets its suffix", arguments: APNsPushType.allCases)
    func types(type: APNsPushType) throws {
        let request = try Self.headers(#""apns-push-type":"\#(type.rawValue)""#).request()
        #expect(request.pushType == type)
        #expect(String(decoding: request.topic, as: UTF8.self) == "com.example.app\(type.topicSuffix)")
    }

    @Test("a topic of the app is accepted and names the type; any other is refused")
    func topics() throws {
        let live = try Self.headers(#""apns-topic":"com.example.app.push-type.liveactivity""#).request()
        #expect(live.pushType == .liveActivity)
        #expect(try Self.headers(#""apns-topic":"com.example.app""#).request().pushType == .alert)
        for headers in [
            #""apns-topic":"com.example.other""#, #""apns-topic":"com.example.app.other""#,
            #""apns-topic":"""#, #""apns-topic":"com.example.app","apns-push-type":"voip""#,
            #""apns-topic":"com.example.app.voip","apns-push-type":"alert""#,
        ] {
            #expect(Self.headers(headers).refusal()?.kind == .invalid, "\(headers)")
        }
    }

    @Test(
        "the priority is the header's, or that of the kind",
        arguments: [
            ("", false, 10), ("", true, 5), ("10", true, 10), ("5", false, 5), ("1", false, 1),
        ])
    func priority(header: String, gcm2015: Bool, expected: Int) throws {
        var sample = Self.headers(header.isEmpty ? "" : #""apns-priority":"\#(header)""#)
        sample.settings.uses2015Priority = gcm2015
        #expect(try sample.request().priority == expected)
    }

    @Test("the priority of a background push is 5, and that of HTTP v1 does not follow GCM of 2015")
    func priorityOfKinds() throws {
        let background = Self.headers(#""apns-priority":"10""#, aps: #""content-available":1"#)
        #expect(try background.request().priority == 5)
        var v1 = MappingSample(notification: Self.notification, apns: #"{"common":{"v1":true}}"#)
        v1.settings.uses2015Priority = true
        #expect(try v1.request().priority == 10)
    }

    @Test("the expiration is that of the message, of its header, or the default of HTTP v1")
    func expiration() throws {
        let accepted = MappingSample.acceptedAt / 1_000
        #expect(try MappingSample(lifetime: 3_600).request().expiration == accepted + 3_600)
        #expect(try MappingSample(lifetime: 2_419_200).request().expiration == accepted + 2_419_200)
        #expect(try MappingSample(lifetime: 0).request().expiration == 0)
        #expect(try MappingSample(isStored: false).request().expiration == 0)
        #expect(try Self.headers(#""apns-expiration":"42""#).request().expiration == 42)
        #expect(try Self.headers(#""apns-expiration":"0""#).request().expiration == 0)
        let v1 = MappingSample(notification: Self.notification, apns: #"{"common":{"v1":true}}"#)
        #expect(try v1.request().expiration == accepted + 2_592_000)
        let late = MappingSample(lifetime: 60)
        let end = MappingSample.acceptedAt + 60_000
        #expect(try late.request(now: end - 1_000).expiration == accepted + 60)
        #expect(try late.request(now: end).expiration == 0, "one last attempt")
    }

    @Test("the collapse key is used only if the operator wants it")
    func collapseKey() throws {
        func id(_ key: String?, tag: String? = nil, isOn: Bool = true) throws -> String? {
            var sample = MappingSample(notification: [("body", "b")] + (tag.map { [("tag", $0)] } ?? []))
            sample.collapseKey = key.map { Array($0.utf8) }
            sample.settings.collapseKeyToAPNs = isOn
            return try sample.request().collapseID.map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(try id("k", tag: "t", isOn: false) == nil)
        #expect(try id("k", tag: "t") == "k")
        #expect(try id(nil, tag: "t") == "t")
        #expect(try id("com.example.app", tag: "t") == "t", "the default key of notifications")
        #expect(try id("com.example.app") == nil)
        let long = String(repeating: "a", count: 64)
        #expect(try id(long) == long)
        #expect(
            try id(long + "a") == "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0",
            "SHA-256 of 65 letters")
        #expect(try id("ä")?.count == 64, "a header is ASCII")
    }

    @Test("headers of the app server override, and further ones are copied")
    func overrides() throws {
        let id = "0A0B0C0D-0000-0000-0000-00000000000F"
        let request = try Self.headers(
            #""Apns-Collapse-Id":"c","apns-id":"\#(id)","APNS-Other":"1","apns-other":"2","x":"y""#
        ).request()
        #expect(request.collapseID == [0x63] && request.id == id.lowercased())
        let longest = String(repeating: "c", count: 64)
        #expect(
            try Self.headers(#""apns-collapse-id":"\#(longest)""#).request().collapseID == Array(longest.utf8)
        )
        #expect(request.extraHeaders.map(\.name) == ["apns-other"])
        #expect(request.extraHeaders.map(\.value) == [[0x32]])
    }

    @Test(
        "a header without a meaning for Apple is refused with Apple's word",
        arguments: [
            (#""apns-priority":"7""#, "BadPriority"), (#""apns-push-type":"loud""#, "InvalidPushType"),
            (#""apns-expiration":"-1""#, "BadExpirationDate"),
            (#""apns-expiration":"""#, "BadExpirationDate"),
            (#""apns-id":"1""#, "BadMessageId"),
            (#""apns-collapse-id":"\#(String(repeating: "c", count: 65))""#, "BadCollapseId"),
            (#""apns-x":"a\nb""#, "a header is not printable ASCII"),
            (#""apns-x":"ä""#, "a header is not printable ASCII"),
            (#""apns-x y":"a""#, "a header is not printable ASCII"),
        ])
    func wrong(headers: String, reason: String) {
        let refusal = Self.headers(headers).refusal()
        #expect(refusal?.kind == .invalid)
        #expect(refusal?.verdict == APNsVerdict(status: 0, reason: reason))
    }

    @Test("the ID is a UUID that each attempt repeats, and that no other message has")
    func identity() throws {
        let first = try MappingSample().request().id
        #expect(try MappingSample(attempt: 3).request(now: 2_000_000_000_000).id == first)
        #expect(try MappingSample(sequence: 1_533_737_417_425_696).request().id != first)
        #expect(try MappingSample(device: 78).request().id != first)
        let groups = first.split(separator: "-").map(\.count)
        #expect(groups == [8, 4, 4, 4, 12] && first == first.lowercased())
        #expect(first.dropFirst(14).first == "8", "version")
    }
}
