import Client
import ClientProtocol
import Foundation
import Testing
import Wire

/// Credentials, registrations and senders that change while messages wait for Apple, against a mock of Apple.
@Suite("APNs changes", .serialized, .enabled(if: TestPaths.hasPython, "run Scripts/bootstrap --tests first"))
struct APNsChangeTests {
    /// Has messages wait, one for each device, because Apple refuses connections.
    private func waiting(_ count: Int, _ bench: AppleBench) throws -> (devices: [String], tokens: [String]) {
        let devices = (0..<count).map { AppleBench.deviceToken("00", $0) }
        let tokens = try bench.register(devices)
        try bench.apple.refuse(true)
        let answers = try bench.request(tokens.map { AppleBench.legacy($0) }, atOnce: count)
        #expect(answers.allSatisfy { $0.messageID != nil }, "\(answers)")
        return (devices, tokens)
    }

    @Test("messages that wait are sent with the credential that replaces the removed one")
    func replaced() throws {
        let bench = try AppleBench()
        let (devices, tokens) = try waiting(5, bench)
        let key = "REL123DEFG"
        _ = try bench.daemon.ctl(
            "apns", "add", bench.apple.file("AuthKey_\(key).p8"), "--team-id", AppleMock.team)
        let list = try bench.daemon.ctl("apns", "list")["credentials"] as? [[String: Any]]
        #expect(list?.compactMap { $0["credential"] as? String } == [key], "it has replaced the first one")
        try bench.apple.refuse(false)
        try eventually("all are forwarded") { try bench.count("forwarded") == 5 }
        var requests: [[String: Any]] = []
        try eventually("all are logged") {
            requests = devices.flatMap { bench.apple.requests(to: $0) }
            return requests.count >= 5
        }
        #expect(requests.count == 5 && requests.allSatisfy { $0["kid"] as? String == key }, "\(requests)")
        #expect(try bench.send(tokens[0], lifetime: 0).messageID != nil)
    }

    @Test("without a credential, messages that wait stay, and new ones are refused; nothing ends")
    func removed() throws {
        let bench = try AppleBench()
        let (devices, tokens) = try waiting(5, bench)
        _ = try bench.daemon.ctl("apns", "remove", AppleMock.key, "--yes")
        #expect(try bench.send(tokens[0], lifetime: 0).word != nil)
        try bench.apple.refuse(false)
        let fresh = try bench.register([AppleBench.deviceToken("01")])[0]
        #expect(try bench.send(fresh).word == "InvalidApnsCredential")
        #expect(try bench.sendV1(fresh).code == "401 THIRD_PARTY_AUTH_ERROR")
        #expect(try bench.count("pending") == 5 && bench.feedback().items.isEmpty)
        #expect(devices.allSatisfy { bench.apple.requests(to: $0).isEmpty })
        try bench.restart()
        try bench.addKey()
        // What was found without a credential waits for a minute.
        try eventually("all are forwarded") { try bench.count("forwarded") == 5 }
        #expect(try bench.send(fresh).messageID != nil)
    }

    @Test("a registration that a 410 has ended revives when the app registers again, not by an import")
    func revived() throws {
        let bench = try AppleBench()
        let phone = try TestDevice(bench.daemon, sender: bench.sender.id)
        // The mock's 410 has the time of the digits, which is after the registration.
        let time = String(Int(Date().timeIntervalSince1970) + 3_600, radix: 16)
        let device = AppleBench.deviceToken("7700" + time)
        let token = try bench.report(device, by: phone)
        try bench.apple.control(
            "POST", "/rule", ["prefix": "77", "status": 410, "reason": "Unregistered", "times": 1])
        #expect(try bench.send(token).word == "NotRegistered")
        #expect(try bench.send(token).word == "NotRegistered", "Apple is not asked again")
        #expect(try bench.feedback().items.count == 1)
        #expect(try bench.register([device]) == [token])
        #expect(try bench.send(token).word == "NotRegistered", "an app server cannot know that the app lives")
        #expect(try bench.report(device, by: phone) == token && bench.feedback().items.isEmpty)
        #expect(try bench.send(token).messageID != nil)
        try bench.restart()
        #expect(try bench.send(token).messageID != nil && bench.feedback().items.isEmpty)
        // What Apple accepted just before the daemon was killed may be sent again, with the same ID.
        func sent(_ status: Int) -> Set<String> {
            let requests = bench.apple.requests(to: device).filter { $0["status"] as? Int == status }
            return Set(requests.compactMap { $0["apns_id"] as? String })
        }
        try eventually("all are logged") { sent(200).count == 2 }
        #expect(sent(410).count == 1 && sent(200).isDisjoint(with: sent(410)))
    }

