import Basics
import Testing

@testable import Delivery

/// App servers cancel their own messages alone, by an ID that the mailbox in memory does not have.
@Suite struct OwnerCancelTests {
    private static let own = Harness.sender

    private static func left(_ bench: Harness) -> [[UInt8]] {
        (bench.store.messages[device] ?? []).map(\.messageID)
    }

    /// A device with two apps of one sender and one of another; the second and third are registrations 2 and 3.
    private static func severalApps() -> Harness {
        let bench = Harness.withDevice()
        for (number, app, sender) in [(2, "second", own), (3, "third", Harness.otherSender)] {
            let name = name(UInt64(number))
            bench.store.registrations[name] = Registration(
                name: name, category: bytes(app), subtype: [], senderText: bytes("\(sender.number)"),
                sender: sender, createdAt: 0)
        }
        return bench
    }

    private static func name(_ number: UInt64) -> RegistrationName {
        RegistrationName(device: device, number: RegistrationNumber(number))
    }

    private static func submit(
        _ bench: Harness, _ id: UInt32, to number: UInt64 = 1, from sender: SenderID = own
    ) {
        var submission = Harness.submission(id, to: name(number))
        submission.entitlement = .account(sender)
        bench.post(.submitted(submission))
        bench.settle()
    }

    @Test("all waiting messages with the ID are cancelled, and no others")
    func several() {
        let bench = Harness.withDevice()
        for id in [1, 2, 1] as [UInt32] { Self.submit(bench, id) }
        bench.cancel("m1", sender: Self.own)
        bench.cancel("m", sender: Self.own)
        bench.cancel("m11", sender: Self.own)
        bench.settle()
        #expect(bench.take(web).words.sorted() == ["cancelled 9 0 0", "cancelled 9 0 0", "cancelled 9 2 0"])
        #expect(Self.left(bench) == [bytes("m2")] && bench.store.down.removed == 2 && bench.store.holds)
        bench.cancel("m1", sender: Self.own)
        bench.settle()
        #expect(bench.take(web).words == ["cancelled 9 0 0"], "twice")
    }

    @Test("the message of another sender is as unknown as one that does not exist, by either ID")
    func foreign() {
        let bench = Self.severalApps()
        Self.submit(bench, 1, to: 3, from: Harness.otherSender)
        let name = bench.store.messages[device]?.first?.persistentID.text ?? ""
        for target in [1, 2, 3] as [UInt64] {
            for id in ["m1", name, "m2", "0:1%00"] {
                bench.cancel(id, sender: Self.own, of: Self.name(target))
                bench.settle()
                #expect(bench.take(web).words == ["cancelled 9 0 0"], "\(id) of \(target)")
            }
        }
        #expect(Self.left(bench) == [bytes("m1")])
        bench.cancel(name, sender: Harness.otherSender, of: Self.name(3))
        bench.settle()
        #expect(bench.take(web).words == ["cancelled 9 1 0"], "canary")
    }

    @Test("a token that allows two senders lets neither cancel the other's message")
    func shared() {
        let bench = Harness.withDevice()
        bench.store.registrations[Harness.target] = Registration(
            name: Harness.target, category: bytes("app"), subtype: [], senderText: bytes("100,200"),
            sender: Self.own, createdAt: 0)
        bench.store.registrations[Harness.target]?.otherSenders = [Harness.otherSender]
        Self.submit(bench, 1)
        Self.submit(bench, 1, from: Harness.otherSender)
        bench.cancel("m1", sender: Harness.otherSender)
        bench.settle()
        #expect(bench.take(web).words == ["cancelled 9 1 0"])
        #expect(bench.store.messages[device]?.map(\.sender) == [Self.own])
    }

    @Test(
        "the message of another app of the device stays, and one that a newer token of the app has got is cancelled"
    )
    func apps() {
        let bench = Self.severalApps()
        Self.submit(bench, 1)
        bench.cancel("m1", sender: Self.own, of: Self.name(2))
        bench.settle()
        #expect(bench.take(web).words == ["cancelled 9 0 0"])
        #expect(Self.left(bench) == [bytes("m1")])
        let other = Self.severalApps()
        other.store.registrations[Self.name(2)]?.category = bytes("app")
        other.store.registrations[Self.name(2)]?.instance = bytes("newer")
        other.store.registrations[Self.name(2)]?.createdAt = other.now.wall
        Self.submit(other, 2)
        #expect(other.store.messages[device]?.last?.registration == RegistrationNumber(2), "canary")
        other.cancel("m2", sender: Self.own, of: Self.name(3))
        other.settle()
        other.cancel("m2", sender: Self.own)
        other.settle()
        #expect(other.take(web).words == ["cancelled 9 0 0", "cancelled 9 1 0"])
    }

