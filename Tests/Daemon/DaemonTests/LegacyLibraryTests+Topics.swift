import Basics
import Foundation
import Testing

/// Topics with the libraries of legacy HTTP, and pyfcm's calls of Instance ID (http 5, 7).
extension LegacyLibraryTests {
    @Test("subscribers get a message when it is sent to their topic", arguments: Library.allCases)
    func topics(library: Library) throws {
        let bench = try Bench(library)
        let (subscribed, other) = (try bench.device("com.example.a"), try bench.device("com.example.b"))
        try subscribed.subscribe(bench.daemon, to: "news")
        let sent = try bench.topic(["topic": "news", "data": ["n": "1"]])
        #expect(sent["id"] is Int, "libraries expect a number: \(sent)")
        #expect(try subscribed.expectMessage { _ in true }["n"] == "1")

        _ = try bench.send([other.token], ["data": ["n": "2"]])
        // This is its first message, so the topic message did not reach it.
        #expect(try other.expectMessage { _ in true }["n"] == "2")

        let large = ["n": String(repeating: "x", count: Limits.Topic.payloadBytes)]
        let refused = try bench.topic(["topic": "news", "data": large, "retries": 1])
        switch library {
        case .pyfcm: #expect(refused["id"] is NSNull, "pyfcm ignores this error: \(refused)")
        case .pythonGCM: #expect(refused["error"] as? String == "OSError", "\(refused)")
        case .pushjack:
            #expect((refused["id"] as? [String: String])?["error"] == "MessageTooBig", "\(refused)")
        }
        let long = String(repeating: "t", count: Limits.Topic.nameBytes + 1)
        let malformed = try bench.topic(["topic": long, "data": ["n": "1"], "retries": 1])
        switch library {
        case .pyfcm: #expect(malformed["error"] as? String == "InvalidDataError", "\(malformed)")
        case .pythonGCM: #expect(malformed["error"] as? String == "GCMMalformedJsonException", "\(malformed)")
        case .pushjack: #expect((malformed["id"] as? [String: Int])?["status"] == 400, "\(malformed)")
        }
    }

    @Test("pyfcm subscribes and unsubscribes tokens, and sends to conditions")
    func subscriptions() throws {
        let bench = try Bench(.pyfcm)
        let (first, second, outsider) = (
            try bench.device("com.example.a"), try bench.device("com.example.b"), try bench.outsider()
        )
        // A token that cannot be subscribed does not affect the others; the library does not report it.
        let tokens = [first.token, "nonsense", outsider.token, second.token]
        let made = try bench.manage("subscribe", tokens, topic: "news")
        #expect(made["done"] as? Bool == true, "\(made)")
        let sent = try bench.topic(["condition": "'news' in topics", "data": ["n": "both"]])
        #expect(sent["id"] is Int, "\(sent)")
        for device in [first, second] { #expect(try device.expectMessage { _ in true }["n"] == "both") }

        let left = try bench.manage("unsubscribe", [first.token, "nonsense"], topic: "news")
        #expect(left["done"] as? Bool == true, "\(left)")
        _ = try bench.topic(["condition": "!('news' in topics)", "data": ["n": "rest"]])
        #expect(try first.expectMessage { _ in true }["n"] == "rest")
        _ = try bench.topic(["topic": "news", "data": ["n": "second"]])
        #expect(try second.expectMessage { _ in true }["n"] == "second")

        let cases = [
            (tokens, "no name", "Topic name format is invalid"), ([], "news", "MissingIIdToken"),
        ]
        for (tokens, topic, text) in cases {
            let refused = try bench.manage("subscribe", tokens, topic: topic)
            #expect(refused["error"] as? String == "InvalidDataError", "\(refused)")
            #expect(refused["text"] as? String == text, "\(refused)")
        }
        let tooMany = Array(repeating: first.token, count: Limits.HTTP.recipientsPerRequest + 1)
        let refused = try bench.manage("subscribe", tooMany, topic: "news")
        #expect(refused["error"] as? String == "InvalidDataError", "\(refused)")
        let full = try bench.manage("subscribe", tooMany.dropLast(), topic: "news")
        #expect(full["done"] as? Bool == true, "canary: the largest allowed number of tokens: \(full)")
        let condition = try bench.topic(["condition": "'news' in", "data": ["n": "1"]])
        #expect(condition["error"] as? String == "InvalidDataError", "\(condition)")
    }

    @Test("pyfcm gets the details of a token and removes invalid tokens")
    func information() throws {
        let bench = try Bench(.pyfcm)
        let (device, outsider) = (try bench.device("com.example.a"), try bench.outsider())
        let gone = try bench.device("com.example.b")
        #expect(try bench.info(gone.token)?["application"] as? String == "com.example.b", "canary")
        try gone.unregister(bench.daemon)
        _ = try bench.manage("subscribe", [device.token], topic: "news")

        let info = try #require(try bench.info(device.token))
        #expect(info["application"] as? String == "com.example.a", "\(info)")
        #expect(info["authorizedEntity"] as? String == bench.sender, "\(info)")
        #expect(info["platform"] as? String == "ANDROID", "\(info)")
        let topics = (info["rel"] as? [String: Any])?["topics"] as? [String: [String: String]]
        #expect(topics?["news"]?["addDate"]?.count == "2026-11-20".count, "\(info)")
        for token in ["nonsense", outsider.token, gone.token] { #expect(try bench.info(token) == nil) }

        try bench.server.command(
            ["do": "clean", "tokens": ["nonsense", device.token, gone.token, outsider.token]])
        #expect(try bench.server.expect(event: "cleaned")["tokens"] as? [String] == [device.token])
    }
}

extension LegacyLibraryTests.Bench {
    /// Sends to a topic or a condition and returns the library's result.
    fileprivate func topic(_ command: [String: Any]) throws -> [String: Any] {
        try server.command(["do": "topic"].merging(command) { $1 })
        return try server.expect(event: "sent_topic")
    }

    fileprivate func manage(_ action: String, _ tokens: [String], topic: String) throws -> [String: Any] {
        try server.command(["do": action, "tokens": tokens, "topic": topic])
        return try server.expect(event: "managed")
    }

    /// Returns the details of a token, or `nil` if the library gets none.
    fileprivate func info(_ token: String) throws -> [String: Any]? {
        try server.command(["do": "info", "token": token])
        return try server.expect(event: "known")["info"] as? [String: Any]
    }
}
