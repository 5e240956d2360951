import Basics
import Testing

@testable import Delivery

@Suite struct TopicTests {
    private let news: TopicName
    private let sports: TopicName

    init() throws {
        news = try #require(TopicName(bytes("news")))
        sports = try #require(TopicName(path: bytes("/topics/sports%20")))
    }

    private func request(
        _ requestID: UInt32, _ topic: TopicName, number: UInt64 = 1, isEnd: Bool = false,
        token given: SecretDigest = token
    ) -> Event {
        .subscribe(
            TopicRequest(
                requester: Requester(connection: web, requestID: requestID),
                name: RegistrationName(device: device, number: RegistrationNumber(number)), token: given,
                topic: topic, isEnd: isEnd))
    }

    private func register(_ requestID: UInt32, sender: String, subtype: String, instance: String = "")
        -> Event
    {
        .register(
            RegistrationRequest(
                requester: Requester(connection: web, requestID: requestID), device: device, token: token,
                category: bytes("app"), subtype: bytes(subtype), senderText: bytes(sender),
                instance: bytes(instance)))
    }

    private func topics(_ bench: Harness) -> [String] {
        bench.store.subscriptions.map { String(decoding: $0.topic.bytes, as: UTF8.self) }.sorted()
    }

    @Test(
        "A topic name is accepted or refused by its form",
        arguments: [
            ("a", true), ("aA0-_.~%", true), ("", false), ("a/b", false), ("a b", false), ("ä", false),
            (String(repeating: "x", count: 900), true), (String(repeating: "x", count: 901), false),
        ])
    func names(text: String, isName: Bool) {
        #expect((TopicName(bytes(text)) != nil) == isName)
        #expect((TopicName(path: bytes("/topics/" + text)) != nil) == isName)
        #expect(TopicName(path: bytes("topics/" + text)) == nil)
    }

    @Test("A subscription is answered when it is on disk, and not written again when it exists")
    func subscribes() {
        let bench = Harness.withDevice()
        bench.post(request(1, news))
        bench.settle()
        bench.post(request(2, sports))
        bench.post(request(3, sports))
        bench.runTurns()
        bench.post(request(4, sports))
        bench.runTurns()
        #expect(bench.take(web).words == ["unregistered 1"], "nothing is answered before it is on disk")
        bench.settle()
        #expect(bench.take(web).words == ["unregistered 2", "unregistered 3", "unregistered 4"])
        #expect(topics(bench) == ["news", "sports%20"])
        #expect(bench.store.subscriptions.allSatisfy { $0.sender == Harness.sender })
        let batches = bench.durableBatches
        bench.post(request(5, news))
        bench.settle()
        #expect(bench.take(web).words == ["unregistered 5"])
        #expect(bench.durableBatches == batches)
    }

