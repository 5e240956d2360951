import Basics
import Foundation
import Testing

/// firebase-admin, pyfcm 2 and async-firebase, unchanged, with a key file from ccsctl and their host names redirected
/// (http 8, 9, 12 rows c20 to c23).
///
/// A library takes seconds to start: one test shows all of what each does with one daemon.
@Suite(
    "Libraries of HTTP v1", .serialized,
    .enabled(if: Places.hasPython && Places.hasPythonV1, "run Scripts/bootstrap --tests first"))
struct V1LibraryTests {
    /// A name of a topic that is too long by one.
    private let long = String(repeating: "t", count: Limits.Topic.nameBytes + 1)

    @Test(
        "what it sends is received, refusals are its exceptions, topics work", arguments: V1Library.allCases)
    func wholeLife(library: V1Library) throws {
        let bench = try V1Bench(library)
        let devices = try ["a", "b", "c"].map { try bench.device("com.example.\($0)") }
        let (stranger, gone) = (try bench.stranger(), try bench.device())
        #expect(try bench.send(gone.token)["name"] is String, "the canary: this one can be reached")
        try gone.unregister(bench.daemon)

        try sends(bench, to: devices[0])
        try refusals(bench, device: devices[0], stranger, gone)
        for call in library.callsForMany {
            try many(bench, by: call, devices, stranger, gone)
        }
        try atOnce(bench, to: devices[0])
        for calls in library.callsForTopics {
            try subscriptions(bench, by: calls, devices, stranger, gone)
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
        // The next one, so that the dry run has not been delivered.
        #expect(try device.expectMessage { _ in true }["n"] == odd)
    }

    private func refusals(
        _ bench: V1Bench, device: TestDevice, _ stranger: TestDevice, _ gone: TestDevice
    ) throws {
        let library = bench.library
        let bad = try bench.send("nonsense")
        #expect(bad["error"] as? String == library.exception(for: .invalid), "\(bad)")
        #expect(
            (bad["text"] as? String)?.contains(
                "The registration token is not a valid FCM registration token") == true, "\(bad)")
        let foreign = try bench.send(stranger.token)
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
        _ bench: V1Bench, by call: String, _ devices: [TestDevice], _ stranger: TestDevice,
        _ gone: TestDevice
    ) throws {
        let tokens = [
            devices[0].token, "nonsense", devices[1].token, stranger.token, gone.token, devices[0].token,
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

    /// As many messages as a call takes: one request to `/batch`, or so many at once on one connection of HTTP/2.
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

    /// The first two subscribe, hear of the topic, and leave it again.
    private func subscriptions(
        _ bench: V1Bench, by calls: V1Library.Subscribing, _ devices: [TestDevice], _ stranger: TestDevice,
        _ gone: TestDevice
    ) throws {
        let name = "about_\(calls.subscribe).~-%"
        let tokens = [devices[0].token, "nonsense", devices[1].token, stranger.token, gone.token]
        let reasons =
            calls.isV1
            ? ["INVALID_ARGUMENT", "SENDER_ID_MISMATCH", "UNREGISTERED"]
            : ["INVALID_ARGUMENT", "PERMISSION_DENIED", "NOT_FOUND"]
        // Twice: a subscription that is there is no fault.
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

        // Longer than a name may be, which the libraries do not look at.
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

    /// A message to a topic, and one to whoever has not subscribed to it: the next that each gets.
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
        let unheard = try bench.send(to: "topic", "nobody", ["dry_run": true])
        #expect(unheard["name"] is String, "the canary: a topic that can be sent to: \(unheard)")
    }

    /// The id of an installation in place of a token.
    private func installations(_ bench: V1Bench) throws {
        let (own, foreign) = ("cGFzc3dvcmQ_aGVsbG8tdw", "dGhlIHNlY29uZCBvZiB0d2")
        _ = try bench.stranger(instance: foreign)
        for (id, fault) in [(own, V1Library.Fault.unregistered), (foreign, .senderMismatch)] {
            let refused = try bench.send(to: "fid", id)
            #expect(refused["error"] as? String == bench.library.exception(for: fault), "\(refused)")
        }
        let device = try bench.device("com.example.installed", instance: own)
        let sent = try bench.send(to: "fid", own, ["data": ["n": "installed"]])
        #expect((sent["name"] as? String)?.contains("/messages/0:") == true, "\(sent)")
        #expect(try device.expectMessage { _ in true }["n"] == "installed")
    }

    /// An account that is removed is refused, though the access token that the library has was good.
    private func removal(_ bench: V1Bench) throws {
        let key = try #require(bench.account["key_id"] as? String)
        _ = try bench.daemon.ctl("service-accounts", "remove", bench.sender, key)
        let refused = try bench.send("nonsense")
        switch bench.library {
        case .firebaseAdmin, .firebaseAdmin6:
            // It asks for another token, which is not granted.
            #expect(refused["error"] as? String == "RefreshError", "\(refused)")
            #expect((refused["text"] as? String)?.contains("account not found") == true, "\(refused)")
        case .pyfcm: #expect(refused["error"] as? String == "AuthenticationError", "\(refused)")
        case .asyncFirebase: #expect(refused["error"] as? String == "UnauthenticatedError", "\(refused)")
        }
        let words = bench.daemon.words
        #expect(!words.contains("ya29.") && !words.contains("PRIVATE"), "nothing secret is logged")
    }

    @Test("another project is refused")
    func project() throws {
        let bench = try V1Bench(.firebaseAdmin, project: "somebody-else")
        #expect(try bench.send("nonsense")["error"] as? String == "SenderIdMismatchError")
    }

    @Test("canary: without the redirection nothing reaches us")
    func canary() throws {
        let bench = try V1Bench(.pyfcm, httpsPort: 1)
        let answer = try bench.send("nonsense")
        #expect((answer["text"] as? String)?.contains("Connection refused") == true, "\(answer)")
    }
}
