import Basics
import Foundation
import Testing

/// firebase-admin, pyfcm 2 and async-firebase, unmodified, with a key file from ccsctl and their host names redirected
/// (http 8, 9, 12 rows c20 to c23).
///
/// A library takes seconds to start, so one test covers all calls of a library with one daemon.
@Suite(
    "Libraries of HTTP v1", .serialized,
    .enabled(if: TestPaths.hasPython && TestPaths.hasPythonV1, "run Scripts/bootstrap --tests first"))
struct V1LibraryTests {
    /// A topic name that is too long by one byte.
    private let long = String(repeating: "t", count: Limits.Topic.nameBytes + 1)

    @Test(
        "a library's messages arrive, refusals raise its exceptions, and topics work",
        arguments: V1Library.allCases)
    func wholeLife(library: V1Library) throws {
        let bench = try V1Bench(library)
        let devices = try ["a", "b", "c"].map { try bench.device("com.example.\($0)") }
        let (outsider, gone) = (try bench.outsider(), try bench.device())
        #expect(try bench.send(gone.token)["name"] is String, "canary: the token is valid")
        try gone.unregister(bench.daemon)

        try sends(bench, to: devices[0])
        try refusals(bench, device: devices[0], outsider, gone)
        for call in library.callsForMany {
            try many(bench, by: call, devices, outsider, gone)
        }
        try atOnce(bench, to: devices[0])
        for calls in library.callsForTopics {
            try subscriptions(bench, by: calls, devices, outsider, gone)
        }
        if library.callsForTopics.isEmpty {
            for device in devices[..<2] { try device.subscribe(bench.daemon, to: "own") }
            try topic("own", bench, Array(devices[..<2]), [devices[2]])
        }
        try topicRefusals(bench)
        if library.namesInstallations { try installations(bench) }
        try removal(bench)
    }

    private func sends(_ bench: V1Bench, to device: TestDevice) throws {
        let sent = try bench.send(device.token, ["title": "Hello", "ttl": 60, "collapse_key": "k"])
        let name = try #require(sent["name"] as? String, "\(sent)")
        #expect(name.hasPrefix("projects/ccs-\(bench.sender)/messages/0:"))
        let received = try device.expectMessage { _ in true }
        #expect(received["n"] == "1" && received["gcm.notification.title"] == "Hello", "\(received)")

        let looked = try bench.send(device.token, ["data": ["n": "dry"], "dry_run": true])
        #expect(looked["name"] as? String == "projects/ccs-\(bench.sender)/messages/fake_message_id")
        let odd = "\u{E4} \u{1F600} \" \\"
        _ = try bench.send(device.token, ["data": ["n": odd]])
        // This is the next message, so the dry run was not delivered.
        #expect(try device.expectMessage { _ in true }["n"] == odd)
    }

    private func refusals(
        _ bench: V1Bench, device: TestDevice, _ outsider: TestDevice, _ gone: TestDevice
    ) throws {
        let library = bench.library
        let bad = try bench.send("nonsense")
        #expect(bad["error"] as? String == library.exception(for: .invalid), "\(bad)")
        #expect(
            (bad["text"] as? String)?.contains(
                "The registration token is not a valid FCM registration token") == true, "\(bad)")
        let foreign = try bench.send(outsider.token)
        #expect(foreign["error"] as? String == library.exception(for: .senderMismatch), "\(foreign)")
        let unregistered = try bench.send(gone.token)
        #expect(unregistered["error"] as? String == library.exception(for: .unregistered), "\(unregistered)")