    @Test("Unsubscribing removes a subscription and accepts an unknown one; a restart keeps subscriptions")
    func unsubscribes() {
        let bench = Harness.withDevice()
        bench.post(request(1, news))
        bench.post(request(2, sports))
        bench.settle()
        bench.crash(seed: 3)
        bench.post(request(3, news, isEnd: true))
        bench.post(request(4, news, isEnd: true))
        bench.settle()
        #expect(topics(bench) == ["sports%20"])
        #expect(
            bench.take(web).words == ["unregistered 1", "unregistered 2", "unregistered 3", "unregistered 4"])
    }

    @Test("A subscription is refused with a wrong token, no registration, no sender or a failed batch")
    func refused() {
        let bench = Harness.withDevice()
        bench.post(register(1, sender: "BDOU", subtype: "wp:a"))
        bench.settle()
        bench.post(request(2, news, token: SecretDigest(bytes: [UInt8](repeating: 8, count: 32))))
        bench.post(request(3, news, number: 9))
        bench.post(request(4, news, number: 2))
        bench.runTurns()
        bench.post(request(5, news))
        bench.runTurns()
        bench.apply(bench.partitions[0], failing: true)
        bench.reportOutcome(bench.partitions[0])
        bench.settle()
        #expect(
            bench.take(web).words == [
                "registered 1 2", "AUTHENTICATION_FAILED 2", "UNREGISTERED 3", "INVALID_SENDER 4",
                "SERVICE_NOT_AVAILABLE 5",
            ])
        #expect(topics(bench).isEmpty)
        bench.post(request(6, news))
        bench.settle()
        #expect(topics(bench) == ["news"], "after the failed batch it is made again")
    }

    /// A harness whose device has an endpoint, registration 2, and a token made from it for each of these senders, from 3 on.
    private func benchWithEndpoint(_ senders: SenderID...) throws -> Harness {
        let bench = Harness.withDevice()
        bench.post(register(1, sender: "BDOU", subtype: "wp:a"))
        let keys = try #require(
            WebKeys(
                publicKey: [4] + [UInt8](repeating: 1, count: 64), auth: [UInt8](repeating: 1, count: 16)))
        for sender in senders {
            bench.settle()
            bench.post(
                .registerWeb(
                    WebRegistrationRequest(
                        requester: Requester(connection: web, requestID: 2),
                        endpoint: RegistrationName(device: device, number: RegistrationNumber(2)), keys: keys,
                        project: .sender(sender))))
        }
        bench.settle()
        return bench
    }

    @Test(
        "A token of an endpoint is subscribed itself when a newer one was made for another sender"
    )
    func tokenBeside() throws {
        let bench = try benchWithEndpoint(Harness.sender, Harness.otherSender)
        bench.post(request(3, news, number: 3))
        bench.settle()
        #expect(
            bench.take(web).words == ["registered 1 2", "registered 2 3", "registered 2 4", "unregistered 3"])
        #expect(bench.store.subscriptions.map(\.name.number) == [RegistrationNumber(3)])
        #expect(bench.store.subscriptions.map(\.sender) == [Harness.sender])
        bench.post(
            .token(
                TokenRequest(
                    requester: Requester(connection: appServer, requestID: 4),
                    name: RegistrationName(device: device, number: RegistrationNumber(4)),
                    sender: Harness.sender, action: .describe)))
        bench.settle()
        #expect(bench.take(appServer).words == ["token refused 4 \(TokenRefusal.senderMismatch.rawValue)"])
    }

    @Test("A web app's endpoint resolves to the token that was made from it")
    func endpoint() throws {
        let bench = try benchWithEndpoint(Harness.otherSender)
        bench.post(request(3, news, number: 2))
        bench.settle()
        let made = bench.store.subscriptions.first
        #expect(made?.name.number == RegistrationNumber(3) && made?.sender == Harness.otherSender)
    }

    @Test("The topics of a registration are bounded, and unsubscribing makes room")
    func limit() {
        var settings = DeliverySettings()
        settings.subscriptionsPerRegistration = 1
        let bench = Harness.withDevice(settings: settings)
        bench.post(request(1, news))
        bench.post(request(2, sports))
        bench.post(request(3, news))
        bench.post(request(4, news, isEnd: true))
        bench.post(request(5, sports))
        bench.settle()
        #expect(bench.take(web).words.sorted().first == "TOO_MANY_SUBSCRIBERS 2")
        #expect(topics(bench) == ["sports%20"])
        #expect(DeliverySettings().subscriptionsPerRegistration == 2_000)
    }

    @Test("Subscriptions are removed with their registration or device")
    func removed() {
        let bench = Harness.withDevice()
        bench.post(register(1, sender: "100", subtype: "b", instance: "cGFzc3dvcmQ_aGVsbG8tdw"))
        bench.post(request(2, news))
        bench.settle()
        bench.post(request(3, news, number: 2))
        bench.post(request(4, sports, number: 2))
        bench.settle()
        #expect(bench.store.subscriptions.count == 3)
        #expect(bench.store.installations[bytes("cGFzc3dvcmQ_aGVsbG8tdw")]?.count == 1)
        bench.post(
            .unregister(
                RegistrationRequest(
                    requester: Requester(connection: web, requestID: 5), device: device, token: token,
                    category: bytes("app"), subtype: bytes("b"), senderText: [])))
        bench.settle()
        #expect(topics(bench) == ["news"])
        #expect(bench.store.installations[bytes("cGFzc3dvcmQ_aGVsbG8tdw")]?.isEmpty == true)
        bench.post(.forgetDevice(device, Requester(connection: web, requestID: 6)))
        bench.settle()
        #expect(topics(bench).isEmpty)
    }

    @Test("Packed topics have the same content as a plain list")
    func packed() throws {
        var random = SeededRandom(seed: 11)
        let name = Harness.target
        var packed = SubscriptionSet()
        var plain: [Subscription] = []
        for round in 0..<2_000 {
            let text = String(repeating: "t", count: Int.random(in: 1...300, using: &random) % 9 + 1)
            let topic = try #require(
                TopicName(bytes(round % 97 == 0 ? text + String(repeating: "x", count: 800) : text)))
            let one = Subscription(
                name: name, sender: SenderID(UInt64.random(in: 1...2, using: &random)), topic: topic,
                since: Int64(round))
            #expect(packed.contains(one.sender, topic) == plain.contains { $0.isSame(as: one) })
            if Bool.random(using: &random) {
                packed.insert(one)
                if !plain.contains(where: { $0.isSame(as: one) }) { plain.append(one) }
            } else {
                let at = plain.firstIndex { $0.isSame(as: one) }
                #expect(packed.remove(one.sender, topic, of: name) == at.map { plain.remove(at: $0) })
            }
            #expect(packed.count == plain.count)
        }
        #expect(packed.all(of: name) == plain && !plain.isEmpty)
    }
}