    @Test("a sender that is removed takes its messages for Apple along; other senders go on")
    func senderRemoved() throws {
        let bench = try AppleBench()
        let (devices, _) = try waiting(5, bench)
        _ = try bench.daemon.ctl("senders", "remove", bench.sender.id, "--yes")
        try bench.apple.refuse(false)
        let audit = try bench.daemon.ctl("audit")
        #expect(audit["holds"] as? Bool == true, "\(audit)")
        try bench.restart()
        let after = try bench.daemon.ctl("audit")
        #expect(after["holds"] as? Bool == true, "\(after)")
        // Nothing of a removed sender is sent again and again.
        for device in devices { #expect(bench.apple.requests(to: device).count <= 1) }
    }

    @Test("a now-or-never message whose connection is lost is sent once more, with the same ID")
    func again() throws {
        let bench = try AppleBench()
        let devices = ["00", "aa", "bb"].map { AppleBench.deviceToken($0) }
        let tokens = try bench.register(devices)
        #expect(try bench.send(tokens[0]).messageID != nil)
        for (prefix, times) in [("aa", 1), ("bb", 3)] {
            try bench.apple.control("POST", "/rule", ["prefix": prefix, "action": "60a2", "times": times])
        }
        #expect(try bench.send(tokens[1], lifetime: 0).messageID != nil)
        #expect(try bench.send(tokens[2], lifetime: 0).word == "Unavailable")
        try eventually("all are logged") { bench.apple.requests(to: devices[2]).count == 2 }
        for device in devices[1...] {
            let requests = bench.apple.requests(to: device)
            let ids = Set(requests.compactMap { $0["apns_id"] as? String })
            #expect(requests.count == 2 && ids.count == 1, "\(requests)")
        }
    }

    @Test("a drain waits for the answers of Apple, so that nothing is sent twice")
    func drain() throws {
        let bench = try AppleBench()
        let devices = (0..<5).map { AppleBench.deviceToken("d1a08000", $0) }
        let tokens = try bench.register(devices)
        // A new connection has one stream, until Apple has answered on it.
        #expect(try bench.send(bench.register([AppleBench.deviceToken("00")])[0]).messageID != nil)
        // Apple answers after 8 seconds; the app server waits 5 seconds.
        let answers = try bench.request(tokens.map { AppleBench.legacy($0) }, atOnce: 5)
        #expect(answers.allSatisfy { $0.messageID != nil }, "\(answers)")
        #expect(try bench.count("pending") == 5, "canary: Apple has not answered")
        try bench.restart(by: SIGTERM)
        #expect(try bench.count("forwarded") == 6 && bench.count("pending") == 0)
        #expect(devices.allSatisfy { bench.apple.requests(to: $0).count == 1 })
    }

    @Test("headers and payload of v1 reach Apple; the end of a Live Activity is not that of the registration")
    func overrides() throws {
        let bench = try AppleBench()
        let device = AppleBench.deviceToken("00")
        let expiry = String(Int(Date().timeIntervalSince1970) + 86_400)
        let activity =
            "0410" + String(Int(Date().timeIntervalSince1970) + 3_600, radix: 16)
            + "ac" + String(repeating: "0", count: 118)
        let token = try bench.register([device])[0]
        func send(_ apns: [String: Any]) throws -> AppleBench.Answer {
            let message: [String: Any] = [
                "token": token, "notification": ["title": "t", "body": "b"], "data": ["k": "v"], "apns": apns,
            ]
            let path = "/v1/projects/\(bench.sender.id)/messages:send"
            return try #require(try bench.request([["POST", path, ["message": message]]]).first)
        }
        let alert = try send([
            "headers": ["apns-priority": "5", "apns-collapse-id": "c", "apns-expiration": expiry],
            "payload": ["aps": ["alert": ["body": "other"], "badge": 3], "k": ["n": 1]] as [String: Any],
        ])
        #expect(alert.messageID != nil, "\(alert)")
        try eventually("the request is logged") { bench.apple.requests(to: device).count == 1 }
        let request = bench.apple.requests(to: device)[0]
        #expect(request["priority"] as? String == "5" && request["collapse_id"] as? String == "c")
        #expect(request["expiration"] as? String == expiry && request["lint"] == nil, "\(request)")
        let payload = try #require(request["payload"] as? [String: Any])
        let aps: [String: Any] = ["alert": ["title": "t", "body": "other"], "badge": 3]
        #expect(NSDictionary(dictionary: aps).isEqual(payload["aps"]), "\(payload)")
        #expect((payload["k"] as? [String: Any])?["n"] as? Int == 1)
        let ended = try send([
            "live_activity_token": activity,
            "payload": [
                "aps": [
                    "event": "update", "timestamp": 1_900_000_000, "content-state": ["x": 1],
                ] as [String: Any]
            ],
        ])
        #expect(ended.code == "400 INVALID_ARGUMENT" && ended.verdict == "410 Unregistered", "\(ended)")
        try eventually("the update is logged") { bench.apple.requests(to: activity).count == 1 }
        let update = bench.apple.requests(to: activity)[0]
        #expect(update["push_type"] as? String == "liveactivity", "\(update)")
        #expect(update["topic"] as? String == "\(AppleMock.bundle).push-type.liveactivity")
        #expect(try bench.feedback().items.isEmpty && bench.sendV1(token).messageID != nil)
    }
}
