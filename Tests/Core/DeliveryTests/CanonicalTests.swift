import Basics
import Delivery
import Testing

/// Tokens for several senders, and tokens that a newer token of the same app has replaced (ccs-xmpp 6).
@Suite struct CanonicalTests {
    private func request(
        _ requestID: UInt32, sender: String = "100", subtype: String = "", instance: String = ""
    ) -> RegistrationRequest {
        RegistrationRequest(
            requester: Requester(connection: web, requestID: requestID), device: device, token: token,
            category: bytes("app"), subtype: bytes(subtype), senderText: bytes(sender),
            instance: bytes(instance))
    }

    private func name(_ number: UInt64) -> RegistrationName {
        RegistrationName(device: device, number: RegistrationNumber(number))
    }

    /// Registers and returns the number of the registration.
    private func register(_ bench: Harness, _ request: RegistrationRequest) -> UInt64? {
        bench.post(.register(request))
        bench.settle()
        if case .reply(_, .registered(let token))? = bench.take(web).first {
            return token.registration.number.number
        }
        return nil
    }

    /// Sends to a registration. Returns the answer, and the number of the registration that replaced it, if any.
    private func send(
        _ bench: Harness, _ requestID: UInt32, to number: UInt64, from sender: SenderID = Harness.sender,
        lifetime: Int = 3_600
    ) -> (word: String, canonical: UInt64?) {
        var submission = Harness.submission(requestID, lifetime: lifetime, to: name(number))
        submission.entitlement = .account(sender)
        bench.post(.submitted(submission))
        bench.settle()
        let answer = bench.take(appServer).first
        if case .submission(_, .accepted(_, let canonical))? = answer {
            return ("ack \(requestID)", canonical?.registration.number.number)
        }
        return (answer?.word ?? "", nil)
    }