    @Test("a delivered, an expired and a replaced message are unknown")
    func ended() {
        let bench = Harness.withDevice()
        bench.submit(1)
        bench.submit(2, key: "k")
        bench.submit(3, key: "k")
        bench.submit(4, lifetime: 1)
        bench.settle()
        bench.login()
        bench.settle()
        let sent = bench.take(phone).compactMap(\.delivery?.message.sequence)
        bench.post(.deviceAcknowledged(phone, device, sent))
        bench.settle()
        bench.post(.deviceClosed(phone, device))
        bench.submit(5, lifetime: 1)
        bench.settle()
        bench.advance(milliseconds: 10_000)
        bench.crash(seed: 3)
        bench.settle()
        for id in ["m1", "m2", "m3", "m4", "m5", ""] {
            bench.cancel(id, sender: Self.own)
            bench.settle()
            #expect(bench.take(web).words == ["cancelled 9 0 0"], "\(id)")
        }
    }

    @Test("a device or a registration that does not exist has no message")
    func nowhere() {
        let bench = Harness.withDevice()
        Self.submit(bench, 1)
        bench.cancel("m1", sender: Self.own, of: Self.name(9))
        bench.cancel(
            "m1", sender: Self.own,
            of: RegistrationName(device: DeviceID(4_711), number: RegistrationNumber(1)))
        bench.settle()
        #expect(bench.take(web).words == ["cancelled 9 0 0", "cancelled 9 0 0"])
    }

    @Test("what the store cannot find is refused, and so is one search too many")
    func unread() {
        let bench = Harness.withDevice()
        Self.submit(bench, 1)
        bench.cancel("m1", sender: Self.own)
        bench.runTurns()
        bench.read(bench.partitions[0], failing: true)
        bench.reportAnswer(bench.partitions[0])
        bench.settle()
        #expect(bench.take(web).words == ["SERVICE_NOT_AVAILABLE 9"])
        for _ in 0...Limits.Message.lookups { bench.cancel("m1", sender: Self.own) }
        bench.runTurns()
        #expect(bench.take(web).words == ["SERVICE_NOT_AVAILABLE 9"])
        bench.settle()
        let words = bench.take(web).words
        #expect(words.count == Limits.Message.lookups && words.count { $0 == "cancelled 9 1 0" } == 1)
    }

    @Test("a message that is sent while the store searches for it is not cancelled")
    func race() {
        let bench = Harness.withDevice()
        Self.submit(bench, 1)
        bench.cancel("m1", sender: Self.own)
        bench.runTurns()
        let partition = bench.partitions[0]
        bench.read(partition)
        bench.login()
        bench.runTurns()
        while !partition.batches.isEmpty || !partition.loads.isEmpty {
            bench.apply(partition)
            bench.reportOutcome(partition)
            bench.read(partition)
            // The answer about the page comes first.
            if partition.answers.count > 1 { partition.answers.swapAt(0, 1) }
            bench.reportAnswer(partition)
            bench.runTurns()
        }
        bench.settle()
        #expect(bench.take(web).words == ["cancelled 9 0 1"])
        #expect(bench.take(phone).compactMap(\.delivery).count == 1)
    }

    @Test(
        "a request counts as a message for the rates of the device and of the sender; an operator's does not")
    func rates() {
        for isOfDevice in [true, false] {
            var settings = DeliverySettings()
            let two = Rate(2, perSeconds: 60)
            if isOfDevice { settings.rates.deviceShort = two } else { settings.rates.sender = two }
            let bench = Harness.withDevice(settings: settings)
            for _ in 0..<3 { bench.cancel("m1", sender: Self.own) }
            bench.cancel("m1")
            bench.settle()
            #expect(
                bench.take(web).words
                    == [
                        "cancelled 9 0 0", "cancelled 9 0 0", "SERVICE_NOT_AVAILABLE 9", "cancelled 9 0 0",
                    ])
        }
    }
}
