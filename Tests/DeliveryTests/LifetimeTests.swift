import Basics
import Delivery
import Testing

/// Devices that nobody hears of any more, and apps that are gone (mcs-device 3.8, 5.3; http 11).
@Suite struct LifetimeTests {
    private static let day: Int64 = 86_400_000

    private func settings(days: Int) -> DeliverySettings {
        var settings = DeliverySettings()
        settings.deviceExpirySeconds = days * 86_400
        settings.unusedDeviceSeconds = 0
        return settings
    }

    /// A device with a registration and two messages that wait, in a world where devices expire.
    private func bench(days: Int = 10, partitions: Int = 1) -> Harness {
        let bench = Harness.withDevice(partitions: partitions, settings: settings(days: days))
        bench.submit(1, lifetime: 2_419_200)
        bench.submit(2, lifetime: 2_419_200)
        bench.settle()
        _ = bench.take(appServer)
        return bench
    }

    /// Lets the search go round: twice, since the first round begins anywhere.
    private func sweep(_ bench: Harness, turns: Int = 4) {
        for _ in 0..<turns {
            bench.advance(milliseconds: Int64(Limits.Device.sweepMilliseconds))
            bench.post(.tick)
            bench.settle()
        }
    }

    private func answer(_ bench: Harness, _ ticket: UInt32) -> String? {
        bench.submit(ticket)
        bench.settle()
        return bench.take(appServer).words.first
    }

    @Test("A device away for too long goes with all it had, and its token is not registered any more")
    func expires() {
        let bench = bench()
        bench.advance(milliseconds: 10 * Self.day - 60_000)
        sweep(bench)
        #expect(bench.store.records[device] != nil, "on its last day it stays")
        bench.advance(milliseconds: Int64(Limits.Device.sweepPauseSeconds) * 1_000)
        sweep(bench)
        #expect(bench.store.records.isEmpty && bench.store.registrations.isEmpty)
        #expect(bench.store.downPending == 0 && bench.store.down.removed == 2 && bench.store.holds)
        #expect(bench.down.removed == 2 && bench.expiredDevices == 1)
        #expect(answer(bench, 3) == "nack 3 not_registered")
        bench.login()
        bench.settle()
        #expect(bench.take(phone).words == ["login refused wrong_credentials"])
        sweep(bench, turns: 50)
        #expect(bench.expiredDevices == 1)
    }

    @Test("It is found whichever partition owns it, and after a restart that lost the removal")
    func restarts() {
        let bench = bench(partitions: 3)
        bench.advance(milliseconds: 11 * Self.day)
        sweep(bench)
        #expect(bench.store.records.isEmpty)
        bench.crash(seed: 99)
        #expect(bench.store.records.count == 1, "nobody waited for it to be on disk")
        sweep(bench)
        #expect(bench.store.records.isEmpty && bench.store.holds)
    }

    @Test("Login, check-in, registration and the end of a long connection count as contact")
    func contact() {
        let moves: [(String, (Harness) -> Void)] = [
            ("login", { $0.login() }),
            (
                "check-in",
                {
                    $0.post(
                        .checkIn(
                            CheckIn(
                                origin: Origin(connection: web, ticket: 1), claimed: (device, token),
                                freshDevice: DeviceID(5), freshToken: 1, freshDigest: token,
                                refusesWrongToken: true)))
                }
            ),
            (
                "registration",
                {
                    $0.post(
                        .register(
                            RegistrationRequest(
                                origin: Origin(connection: web, ticket: 1), device: device, token: token,
                                category: bytes("app"), subtype: [], senderText: bytes("100"))))
                }
            ),
        ]
        for (name, move) in moves {
            let bench = bench()
            bench.advance(milliseconds: 9 * Self.day)
            move(bench)
            bench.settle()
            bench.post(.deviceClosed(phone, device))
            bench.settle()
            bench.advance(milliseconds: 9 * Self.day)
            sweep(bench)
            #expect(bench.store.records[device] != nil, "\(name)")
            bench.advance(milliseconds: 2 * Self.day)
            sweep(bench)
            #expect(bench.store.records.isEmpty, "\(name)")
        }
    }

    @Test("A connected device never expires, and its time runs from the end of the connection")
    func connected() {
        let bench = bench()
        bench.login()
        bench.settle()
        for _ in 0..<5 {
            bench.advance(milliseconds: 9 * Self.day)
            sweep(bench)
        }
        #expect(bench.store.records[device] != nil && bench.expiredDevices == 0)
        bench.advance(milliseconds: 9 * Self.day)
        bench.post(.deviceClosed(phone, device))
        bench.settle()
        #expect(bench.store.records[device]?.seenAt == bench.now.wall)
        bench.advance(milliseconds: 9 * Self.day)
        sweep(bench)
        #expect(bench.store.records[device] != nil)
    }

