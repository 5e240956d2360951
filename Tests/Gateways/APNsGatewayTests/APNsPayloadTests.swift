import APNsGateway
import Basics
import Delivery
import Testing
import Wire

/// The payload, row by row (apns 3.4).
@Suite("payload for APNs") struct APNsPayloadTests {
    @Test("the example of the specification is reproduced byte for byte")
    func example() throws {
        var sample = MappingSample()
        sample.notification = [
            ("title", "Portugal vs. Denmark"), ("body", "great match!"), ("sound", "default"),
            ("badge", "1"), ("click_action", "MATCH"),
        ]
        sample.data = [("volume", "3.21.15")]
        sample.apns = #"{"headers":{"apns-priority":"10"}}"#
        let request = try sample.request()
        let id = sample.delivery.message.persistentID.text
        #expect(id.hasPrefix("0:1533737417425695%"))
        #expect(
            String(decoding: request.payload, as: UTF8.self)
                == #"{"aps":{"alert":{"title":"Portugal vs. Denmark","body":"great match!"},"badge":1,"sound":"default","category":"MATCH"},"volume":"3.21.15","gcm.message_id":"\#(id)","google.c.sender.id":"813017546046"}"#
        )
        #expect(request.pushType == .alert && request.priority == 10)
        #expect(request.expiration == MappingSample.acceptedAt / 1_000 + 3_600)
        #expect(
            request.topic == Array("com.example.app".utf8) && request.deviceToken.bytes == Array("00ff".utf8))
        #expect(request.environment == .production && request.collapseID == nil)
    }

    @Test(
        "each field of a notification has its place in aps",
        arguments: [
            ([("body", "b")], #"{"alert":"b"}"#), ([("title", "t")], #"{"alert":{"title":"t"}}"#),
            ([("subtitle", "s"), ("body", "b")], #"{"alert":{"subtitle":"s","body":"b"}}"#),
            (
                [("body_loc_key", "k"), ("body_loc_args", #"["a",1,true]"#)],
                #"{"alert":{"loc-key":"k","loc-args":["a","1","true"]}}"#
            ),
            (
                [("title_loc_key", "k"), ("title_loc_args", "[]")],
                #"{"alert":{"title-loc-key":"k","title-loc-args":[]}}"#
            ),
            ([("sound", "default")], #"{"sound":"default"}"#),
            (
                [("sound", #"{"critical":1,"name":"n","volume":0.5}"#)],
                #"{"sound":{"critical":1,"name":"n","volume":0.5}}"#
            ),
            ([("sound", "{odd")], #"{"sound":"{odd"}"#), ([("badge", "3")], #"{"badge":3}"#),
            ([("badge", "0")], #"{"badge":0}"#),
            ([("body", "b"), ("click_action", "c")], #"{"alert":"b","category":"c"}"#),
            ([("body", "b"), ("image", "https://i")], #"{"alert":"b","mutable-content":1}"#),
        ])
    func fields(notification: [(String, String)], expected: String) throws {
        #expect(try MappingSample(notification: notification).aps() == expected)
    }

    @Test("mutable_content and content_available become numbers beside an alert")
    func flags() throws {
        var sample = MappingSample(notification: [("body", "b")])
        sample.apns = #"{"payload":{"aps":{"content-available":1,"mutable-content":1}}}"#
        #expect(try sample.aps() == #"{"alert":"b","content-available":1,"mutable-content":1}"#)
        sample.apns = #"{"payload":{"aps":{"content-available":true,"mutable-content":false}}}"#
        #expect(try sample.aps() == #"{"alert":"b","content-available":1,"mutable-content":0}"#)
    }

    @Test("a badge that is not a number and arguments that are not an array are refused")
    func wrong() {
        for pair in [("badge", "one"), ("badge", ""), ("body_loc_args", "a"), ("title_loc_args", "{}")] {
            #expect(MappingSample(notification: [pair]).refusal()?.kind == .invalid, "\(pair)")
        }
    }

    @Test("an image, unknown fields and data stand beside aps")
    func besides() throws {
        let sample = MappingSample(
            notification: [
                ("body", "b"), ("image", "https://i"), ("tag", "t"), ("icon", "i"), ("own", "{}"),
            ],
            data: [("k", "v"), ("object", #"{"a":1}"#)])
        let payload = try sample.payload()
        #expect(payload["fcm_options"]?.compact == #"{"image":"https://i"}"#)
        #expect(payload["gcm.notification.tag"] == "t" && payload["gcm.notification.icon"] == "i")
        #expect(payload["gcm.notification.own"] == "{}" && payload["gcm.notification.image"] == nil)
        #expect(payload["k"] == "v" && payload["object"] == #"{"a":1}"#)
        #expect(payload["gcm.notification.body"] == nil && payload["gcm.n.e"] == nil)
    }

    @Test("data with the key aps is refused")
    func reserved() {
        #expect(MappingSample(data: [("aps", "1")]).refusal()?.kind == .invalid)
        #expect(MappingSample(data: [("apsx", "1")]).refusal() == nil)
    }

    @Test("a message to a topic has its path and an ID of digits alone")
    func topic() throws {
        let sample = MappingSample(notification: [("body", "b")], topicPath: "/topics/news")
        let payload = try sample.payload()
        #expect(payload["from"] == "/topics/news" && payload["gcm.message_id"] == "1533737417425695")
        #expect(try MappingSample().payload()["from"] == nil, "canary")
    }

    @Test("analytics keys are sent with a label only, and the installation if it is known")
    func analytics() throws {
        var sample = MappingSample(notification: [("body", "b")], instance: "fid")
        #expect(try sample.payload()["google.c.a.e"] == nil)
        sample.apns = #"{"fcm_options":{"analytics_label":"l"},"common":{"label":"m"}}"#
        var payload = try sample.payload()
        #expect(payload["google.c.a.e"] == "1" && payload["google.c.a.m_l"] == "l")
        #expect(payload["google.c.fid"] == "fid" && payload["gcm.n.e"] == "1")
        sample.apns = #"{"common":{"label":"m"}}"#
        payload = try sample.payload()
        #expect(payload["google.c.a.m_l"] == "m")
    }

    @Test("a background push carries the time for which the device remembers it, if that is not the default")
    func memory() throws {
        #expect(try MappingSample(lifetime: 60).payload()["gcm.ttl"] == "60")
        let longest = Int64(Limits.Message.lifetimeSeconds)
        #expect(try MappingSample(lifetime: longest).payload()["gcm.ttl"] == nil)
        #expect(try MappingSample(lifetime: 0).payload()["gcm.ttl"] == nil)
        #expect(try MappingSample(notification: [("body", "b")]).payload()["gcm.ttl"] == nil)
    }

    @Test("only what JSON demands is escaped, even if the app server escaped more")
    func escapes() throws {
        var sample = MappingSample(notification: [("body", "한국\"\n/")])
        #expect(try sample.text().contains(#""alert":"한국\"\n/""#))
        sample.apns = #"{"payload":{"aps":{"alert":"\ud55c\u0041"}}}"#
        #expect(try sample.text().contains(#""alert":"한A""#))
    }

    @Test(
        "of equal keys the last one counts in the place of the first, among few and among many",
        arguments: [3, 100])
    func equalKeys(count: Int) throws {
        var sample = MappingSample(data: (0..<count).map { ("k\($0)", "data") })
        let last = "k\(count - 1)"
        sample.apns = #"{"payload":{"k0":"first","\#(last)":"last","new":"n"}}"#
        let members = try #require(try sample.payload().members)
        let own = members.filter { $0.key.hasPrefix("k") || $0.key == "new" }
        #expect(own.map(\.key) == (0..<count).map { "k\($0)" } + ["new"])
        #expect(own.first?.value == "first" && own[count - 1].value == "last" && own[1].value == "data")
    }

    @Test("a payload of 4,096 bytes is sent, and one byte more is refused")
    func size() throws {
        let frame = try MappingSample(data: [("k", "")]).request().payload.count
        func sample(_ bytes: Int) -> MappingSample {
            MappingSample(data: [("k", String(repeating: "x", count: bytes - frame))])
        }
        #expect(try sample(4_096).request().payload.count == 4_096)
        #expect(sample(4_097).refusal()?.kind == .tooLarge)
        var voip = sample(5_120)
        voip.apns = #"{"headers":{"apns-push-type":"voip"}}"#
        // It is no background push: it has neither `content-available` nor `gcm.ttl`.
        let saved = #""content-available":1"#.utf8.count + #","gcm.ttl":"3600""#.utf8.count
        #expect(try voip.request().payload.count == 5_120 - saved)
        voip.data[0].1 += String(repeating: "x", count: saved)
        #expect(try voip.request().payload.count == 5_120)
        voip.data[0].1 += "x"
        #expect(voip.refusal()?.kind == .tooLarge)
    }

    @Test("optional keys are left out before a message is refused")
    func optional() throws {
        let frame = try MappingSample(data: [("k", "")]).request().payload.count
        var sample = MappingSample(
            data: [("k", String(repeating: "x", count: 4_096 - frame))], instance: "fid")
        #expect(try sample.payload()["google.c.fid"] == nil && sample.request().payload.count == 4_096)
        sample.data[0].1.removeLast(#","google.c.fid":"fid""#.utf8.count)
        #expect(try sample.payload()["google.c.fid"] == "fid")
    }
}