        for data in [["n": String(repeating: "x", count: 4_096)], ["from": "x"]] {
            let refused = try bench.send(device.token, ["data": data])
            #expect(refused["error"] as? String == library.exception(for: .invalid), "\(refused)")
        }
        let fitting = try bench.send(device.token, ["data": ["n": String(repeating: "x", count: 4_095)]])
        #expect(fitting["name"] is String, "\(fitting)")
        #expect(try device.expectMessage { _ in true }["n"]?.utf8.count == 4_095)
    }

    private func many(
        _ bench: V1Bench, by call: String, _ devices: [TestDevice], _ outsider: TestDevice,
        _ gone: TestDevice
    ) throws {
        let tokens = [
            devices[0].token, "nonsense", devices[1].token, outsider.token, gone.token, devices[0].token,
        ]
        let results = try bench.send(tokens, by: call, n: call)
        let words = [V1Library.Fault?.none, .invalid, nil, .senderMismatch, .unregistered, nil]
            .map { $0.map(bench.library.wordAmongMany) }
        #expect(results.map { $0["error"] as? String } == words, "\(call): \(results)")
        #expect(results.map { $0["name"] is String } == words.map { $0 == nil }, "\(call): \(results)")
        for device in [devices[0], devices[1], devices[0]] {
            #expect(try device.expectMessage { _ in true }["n"] == call)
        }
    }

    /// Sends the largest number of messages of one call: one request to `/batch`, or 500 concurrent ones on one HTTP/2 connection.
    private func atOnce(_ bench: V1Bench, to device: TestDevice) throws {
        let calls: [V1Library: String] = [
            .firebaseAdmin: "send_each_async", .firebaseAdmin6: "send_all",
            .asyncFirebase: "send_each over HTTP/2",
        ]
        guard let call = calls[bench.library] else { return }
        let bad = (2..<500).map { "nonsense-\($0)" }
        let results = try bench.send([device.token] + bad + [device.token], by: call, n: "at once")
        let word = bench.library.wordAmongMany(for: .invalid)
        let wrong = results.enumerated().filter { at, result in
            let isGood = at == 0 || at == 499
            return (result["name"] is String) != isGood
                || (result["error"] as? String) != (isGood ? nil : word)
        }
        #expect(results.count == 500 && wrong.isEmpty, "\(call): \(wrong.prefix(5))")
        for _ in 0..<2 { #expect(try device.expectMessage { _ in true }["n"] == "at once") }
    }

    /// Subscribes the first two devices, sends to the topic, and unsubscribes them.
    private func subscriptions(
        _ bench: V1Bench, by calls: V1Library.Subscribing, _ devices: [TestDevice], _ outsider: TestDevice,
        _ gone: TestDevice
    ) throws {
        let name = "about_\(calls.subscribe).~-%"
        let tokens = [devices[0].token, "nonsense", devices[1].token, outsider.token, gone.token]
        let reasons =
            calls.isV1
            ? ["INVALID_ARGUMENT", "SENDER_ID_MISMATCH", "UNREGISTERED"]
            : ["INVALID_ARGUMENT", "PERMISSION_DENIED", "NOT_FOUND"]
        // Twice: an existing subscription is not an error.
        for _ in 0..<2 {
            let made = try bench.manage(tokens, topic: name, by: calls.subscribe)
            try check(made, success: 2, faults: zip([1, 3, 4], reasons))
        }
        try topic(name, bench, Array(devices[..<2]), [devices[2]])

        let left = try bench.manage([devices[0].token, "nonsense"], topic: name, by: calls.unsubscribe)
        try check(left, success: 1, faults: zip([1], ["INVALID_ARGUMENT"]))
        let again = try bench.manage([devices[0].token], topic: name, by: calls.unsubscribe)
        try check(again, success: 1, faults: zip([], []))
        try topic(name, bench, [devices[1]], [devices[0], devices[2]])

        // The libraries do not check the length of the name.
        let refused = try bench.manage([devices[0].token], topic: long, by: calls.subscribe)
        if calls.isV1 {
            try check(refused, success: 0, faults: zip([0], ["INVALID_ARGUMENT"]))
        } else {
            #expect(refused["error"] is String && refused["success"] == nil, "\(refused)")
        }
    }

    private func check(
        _ answer: [String: Any], success: Int, faults: Zip2Sequence<[Int], [String]>
    ) throws {
        #expect(answer["success"] as? Int == success, "\(answer)")
        let errors = try #require(answer["errors"] as? [[Any]], "\(answer)")
        #expect(errors.compactMap { $0.first as? Int } == faults.map(\.0), "\(answer)")
        #expect(errors.compactMap { $0.last as? String } == faults.map(\.1), "\(answer)")
    }

    /// Sends to a topic and to its non-subscribers, and expects each message as the next one of its devices.
    private func topic(
        _ name: String, _ bench: V1Bench, _ subscribed: [TestDevice], _ others: [TestDevice]
    ) throws {
        let sent = try bench.send(to: "topic", name, ["data": ["n": "to \(name)"]])
        #expect((sent["name"] as? String)?.contains("/messages/") == true, "\(sent)")
        for device in subscribed { #expect(try device.expectMessage { _ in true }["n"] == "to \(name)") }
        let rest = try bench.send(
            to: "condition", "!('\(name)' in topics)", ["data": ["n": "not to \(name)"]])
        #expect(rest["name"] is String, "\(rest)")
        for device in others { #expect(try device.expectMessage { _ in true }["n"] == "not to \(name)") }
    }

    private func topicRefusals(_ bench: V1Bench) throws {
        let large = ["data": ["n": String(repeating: "x", count: 2_048)]]
        let cases: [(String, String, [String: Any])] = [
            ("topic", long, [:]), ("condition", "'a' in", [:]), ("topic", "news", large),
            ("condition", "'a' in topics", large),
        ]
        for (kind, target, more) in cases {
            let refused = try bench.send(to: kind, target, more)
            #expect(refused["error"] as? String == bench.library.exception(for: .invalid), "\(refused)")
        }
        let accepted = try bench.send(to: "topic", "no-subscribers", ["dry_run": true])
        #expect(accepted["name"] is String, "canary: a valid topic: \(accepted)")
    }

    /// Sends to an installation ID in place of a token.
    private func installations(_ bench: V1Bench) throws {
        let (own, foreign) = ("cGFzc3dvcmQ_aGVsbG8tdw", "dGhlIHNlY29uZCBvZiB0d2")
        _ = try bench.outsider(instance: foreign)
        for (id, fault) in [(own, V1Library.Fault.unregistered), (foreign, .senderMismatch)] {
            let refused = try bench.send(to: "fid", id)
            #expect(refused["error"] as? String == bench.library.exception(for: fault), "\(refused)")
        }
        let device = try bench.device("com.example.installed", instance: own)
        let sent = try bench.send(to: "fid", own, ["data": ["n": "installed"]])
        #expect((sent["name"] as? String)?.contains("/messages/0:") == true, "\(sent)")
        #expect(try device.expectMessage { _ in true }["n"] == "installed")
    }

    /// Expects a refusal when the account is removed, although the library's access token was valid.
    private func removal(_ bench: V1Bench) throws {
        let key = try #require(bench.account["key_id"] as? String)
        _ = try bench.daemon.ctl("service-accounts", "remove", bench.sender, key, "--yes")
        let refused = try bench.send("nonsense")
        switch bench.library {
        case .firebaseAdmin, .firebaseAdmin6:
            // The library requests another token, which is refused.
            #expect(refused["error"] as? String == "RefreshError", "\(refused)")
            #expect((refused["text"] as? String)?.contains("account not found") == true, "\(refused)")
        case .pyfcm: #expect(refused["error"] as? String == "AuthenticationError", "\(refused)")
        case .asyncFirebase: #expect(refused["error"] as? String == "UnauthenticatedError", "\(refused)")
        }
        let words = bench.daemon.words
        #expect(!words.contains("ya29.") && !words.contains("PRIVATE"), "the log contains a secret")
    }

    @Test("a send is refused when the project is another one")
    func project() throws {
        let bench = try V1Bench(.firebaseAdmin, project: "another-project")
        #expect(try bench.send("nonsense")["error"] as? String == "SenderIdMismatchError")
    }

    @Test("canary: the library does not reach the daemon when its host names are not redirected")
    func canary() throws {
        let bench = try V1Bench(.pyfcm, httpsPort: 1)
        let answer = try bench.send("nonsense")
        #expect((answer["text"] as? String)?.contains("Connection refused") == true, "\(answer)")
    }
}