    /// A device that was connected for nine days, while a batch of it fails: it is being read again.
    private func reading() -> (Harness, PartitionBox) {
        let bench = bench()
        bench.login()
        bench.settle()
        bench.advance(milliseconds: 9 * Self.day)
        bench.submit(3)
        bench.runTurns()
        let partition = bench.partitions[0]
        bench.apply(partition, failing: true)
        bench.tellOutcome(partition)
        bench.runTurns()
        #expect(partition.loads == [.device(device)])
        return (bench, partition)
    }

    /// Whether the store comes to know that the device was here until now, and the device lives as long as that gives it.
    private func expectContact(_ bench: Harness, _ name: String) {
        let left = bench.now.wall
        bench.settle()
        bench.advance(milliseconds: 60_000)
        for _ in 0..<2 {
            bench.post(.tick)
            bench.settle()
        }
        #expect(bench.store.records[device]?.seenAt == left, "\(name)")
        #expect(bench.partitions[0].core.figures.unwrittenContacts == 0, "\(name)")
        bench.advance(milliseconds: 9 * Self.day)
        sweep(bench)
        #expect(bench.store.records[device] != nil, "\(name)")
        bench.advance(milliseconds: 2 * Self.day)
        sweep(bench)
        #expect(bench.store.records.isEmpty, "\(name)")
    }

    @Test("One that leaves while the store fails has its full time")
    func contactOfFailure() {
        let (leaving, _) = reading()
        leaving.post(.deviceClosed(phone, device))
        leaving.runTurns()
        expectContact(leaving, "left while it was read")

        let (unread, partition) = reading()
        unread.read(partition, failing: true)
        unread.tellAnswer(partition)
        unread.runTurns()
        #expect(unread.take(phone).words.last == "close store_failed")
        unread.post(.deviceClosed(phone, device))
        expectContact(unread, "could not be read")

        let written = bench()
        written.login()
        written.settle()
        written.advance(milliseconds: 9 * Self.day)
        written.post(.deviceClosed(phone, device))
        written.runTurns()
        written.apply(written.partitions[0], failing: true)
        written.tellOutcome(written.partitions[0])
        written.runTurns()
        written.settle()
        #expect(written.store.records[device]?.seenAt != written.now.wall, "canary: the write has failed")
        expectContact(written, "could not be written")
    }

    @Test("What fails again is written again, at a tick and not before; one that is gone needs nothing")
    func contactAgain() {
        let bench = bench()
        bench.login()
        bench.settle()
        bench.advance(milliseconds: 9 * Self.day)
        bench.post(.deviceClosed(phone, device))
        let partition = bench.partitions[0]
        for _ in 0..<3 {
            bench.runTurns()
            #expect(partition.batches.count == 1)
            bench.apply(partition, failing: true)
            bench.tellOutcome(partition)
            bench.settle()
            #expect(partition.batches.isEmpty, "a store that fails is left alone until the next tick")
            bench.post(.tick)
        }
        bench.settle()
        #expect(bench.store.records[device]?.seenAt == bench.now.wall)
        bench.post(.tick)
        bench.settle()
        #expect(partition.core.figures.unwrittenContacts == 0)

        bench.post(
            .checkIn(
                CheckIn(
                    origin: Origin(connection: web, ticket: 1), claimed: nil, freshDevice: DeviceID(5),
                    freshToken: 1, freshDigest: token, refusesWrongToken: true)))
        bench.runTurns()
        bench.read(partition)
        bench.tellAnswer(partition)
        bench.runTurns()
        bench.apply(partition, failing: true)
        bench.tellOutcome(partition)
        bench.settle()
        #expect(partition.core.figures.unwrittenContacts == 1)
        bench.post(.tick)
        bench.settle()
        #expect(partition.core.figures.unwrittenContacts == 0 && bench.store.records[DeviceID(5)] == nil)
    }

    @Test("One that came back after the store had named it stays")
    func race() {
        let bench = bench()
        bench.advance(milliseconds: 11 * Self.day)
        bench.login()
        bench.settle()
        bench.post(.deviceClosed(phone, device))
        bench.post(.unseen(device))
        bench.settle()
        #expect(bench.store.records[device] != nil && bench.expiredDevices == 0)
    }

