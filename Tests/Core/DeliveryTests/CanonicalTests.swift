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

    @Test("Canary: a repeated request without an instance gets the same registration, and replaces no token")
    func canary() {
        let bench = Harness.withDevice()
        #expect(register(bench, request(1, subtype: "s")) == 2)
        #expect(register(bench, request(2, subtype: "s")) == 2)
        #expect(send(bench, 3, to: 2) == ("ack 3", nil))
    }
}
