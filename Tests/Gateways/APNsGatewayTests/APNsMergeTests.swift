import APNsGateway
import Basics
import Delivery
import Testing
import Wire

/// The block `apns` of HTTP v1 over the common fields (apns 3.5).
@Suite("merge of the apns block") struct APNsMergeTests {
    @Test(
        "the block overrides field by field",
        arguments: [
            (#""alert":{"body":"o"}"#, #"{"alert":{"title":"t","body":"o"}}"#),
            (#""alert":{"title":"o"}"#, #"{"alert":{"title":"o","body":"b"}}"#),
            (#""alert":{"subtitle":"o"}"#, #"{"alert":{"title":"t","body":"b","subtitle":"o"}}"#),
            (#""alert":"o""#, #"{"alert":"o"}"#),
            (#""badge":2,"thread-id":"x""#, #"{"alert":{"title":"t","body":"b"},"badge":2,"thread-id":"x"}"#),
            (
                #""interruption-level":"critical""#,
                #"{"alert":{"title":"t","body":"b"},"interruption-level":"critical"}"#
            ),
        ])
    func merged(aps: String, expected: String) throws {
        let sample = MappingSample(
            notification: [("title", "t"), ("body", "b")], apns: #"{"payload":{"aps":{\#(aps)}}}"#)
        #expect(try sample.aps() == expected)
    }

    @Test("a common body alone stays a field when the block adds others")
    func bodyAlone() throws {
        let sample = MappingSample(
            notification: [("body", "b")], apns: #"{"payload":{"aps":{"alert":{"title":"o"}}}}"#)
        #expect(try sample.aps() == #"{"alert":{"body":"b","title":"o"}}"#)
    }

    @Test("members of the payload override data, in any type, and the server's own keys stay")
    func custom() throws {
        let sample = MappingSample(
            notification: [("body", "b")], data: [("k", "v"), ("l", "w")],
            apns: #"{"payload":{"k":{"n":[1,null,2.5]},"m":true,"gcm.message_id":"x"}}"#)
        let payload = try sample.payload()
        #expect(payload["k"]?.compact == #"{"n":[1,null,2.5]}"# && payload["l"] == "w")
        #expect(payload["m"] == true)
        #expect(payload["gcm.message_id"]?.text == sample.delivery.message.persistentID.text)
    }

    @Test("the common notification and data replace those for Android")
    func common() throws {
        var sample = MappingSample(
            notification: [("title", "android"), ("tag", "t")], data: [("a", "android")],
            apns: #"{"common":{"v1":true,"notification":{"title":"ios"},"data":{"b":"ios"}}}"#)
        var payload = try sample.payload()
        #expect(payload["aps"]?.compact == #"{"alert":{"title":"ios"}}"#)
        #expect(payload["b"] == "ios" && payload["a"] == nil && payload["gcm.notification.tag"] == nil)
        sample.apns = #"{"common":{"v1":true}}"#
        payload = try sample.payload()
        #expect(payload["aps"]?.compact == #"{"alert":{"title":"android"}}"# && payload["a"] == "android")
    }

    @Test("the image of the block replaces the common one")
    func image() throws {
        var sample = MappingSample(notification: [("image", "https://a"), ("body", "b")])
        sample.apns = #"{"fcm_options":{"image":"https://b"}}"#
        let payload = try sample.payload()
        #expect(payload["fcm_options"]?.compact == #"{"image":"https://b"}"#)
        #expect(payload["aps"]?["mutable-content"] == 1)
    }

    @Test("the token of a Live Activity is the path, and its type and topic follow")
    func liveActivity() throws {
        func sample(_ token: String, headers: String = "") -> MappingSample {
            MappingSample(
                apns:
                    #"{"headers":{\#(headers)},"live_activity_token":"\#(token)","payload":{"aps":{"event":"update"}}}"#
            )
        }
        let request = try sample("<0A 1b>").request()
        #expect(request.deviceToken.bytes == Array("0a1b".utf8) && request.pushType == .liveActivity)
        #expect(String(decoding: request.topic, as: UTF8.self) == "com.example.app.push-type.liveactivity")
        #expect(request.priority == 10)
        #expect(try sample("0a1b").aps() == #"{"event":"update"}"#)
        #expect(sample("0a1").refusal()?.kind == .invalid && sample("xy").refusal()?.kind == .invalid)
        #expect(sample("0a1b", headers: #""apns-push-type":"alert""#).refusal()?.kind == .invalid)
    }

    @Test("an object that is damaged is a fault of the server")
    func damaged() {
        #expect(MappingSample(apns: "{").refusal()?.kind == .internalFault)
    }
}
