import Basics
import Delivery
import Testing

/// Submissions that are entitled by a key, not an account.
@Suite struct WebPushTests {
    private static let key = [4] + [UInt8](repeating: 3, count: 64)
    private static let endpoint = RegistrationName(device: device, number: RegistrationNumber(2))

    /// A harness whose device has registration 1 for a sender ID and registration 2 for a key.
    private func bench(settings: DeliverySettings = DeliverySettings()) -> Harness {
        let bench = Harness.withDevice(settings: settings)
        bench.post(
            .register(
                RegistrationRequest(
                    requester: Requester(connection: web, requestID: 1), device: device, token: token,
                    category: bytes("org.chromium.linux"), subtype: bytes("wp:a#1"),
                    senderText: bytes(Base64.text(Self.key, urlSafe: true, padded: false)),
                    instance: bytes("one"))))
        bench.settle()
        _ = bench.take(web)
        return bench
    }

    private func push(
        _ requestID: UInt32, to name: RegistrationName = endpoint, key: [UInt8] = key, lifetime: Int = 3_600
    ) -> Event {
        var submission = Harness.submission(requestID, lifetime: lifetime, to: name)
        submission.content.messageID = []
        submission.entitlement = .webPush(key: key)
        return .submitted(submission)
    }

    @Test("A push is acknowledged once it is on disk, and delivered from the key")
    func delivered() throws {
        let bench = bench()
        bench.login()
        bench.settle()
        _ = bench.take(phone)
        bench.post(push(5))
        bench.runTurns()
        #expect(bench.take(appServer).isEmpty, "nothing is answered before it is on disk")
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 5"])
        let delivery = try #require(bench.take(phone).compactMap(\.delivery).first)
        #expect(delivery.from == bytes(Base64.text(Self.key, urlSafe: true, padded: false)))
        #expect(delivery.web == nil && delivery.message.body == bytes("body 5"))
    }

    @Test("A push with a server key reaches the endpoint of its sender alone, and no newer registration")
    func account() throws {
        let bench = bench()
        func push(_ requestID: UInt32, _ sender: SenderID, to name: RegistrationName) -> [String] {
            var submission = Harness.submission(requestID, to: name)
            submission.entitlement = .webPushAccount(sender)
            bench.post(.submitted(submission))
            bench.settle()
            return bench.take(appServer).words
        }
        #expect(push(5, Harness.sender, to: Harness.target) == ["ack 5"])
        #expect(push(6, Harness.otherSender, to: Harness.target) == ["nack 6 sender_mismatch"])
        #expect(push(7, Harness.sender, to: Self.endpoint) == ["nack 7 sender_mismatch"], "it has a key")
        let keys = try #require(WebKeys(publicKey: Self.key, auth: [UInt8](repeating: 2, count: 16)))
        bench.post(
            .registerWeb(
                WebRegistrationRequest(
                    requester: Requester(connection: web, requestID: 2), endpoint: Self.endpoint, keys: keys,
                    project: .sender(Harness.sender), instance: [], renewed: nil)))
        bench.settle()
        let made = bench.take(web).compactMap { command in
            if case .reply(_, .registered(let token)) = command { token.registration } else { nil }
        }
        let encrypted = try #require(made.first)
        #expect(push(8, Harness.sender, to: encrypted) == ["nack 8 invalid_token"])
    }

    @Test("A push is refused while a web app of the same endpoint belongs to a suspended sender")
    func suspended() throws {
        let bench = bench()
        let keys = try #require(WebKeys(publicKey: Self.key, auth: [UInt8](repeating: 2, count: 16)))
        bench.post(
            .registerWeb(
                WebRegistrationRequest(
                    requester: Requester(connection: web, requestID: 2), endpoint: Self.endpoint, keys: keys,
                    project: .sender(Harness.sender), instance: [], renewed: nil)))
        bench.settle()
        _ = bench.take(web)
        for (position, answer) in [(1, "ack 5"), (0, "nack 5 sender_suspended")] {
            var records = Harness.senders
            records[position].isSuspended = true
            bench.post(.senders(SenderDirectory(records)))
            bench.post(push(5))
            bench.settle()
            #expect(bench.take(appServer).words == [answer], "the other sender has no web app")
        }
    }

    @Test("A push without a lifetime is answered at once, whether or not the device is connected")
    func passing() {
        let bench = bench()
        bench.post(push(5, lifetime: 0))
        bench.runTurns()
        #expect(bench.take(appServer).words == ["ack 5"])
        bench.settle()
        #expect((bench.store.messages[device] ?? []).isEmpty)
    }

    /// Canary: a peer that has a token but not its key must be refused.
    @Test(
        "A push is refused with another key, for a sender ID's registration, one with keys, or an unregistered one"
    )
    func refused() throws {
        let bench = bench()
        bench.post(push(5, key: [4] + [UInt8](repeating: 4, count: 64)))
        bench.post(push(6, to: Harness.target))
        let keys = try #require(
            WebKeys(publicKey: Self.key, auth: [UInt8](repeating: 1, count: 16)))
        bench.post(
            .registerWeb(
                WebRegistrationRequest(
                    requester: Requester(connection: web, requestID: 2), endpoint: Self.endpoint, keys: keys,
                    project: .sender(Harness.sender))))
        bench.settle()
        let encrypted = RegistrationName(device: device, number: RegistrationNumber(3))
        bench.post(push(7, to: encrypted))
        bench.post(push(8, to: RegistrationName(device: device, number: RegistrationNumber(9))))
        // An account cannot use an endpoint of a key either.
        bench.post(.submitted(Harness.submission(9, to: Self.endpoint)))
        bench.settle()
        #expect(
            bench.take(appServer).words == [
                "nack 5 sender_mismatch", "nack 6 sender_mismatch", "nack 7 invalid_token",
                "nack 8 not_registered", "nack 9 sender_mismatch",
            ])
        #expect((bench.store.messages[device] ?? []).isEmpty)
    }

    @Test("A newer instance of the app does not get a push encrypted for the older one")
    func replaced() throws {
        let bench = bench()
        bench.post(
            .register(
                RegistrationRequest(
                    requester: Requester(connection: web, requestID: 3), device: device, token: token,
                    category: bytes("org.chromium.linux"), subtype: bytes("wp:a#1"),
                    senderText: bytes(Base64.text(Self.key, urlSafe: true, padded: false)),
                    instance: bytes("two"))))
        bench.settle()
        bench.post(push(5))
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 5"])
        #expect(bench.store.messages[device]?.map(\.registration) == [Self.endpoint.number])
    }
}
