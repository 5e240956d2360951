import Basics
import Delivery
import Sessions
import Testing
import Wire

/// Returns the pairs in order, or the refusal.
private func pairs(_ members: String, reservesGCMPrefix: Bool = false) throws -> Result<
    [String], Refusal
> {
    let text = Array("{\"to\":\"x\",\"message_id\":\"m\",\(members)}".utf8)
    let payload = try AppServerPayload(text.raw)
    let message = try DownstreamMessage(payload)
    var translator = PayloadTranslator()
    do throws(Refusal) {
        let body = try translator.body(of: message, in: payload, reservesGCMPrefix: reservesGCMPrefix)
        var pairs: [String] = []
        try? AppData.forEach(in: body.raw) { key, value in
            pairs.append(
                String(decoding: [UInt8](copying: key), as: UTF8.self) + "="
                    + String(decoding: [UInt8](copying: value), as: UTF8.self))
        }
        return .success(pairs)
    } catch {
        return .failure(error)
    }
}

@Suite struct PayloadTranslatorTests {
    @Test(
        "data values become text",
        arguments: [
            (#""data":{}"#, []), (#""data":{"a":"b","c":"d"}"#, ["a=b", "c=d"]),
            (#""data":{"a":1,"b":true,"c":null,"d":1.50}"#, ["a=1", "b=true", "d=1.50"]),
            (#""data":{"a":"1","a":null,"b":null,"b":"2","from":null}"#, ["b=2"]),
            (#""data":{"a":{"x" : null}}"#, [#"a={"x":null}"#]),
            (#""data":{"a":{"x" : [1, "y z"]}}"#, [#"a={"x":[1,"y z"]}"#]),
            (#""data":{"\u0061":"\ud83d\ude00\n"}"#, ["a=😀\n"]), (#""data":{"":""}"#, ["="]),
            (#""data":{"a":"1","b":"2","a":"3","\u0062":"4"}"#, ["a=3", "b=4"]),
        ])
    func data(members: String, expected: [String]) throws {
        #expect(try pairs(members).get() == expected)
    }

    @Test("notifications get their prefix and their mark")
    func notification() throws {
        #expect(
            try pairs(#""notification":{"title":"t","body_loc_args":["a"],"badge":1},"data":{"k":"v"}"#).get()
                == [
                    "k=v", "gcm.notification.title=t", #"gcm.notification.body_loc_args=["a"]"#,
                    "gcm.notification.badge=1", "gcm.n.e=1",
                ])
    }

    @Test("a member of a notification that is null is absent")
    func nullNotification() throws {
        #expect(
            try pairs(#""notification":{"title":"t","body":null,"sound":null}"#).get()
                == ["gcm.notification.title=t", "gcm.n.e=1"])
        let text = Array(#"{"to":"x","notification":{"body":null,"text":"b"}}"#.utf8)
        let payload = try AppServerPayload(text.raw)
        var translator = PayloadTranslator()
        let body = try translator.body(of: try DownstreamMessage(payload), in: payload, textMeansBody: true)
        var keys: [String] = []
        try AppData.forEach(in: body.raw) { key, _ in
            keys.append(String(decoding: [UInt8](copying: key), as: UTF8.self))
        }
        #expect(keys == ["gcm.notification.body", "gcm.n.e"], "text stands for a body that is null")
    }

    @Test(
        "reserved keys are refused",
        arguments: ["from", "message_type", "google", "google.x", "googlefoo", "gcm.x", "gcm."])
    func reserved(key: String) throws {
        #expect(try pairs("\"data\":{\"a\":\"b\",\"\(key)\":\"v\"}") == .failure(.reservedKey(key)))
        #expect(
            try pairs("\"data\":{\"\\u00\(String(key.utf8.first ?? 0, radix: 16))\(key.dropFirst())\":\"v\"}")
                == .failure(.reservedKey(key)))
    }

    @Test(
        "keys that only look similar are accepted",
        arguments: ["fro", "From", "gcm", "gcmfoo", "goog", "collapse_key"])
    func notReserved(key: String) throws {
        #expect(try pairs("\"data\":{\"\(key)\":\"v\"}").get() == ["\(key)=v"])
    }

    @Test("the switch reserves all keys that start with gcm")
    func reservedPrefix() throws {
        #expect(
            try pairs(#""data":{"gcmfoo":"v"}"#, reservesGCMPrefix: true) == .failure(.reservedKey("gcmfoo")))
        #expect(
            try pairs(#""data":{"gcm":"v"}"#, reservesGCMPrefix: true) == .failure(.reservedKey("gcm")))
    }

    @Test("4096 bytes of keys and values fit, one more does not")
    func size() throws {
        let full = String(repeating: "v", count: 4_094)
        #expect(try pairs("\"data\":{\"ab\":\"\(full)\"}").get().count == 1)
        #expect(
            try pairs("\"data\":{\"abc\":\"\(full)\"}")
                == .failure(.tooLarge(field: "data", bytes: 4_097, limit: 4_096)))
        #expect(
            try pairs("\"notification\":{\"body\":\"\(full)\"}")
                == .failure(.tooLarge(field: "notification", bytes: 4_098, limit: 4_096)))
        let half = String(repeating: "é", count: 1_022)
        #expect(
            try pairs("\"data\":{\"abcd\":\"\(half)\"},\"notification\":{\"body\":\"\(half)\"}").get().count
                == 3)
    }

    @Test("an overridden repeated key does not count")
    func superseded() throws {
        let big = String(repeating: "v", count: 4_090)
        #expect(try pairs("\"data\":{\"a\":\"\(big)\",\"a\":\"\(big)\"}").get().count == 1)
    }

    @Test("of many keys, the last of each is kept")
    func manyKeys() throws {
        let members = (0..<3_000).map { "\"k\($0 % 40)\":\"\($0)\"" }.joined(separator: ",")
        let result = try pairs("\"data\":{\(members)}").get()
        #expect(result.count == 40)
        #expect(result.first == "k0=2960")
        #expect(Set(result).count == 40)
    }

    @Test("priority and collapse key have the defaults of their kind")
    func defaults() throws {
        func message(_ members: String) throws -> DownstreamMessage {
            let text = Array("{\"to\":\"x\",\"message_id\":\"m\"\(members)}".utf8)
            return try DownstreamMessage(AppServerPayload(text.raw))
        }
        let data = try message(#","data":{}"#)
        let notification = try message(#","notification":{}"#)
        let chosen = try message(#","notification":{},"priority":"normal","collapse_key":"k""#)
        #expect(
            PayloadTranslator.priority(of: data) == .normal && PayloadTranslator.collapseKey(of: data) == nil)
        #expect(PayloadTranslator.priority(of: notification) == .high)
        #expect(PayloadTranslator.collapseKey(of: notification) == MessageContent.appCollapseKey)
        #expect(PayloadTranslator.priority(of: chosen) == .normal)
        #expect(PayloadTranslator.collapseKey(of: chosen) == Array("k".utf8))
        #expect(PayloadTranslator.collapseKey(of: try message(#","collapse_key":"""#)) == nil)
    }

    @Test("pairs of a device become an object of strings")
    func upstream() throws {
        var body = ByteBuffer()
        AppData.append(key: "hello", text: "w<o>\"&", to: &body)
        AppData.append(key: Array("k".utf8).raw, value: [0x61, 0xFF].raw, to: &body)
        var json = ByteBuffer()
        PayloadTranslator.append(dataOf: body.copied(), to: &json)
        #expect(
            String(decoding: json.copied(), as: UTF8.self)
                == "{\"hello\":\"w\\u003co\\u003e\\\"\\u0026\",\"k\":\"a\u{FFFD}\"}")
    }

    @Test("canary: a malformed body still gives an object")
    func canary() throws {
        var json = ByteBuffer()
        PayloadTranslator.append(dataOf: [0x3A, 0x7F, 0x0A], to: &json)
        #expect(String(decoding: json.copied(), as: UTF8.self) == "{}")
        #expect(try pairs(#""data":{"a":"b"}"#).get() != ["a=c"])
    }
}