/// Requests that name an installation and no device.
@Suite struct InstallationTests {
    private let fid = bytes("cGFzc3dvcmQ_aGVsbG8tdw")

    private func bench(partitions: Int = 3) -> Harness {
        let bench = Harness.withDevice(partitions: partitions)
        for (requestID, sender, subtype) in [(1, "100", "a"), (2, "200", "b")] as [(UInt32, String, String)] {
            bench.post(
                .register(
                    RegistrationRequest(
                        requester: Requester(connection: web, requestID: requestID), device: device,
                        token: token,
                        category: bytes("app"), subtype: bytes(subtype), senderText: bytes(sender),
                        instance: fid)))
            bench.settle()
        }
        _ = bench.take(web)
        return bench
    }

    private func request(
        _ requestID: UInt32, _ action: InstallationRequest.Action, sender: SenderID? = Harness.sender,
        fid given: [UInt8]? = nil
    ) -> Event {
        .installation(
            InstallationRequest(
                requester: Requester(connection: web, requestID: requestID), installation: given ?? fid,
                sender: sender,
                action: action))
    }

    @Test("An installation request subscribes and unsubscribes the registration with the sender")
    func subscribes() throws {
        let news = try #require(TopicName(bytes("news")))
        let bench = bench()
        bench.post(request(3, .subscribe(news), sender: Harness.otherSender))
        bench.settle()
        let made = bench.store.subscriptions
        #expect(made.map(\.name.number.number) == [3] && made.map(\.sender) == [Harness.otherSender])
        bench.post(request(4, .subscribe(news), sender: nil))
        bench.post(request(5, .subscribe(news), sender: SenderID(300)))
        bench.post(request(6, .subscribe(news), fid: bytes("dGFzc3dvcmQ_aGVsbG8tdw")))
        bench.settle()
        bench.post(request(7, .unsubscribe(news), sender: Harness.otherSender))
        bench.settle()
        #expect(
            bench.take(web).words.sorted() == [
                "UNREGISTERED 5", "UNREGISTERED 6", "unregistered 3", "unregistered 4", "unregistered 7",
            ])
        #expect(bench.store.subscriptions.isEmpty)
    }

    @Test("Removing an installation removes its registrations on every device with its ID")
    func removes() {
        let bench = bench()
        let other = DeviceID(1 << 60 | 77)
        let copy = RegistrationName(device: other, number: RegistrationNumber(1))
        bench.store.records[other] = DeviceRecord(
            device: other, token: token, createdAt: 0, seenAt: 0, nextRegistration: 2)
        bench.store.registrations[copy] = Registration(
            name: copy, category: bytes("app"), subtype: [], senderText: bytes("100"),
            sender: Harness.sender, instance: fid, createdAt: 0)
        bench.store.installations[fid]?.insert(copy)
        bench.post(request(3, .remove))
        bench.settle()
        #expect(bench.take(web).words == ["unregistered 3"])
        #expect(bench.store.registrations.keys.sorted() == [Harness.target])
        #expect(bench.store.installations[fid]?.isEmpty == true)
        bench.post(request(4, .remove))
        bench.settle()
        #expect(bench.take(web).words == ["unregistered 4"])
    }

    private func apple(_ token: String, fresh: UInt64, bundle: String = "com.example.ios")
        -> InstallationRequest.Action
    {
        .apple(
            AppleRegistration(
                bundle: bytes(bundle), token: bytes(token), freshDevice: DeviceID(1 << 60 | fresh),
                freshDigest: hidden))
    }
    private let hidden = SecretDigest(bytes: [UInt8](repeating: 3, count: 32))

    @Test(
        "An Apple app without a device gets one, once; its token is renewed, and it is a normal target"
    )
    func appleApp() throws {
        let bench = bench()
        let other = bytes("dGFzc3dvcmQ_aGVsbG8tdw")
        bench.post(request(3, apple("p_01", fresh: 900), fid: other))
        bench.runTurns()
        #expect(bench.take(web).isEmpty, "nothing is answered before it is on disk")
        bench.settle()
        bench.post(request(4, apple("s_02", fresh: 901), fid: other))
        bench.settle()
        #expect(bench.take(web).words == ["registered 3 1", "registered 4 1"])
        let name = RegistrationName(device: DeviceID(1 << 60 | 900), number: RegistrationNumber(1))
        let made = try #require(bench.store.registrations[name])
        #expect(made.apnsToken == bytes("s_02") && made.category == bytes("com.example.ios"))
        #expect(made.sender == Harness.sender && made.installation == other)
        #expect(bench.store.records[DeviceID(1 << 60 | 901)] == nil)
        let news = try #require(TopicName(bytes("news")))
        bench.post(request(5, .subscribe(news), fid: other))
        bench.settle()
        #expect(bench.store.subscriptions.map(\.name) == [name])
        _ = bench.take(web)
    }

    @Test(
        "An existing registration of the app on the device is linked; an unknown sender is refused"
    )
    func appleKnown() {
        let bench = bench()
        bench.post(request(3, apple("p_01", fresh: 900, bundle: "app")))
        bench.post(
            request(4, apple("p_01", fresh: 902), sender: SenderID(9), fid: bytes("dGFzc3dvcmQ_aGVsbG8tdw")))
        bench.settle()
        #expect(bench.take(web).words.sorted() == ["INVALID_SENDER 4", "registered 3 2"])
        #expect(bench.store.registrations.values.count { $0.apnsToken == bytes("p_01") } == 1)
        #expect(bench.store.records.count == 1)
    }

    @Test("An installation request is refused as unavailable when the store fails or too many requests wait")
    func unavailable() {
        let bench = bench(partitions: 1)
        bench.post(request(3, .remove))
        bench.runTurns()
        bench.read(bench.partitions[0], failing: true)
        bench.reportAnswer(bench.partitions[0])
        bench.settle()
        #expect(bench.take(web).words == ["SERVICE_NOT_AVAILABLE 3"])
        for requestID in 0...UInt32(Limits.Installation.waiting) { bench.post(request(requestID, .remove)) }
        bench.runTurns()
        #expect(bench.take(web).words == ["SERVICE_NOT_AVAILABLE \(Limits.Installation.waiting)"])
    }

    @Test("Only a string in the form of an installation ID is accepted as one")
    func form() throws {
        var registration = try #require(Harness.withDevice().store.registrations[Harness.target])
        #expect(registration.installation == nil)
        registration.instance = fid
        #expect(registration.installation == fid)
        registration.instance[0] = UInt8(ascii: "/")
        #expect(registration.installation == nil)
    }
}