    @Test(
        "A token for several senders accepts messages of each of them, and the frame names the one that sent")
    func severalSenders() {
        let bench = Harness.withDevice()
        #expect(register(bench, request(1, sender: "7,200,100")) == 2)
        bench.login()
        bench.settle()
        _ = bench.take(phone)
        #expect(send(bench, 1, to: 2).word == "ack 1")
        #expect(send(bench, 2, to: 2, from: Harness.otherSender).word == "ack 2")
        #expect(send(bench, 3, to: 2, from: SenderID(8)).word == "nack 3 sender_mismatch")
        #expect(
            bench.take(phone).compactMap(\.delivery).map { String(decoding: $0.from, as: UTF8.self) }
                == ["100", "200"])
        bench.post(.upstreamReceived(Harness.upstream(9, sender: Harness.otherSender)))
        bench.settle()
        #expect(bench.take(phone).words == ["stored 9"], "the app may also send to each of them")
    }

    @Test("A registration keeps 100 senders through a restart, and is refused with 101")
    func hundredSenders() {
        let bench = Harness.withDevice()
        let list = (100...199).map(String.init).joined(separator: ",")
        #expect(register(bench, request(1, sender: list)) == 2)
        bench.crash(seed: 5)
        #expect(send(bench, 1, to: 2, from: SenderID(199)).word == "ack 1")
        bench.post(.register(request(2, sender: list + ",200")))
        bench.settle()
        #expect(bench.take(web).words == ["INVALID_PARAMETERS 2"])
    }

    @Test(
        "A replaced token delivers to the new token and returns it when a new instance of the app has registered"
    )
    func refreshed() {
        let bench = Harness.withDevice()
        #expect(register(bench, request(1, subtype: "s", instance: "one")) == 2)
        #expect(
            register(bench, request(2, subtype: "s", instance: "one")) == 2,
            "the same instance gets the same token")
        #expect(send(bench, 1, to: 2) == ("ack 1", nil))
        #expect(register(bench, request(3, subtype: "s", instance: "two")) == 3)
        #expect(send(bench, 2, to: 2) == ("ack 2", 3))
        #expect(send(bench, 3, to: 2, lifetime: 0) == ("ack 3", 3))
        #expect(send(bench, 4, to: 3) == ("ack 4", nil))
        bench.login()
        bench.settle()
        let delivered = bench.take(phone).compactMap(\.delivery)
        #expect(delivered.map(\.message.messageID) == [bytes("m1"), bytes("m2"), bytes("m4")])
        #expect(delivered.map(\.message.registration.number) == [2, 3, 3])
        #expect(
            register(bench, request(5, subtype: "s")) == 3,
            "a request without an instance gets the newest token")
        bench.crash(seed: 8)
        #expect(send(bench, 6, to: 2) == ("ack 6", 3), "the replacement survives a restart")
    }

    @Test("A registration replaces no other when the sender list or subtype differs")
    func notReplaced() {
        let bench = Harness.withDevice()
        #expect(
            register(bench, request(1, instance: "one")) == 1,
            "a registration without an instance was made first")
        #expect(register(bench, request(2, subtype: "a", instance: "one")) == 2)
        #expect(register(bench, request(3, sender: "100,200", subtype: "a", instance: "two")) == 3)
        #expect(register(bench, request(4, subtype: "b", instance: "two")) == 4)
        for number in 1...4 as ClosedRange<UInt64> {
            #expect(send(bench, UInt32(number), to: number) == ("ack \(number)", nil))
        }
    }

    @Test("The last two replaced tokens work for four weeks, then they are not registered")
    func endsOfReplaced() {
        let bench = Harness.withDevice()
        for number in 2...5 as ClosedRange<UInt32> {
            #expect(register(bench, request(number, subtype: "s", instance: "i\(number)")) == UInt64(number))
        }
        #expect(send(bench, 1, to: 2).word == "nack 1 not_registered")
        #expect(send(bench, 2, to: 3) == ("ack 2", 5))
        bench.advance(milliseconds: Int64(Limits.Registration.replacedSeconds) * 1_000)
        #expect(send(bench, 3, to: 3).word == "nack 3 not_registered")
        #expect(send(bench, 4, to: 5) == ("ack 4", nil))
    }

    @Test("A replacement is not reported before it is on disk")
    func notOnDisk() {
        let bench = Harness.withDevice()
        #expect(register(bench, request(1, subtype: "s", instance: "one")) == 2)
        bench.post(.register(request(2, subtype: "s", instance: "two")))
        bench.runTurns()
        bench.post(.submitted(Harness.submission(3, lifetime: 0, to: name(2))))
        bench.runTurns()
        guard case .submission(3, .accepted(_, let canonical))? = bench.take(appServer).first else {
            Issue.record("no answer")
            return
        }
        #expect(canonical == nil)
        bench.apply(bench.partitions[0], failing: true)
        bench.reportOutcome(bench.partitions[0])
        bench.settle()
        #expect(send(bench, 4, to: 2) == ("ack 4", nil))
    }

    // MARK: Subscriptions

    /// An app server's request about the token of a registration.
    private func topic(
        _ requestID: UInt32, _ action: (TopicName) -> TokenRequest.Action, number: UInt64
    ) throws -> Event {
        .token(
            TokenRequest(
                requester: Requester(connection: appServer, requestID: requestID), name: name(number),
                sender: Harness.sender, action: action(try #require(TopicName(bytes("news"))))))
    }

    /// The numbers of the registrations that subscribe to a topic.
    private func subscribers(_ bench: Harness) -> [UInt64] {
        bench.store.subscriptions.map(\.name.number.number).sorted()
    }

    /// A harness with the registrations 1 of an app without instance and 2 of another app's instance, both subscribed to a topic.
    private func benchWithSubscriber() throws -> Harness {
        let bench = Harness.withDevice()
        #expect(register(bench, request(1, subtype: "s", instance: "one")) == 2)
        for number in 1...2 as ClosedRange<UInt64> {
            bench.post(try topic(UInt32(number), { .subscribe($0) }, number: number))
            bench.settle()
        }
        #expect(bench.take(appServer).words.count == 2)
        #expect(subscribers(bench) == [1, 2])
        return bench
    }

    @Test("A new instance ends the subscriptions of the one that it replaces, and of no other, in its batch")
    func endsSubscriptions() throws {
        let bench = try benchWithSubscriber()
        bench.post(.register(request(2, subtype: "s", instance: "two")))
        bench.runTurns()
        bench.apply(bench.partitions[0], failing: true)
        bench.reportOutcome(bench.partitions[0])
        bench.settle()
        #expect(bench.take(web).words == ["SERVICE_NOT_AVAILABLE 2"])
        #expect(subscribers(bench) == [1, 2], "a registration that failed has replaced nothing")
        #expect(register(bench, request(3, subtype: "s", instance: "two")) == 3)
        #expect(subscribers(bench) == [1])
        bench.crash(seed: 4)
        #expect(register(bench, request(4, instance: "two")) == 1, "the first app had named no instance")
        #expect(subscribers(bench) == [1])
    }

    @Test("A replaced token subscribes the one that has replaced it, also before that is on disk")
    func subscribesReplacement() throws {
        let bench = try benchWithSubscriber()
        bench.post(.register(request(2, subtype: "s", instance: "two")))
        bench.runTurns()
        bench.post(try topic(3, { .subscribe($0) }, number: 2))
        bench.runTurns()
        #expect(bench.take(appServer).isEmpty, "nothing is answered before the replacement is on disk")
        bench.settle()
        #expect(bench.take(appServer).words == ["token known 3 3 false news"])
        #expect(subscribers(bench) == [1, 3])
        bench.post(try topic(4, { _ in .describe }, number: 2))
        bench.post(try topic(5, { .unsubscribe($0) }, number: 2))
        bench.settle()
        #expect(bench.take(appServer).words == ["token known 4 3 false news", "token known 5 3 true news"])
        #expect(subscribers(bench) == [1])
        bench.post(
            .subscribe(
                TopicRequest(
                    requester: Requester(connection: web, requestID: 6), name: name(2), token: token,
                    topic: try #require(TopicName(bytes("news"))), isEnd: false)))
        bench.settle()
        #expect(subscribers(bench) == [1, 3], "as does the device with the old token")
    }

    @Test("A subscription with the old token fails with the batch of the one that replaces it")
    func failedReplacement() throws {
        let bench = try benchWithSubscriber()
        bench.post(.register(request(2, subtype: "s", instance: "two")))
        bench.runTurns()
        bench.post(try topic(3, { .subscribe($0) }, number: 2))
        bench.runTurns()
        bench.apply(bench.partitions[0], failing: true)
        bench.reportOutcome(bench.partitions[0])
        bench.settle()
        #expect(bench.take(appServer).words == ["token refused 3 unavailable"])
        #expect(subscribers(bench) == [1, 2])
    }

    @Test("A token that was replaced four weeks ago subscribes nothing")
    func replacedLongAgo() throws {
        let bench = try benchWithSubscriber()
        #expect(register(bench, request(3, subtype: "s", instance: "two")) == 3)
        bench.advance(milliseconds: Int64(Limits.Registration.replacedSeconds) * 1_000)
        bench.post(try topic(4, { .subscribe($0) }, number: 2))
        bench.settle()
        #expect(bench.take(appServer).words == ["token refused 4 not_registered"])
        #expect(subscribers(bench) == [1])
    }

    @Test("An installation that was replaced changes no subscription of the one that replaced it")
    func replacedInstallation() throws {
        let (old, new) = ("cGFzc3dvcmQ_aGVsbG8tdw", "dGFzc3dvcmQ_aGVsbG8tdw")
        let bench = Harness.withDevice()
        #expect(register(bench, request(1, subtype: "s", instance: old)) == 2)
        #expect(register(bench, request(2, subtype: "s", instance: new)) == 3)
        let news = try #require(TopicName(bytes("news")))
        for (requestID, id) in [(3, old), (4, new)] as [(UInt32, String)] {
            bench.post(
                .installation(
                    InstallationRequest(
                        requester: Requester(connection: web, requestID: requestID), installation: bytes(id),
                        sender: Harness.sender, action: .subscribe(news))))
            bench.settle()
        }
        #expect(bench.take(web).words == ["UNREGISTERED 3", "unregistered 4"])
        #expect(subscribers(bench) == [3])
        bench.post(
            .installation(
                InstallationRequest(
                    requester: Requester(connection: appServer, requestID: 5), installation: bytes(old),
                    sender: Harness.sender, action: .address(.describe))))
        bench.settle()
        #expect(
            bench.take(appServer).words == ["token known 5 3 false news"],
            "an app server proves its own right, and addresses the new one by the old")
    }

    @Test("An import subscribes what has replaced a registration")
    func imported() throws {
        let bench = try benchWithSubscriber()
        #expect(register(bench, request(3, subtype: "s", instance: "two")) == 3)
        var rows = DeviceImport(
            requester: Requester(connection: web, requestID: 4), device: device, replaces: false)
        rows.subscriptions = [
            Subscription(
                name: name(2), sender: Harness.sender, topic: try #require(TopicName(bytes("news"))),
                since: 9)
        ]
        bench.post(.imported(rows))
        bench.settle()
        #expect(bench.take(web).words == ["imported 4 added"])
        #expect(subscribers(bench) == [1, 3])
    }

    // MARK: Unregistering

    @Test(
        "An instance ends its registration and those that it has replaced, and not one that has replaced it",
        arguments: [("one", [1, 3]), ("two", [1]), ("", [1]), ("three", [1, 2, 3])] as [(String, [UInt64])])
    func unregisters(instance: String, left: [UInt64]) {
        let bench = Harness.withDevice()
        #expect(register(bench, request(1, subtype: "s", instance: "one")) == 2)
        #expect(register(bench, request(2, subtype: "s", instance: "two")) == 3)
        bench.post(.unregister(request(3, sender: "*", subtype: "s", instance: instance)))
        bench.settle()
        #expect(bench.take(web).words == ["unregistered 3"])
        #expect(bench.store.registrations.keys.map(\.number.number).sorted() == left)
    }

    @Test("Canary: a repeated request without an instance gets the same registration, and replaces no token")
    func canary() {
        let bench = Harness.withDevice()
        #expect(register(bench, request(1, subtype: "s")) == 2)
        #expect(register(bench, request(2, subtype: "s")) == 2)
        #expect(send(bench, 3, to: 2) == ("ack 3", nil))
    }
}