    @Test("A device away for too long stays when a message of it is on its way to the store, and goes after")
    func sending() {
        let bench = bench()
        bench.advance(milliseconds: 11 * Self.day)
        bench.post(.upstreamReceived(Harness.upstream(1)))
        bench.runTurns()
        #expect(bench.partitions[0].batches.count == 1 && bench.take(phone).isEmpty, "it is not stored yet")
        bench.post(.unseen(device))
        bench.settle()
        #expect(bench.store.records[device] != nil && bench.expiredDevices == 0)
        #expect(bench.take(phone).words == ["stored 1"])
        bench.post(.unseen(device))
        bench.settle()
        #expect(bench.store.records[device] == nil && bench.expiredDevices == 1)
    }

    @Test("Zero is for ever, and a reload changes it")
    func never() {
        let bench = bench(days: 0)
        bench.advance(milliseconds: 10_000 * Self.day)
        sweep(bench)
        #expect(bench.store.records[device] != nil)
        #expect(bench.unseenAsked == 0, "nothing is asked for nothing")
        var running = RunningSettings()
        running.deviceExpirySeconds = 86_400
        bench.post(.settingsChanged(running))
        sweep(bench)
        #expect(bench.store.records.isEmpty)
    }

    @Test("A search looks at so many and takes so many, one question at a time, and rests after a round")
    func bounded() {
        let bench = bench()
        for number in 0..<3 * UInt64(Limits.Device.perSweep) {
            let other = DeviceID(1 << 40 + number)
            bench.store.records[other] = DeviceRecord(
                device: other, token: token, createdAt: 0, seenAt: bench.now.wall, nextRegistration: 1)
        }
        bench.advance(milliseconds: 11 * Self.day)
        bench.advance(milliseconds: Int64(Limits.Device.sweepMilliseconds))
        for _ in 0..<3 {
            bench.post(.tick)
            bench.runTurns()
        }
        #expect(bench.unseenAsked == 1)
        bench.settle()
        sweep(bench)
        #expect((1...4 * Limits.Device.expiredPerSweep + 1).contains(bench.expiredDevices))
        // So many go in an hour, whatever is found.
        for _ in 0..<60 where !bench.store.records.isEmpty {
            bench.advance(milliseconds: 60_000)
            sweep(bench, turns: 4)
        }
        #expect(bench.store.records.isEmpty)
        // The round is over; the next one is an hour away.
        let asked = bench.unseenAsked
        sweep(bench, turns: 60)
        #expect(bench.unseenAsked <= asked + 2)
    }

    @Test("A store that cannot answer is asked again")
    func failingStore() {
        let bench = bench()
        bench.advance(milliseconds: 11 * Self.day)
        bench.post(.tick)
        bench.runTurns()
        while !bench.partitions[0].loads.isEmpty { bench.read(bench.partitions[0], failing: true) }
        while !bench.partitions[0].answers.isEmpty { bench.tellAnswer(bench.partitions[0]) }
        bench.settle()
        #expect(bench.expiredDevices == 0)
        sweep(bench)
        #expect(bench.expiredDevices == 1)
    }

    @Test("An app that is uninstalled loses every token on the device; its messages go, other apps stay")
    func uninstalled() {
        let bench = bench()
        for (ticket, category, subtype) in [(1, "app", "sub"), (2, "other", "")] as [(UInt32, String, String)]
        {
            bench.post(
                .register(
                    RegistrationRequest(
                        origin: Origin(connection: web, ticket: ticket), device: device, token: token,
                        category: bytes(category), subtype: bytes(subtype), senderText: bytes("100"))))
        }
        bench.settle()
        // What is said of a removed package names the app alone: no sender, no subtype.
        bench.post(
            .unregister(
                RegistrationRequest(
                    origin: Origin(connection: web, ticket: 3), device: device, token: token,
                    category: bytes("app"), subtype: [], senderText: [])))
        bench.settle()
        #expect(bench.take(web).words.last == "unregistered 3")
        #expect(bench.store.registrations.values.map(\.category) == [bytes("other")])
        #expect(bench.store.down.removed == 2 && bench.store.holds)
        #expect(answer(bench, 3) == "nack 3 not_registered")
    }
}

extension Harness {
    /// Searches for unseen devices that wait for an answer or were answered.
    fileprivate var unseenAsked: Int {
        asked.count { if case .unseen = $0 { true } else { false } }
    }
}
