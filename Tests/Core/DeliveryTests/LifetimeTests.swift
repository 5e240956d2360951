import Basics
import Delivery
import Testing

/// Expiry of devices without contact, and apps that are uninstalled (mcs-device 3.8, 5.3; http 11).
@Suite struct LifetimeTests {
    private static let day: Int64 = 86_400_000

    private func settings(days: Int) -> DeliverySettings {
        var settings = DeliverySettings()
        settings.deviceExpirySeconds = days * 86_400
        settings.unusedDeviceSeconds = 0
        return settings
    }

    /// A device with a registration and two waiting messages; devices expire.
    private func bench(days: Int = 10, partitions: Int = 1) -> Harness {
        let bench = Harness.withDevice(partitions: partitions, settings: settings(days: days))
        bench.submit(1, lifetime: 2_419_200)
        bench.submit(2, lifetime: 2_419_200)
        bench.settle()
        _ = bench.take(appServer)
        return bench
    }

    /// Runs two rounds of the search, since the first one starts at an arbitrary id.
    private func sweep(_ bench: Harness, turns: Int = 4) {
        for _ in 0..<turns {
            bench.advance(milliseconds: Int64(Limits.Device.sweepMilliseconds))
            bench.post(.tick)
            bench.settle()
        }
    }

    private func answer(_ bench: Harness, _ requestID: UInt32) -> String? {
        bench.submit(requestID)
        bench.settle()
        return bench.take(appServer).words.first
    }

    @Test("A device without contact for too long is removed with its data, and its token is not registered")
    func expires() {
        let bench = bench()
        bench.advance(milliseconds: 10 * Self.day - 60_000)
        sweep(bench)
        #expect(bench.store.records[device] != nil, "it stays on its last day")
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

    @Test("An expired device is found in any partition, and again after a restart that lost the removal")
    func restarts() {
        let bench = bench(partitions: 3)
        bench.advance(milliseconds: 11 * Self.day)
        sweep(bench)
        #expect(bench.store.records.isEmpty)
        bench.crash(seed: 99)
        #expect(bench.store.records.count == 1, "the removal is not synced")
        sweep(bench)
        #expect(bench.store.records.isEmpty && bench.store.holds)
    }

    @Test("What is due after a clock for tests was advanced is removed at the next tick, whatever the ids")
    func advanced() {
        var store = FakeStore()
        for number in 0..<32 as Range<UInt64> {
            let id = DeviceID(number << 58 | 5)
            store.records[id] = DeviceRecord(
                device: id, token: token, createdAt: 0, seenAt: 1_700_000_000_000, nextRegistration: 1)
        }
        let bench = Harness(partitions: 4, store: store, settings: settings(days: 10))
        func tick() {
            bench.post(.tick)
            bench.settle()
        }
        tick()
        #expect(bench.store.records.count == 32, "canary: nothing is due")
        bench.advance(milliseconds: 11 * Self.day)
        bench.now.advance += 11 * Self.day
        tick()
        #expect(bench.store.records.isEmpty && bench.store.holds)
    }

    @Test("A login, check-in, registration and the end of a long connection count as contact")
    func contact() {
        let moves: [(String, (Harness) -> Void)] = [
            ("login", { $0.login() }),
            (
                "check-in",
                {
                    $0.post(
                        .checkIn(
                            CheckIn(
                                requester: Requester(connection: web, requestID: 1), claimed: (device, token),
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
                                requester: Requester(connection: web, requestID: 1), device: device,
                                token: token,
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

    @Test("A device does not expire while connected, and its time starts at the end of the connection")
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

    /// A device that was connected for nine days and is being read again after a failed batch.
    private func reading() -> (Harness, PartitionBox) {
        let bench = bench()
        bench.login()
        bench.settle()
        bench.advance(milliseconds: 9 * Self.day)
        bench.submit(3)
        bench.runTurns()
        let partition = bench.partitions[0]
        bench.apply(partition, failing: true)
        bench.reportOutcome(partition)
        bench.runTurns()
        #expect(partition.loads == [.device(device)])
        return (bench, partition)
    }

    /// Expects that the device's last contact reaches the store, and that the device stays for its full time after it.
    private func expectContact(_ bench: Harness, _ name: String) {
        let left = bench.now.wall
        bench.settle()
        bench.advance(milliseconds: 60_000)
        for _ in 0..<2 {
            bench.post(.tick)
            bench.settle()
        }
        #expect(bench.store.records[device]?.seenAt == left, "\(name)")
        #expect(bench.partitions[0].core.figures.pendingLastSeen == 0, "\(name)")
        bench.advance(milliseconds: 9 * Self.day)
        sweep(bench)
        #expect(bench.store.records[device] != nil, "\(name)")
        bench.advance(milliseconds: 2 * Self.day)
        sweep(bench)
        #expect(bench.store.records.isEmpty, "\(name)")
    }

    @Test("A device that disconnects while the store fails has its full time")
    func contactOfFailure() {
        let (leaving, _) = reading()
        leaving.post(.deviceClosed(phone, device))
        leaving.runTurns()
        expectContact(leaving, "it disconnected while it was read")

        let (unread, partition) = reading()
        unread.read(partition, failing: true)
        unread.reportAnswer(partition)
        unread.runTurns()
        #expect(unread.take(phone).words.last == "close store_failed")
        unread.post(.deviceClosed(phone, device))
        expectContact(unread, "it could not be read")

        let written = bench()
        written.login()
        written.settle()
        written.advance(milliseconds: 9 * Self.day)
        written.post(.deviceClosed(phone, device))
        written.runTurns()
        written.apply(written.partitions[0], failing: true)
        written.reportOutcome(written.partitions[0])
        written.runTurns()
        written.settle()
        #expect(written.store.records[device]?.seenAt != written.now.wall, "canary: the write has failed")
        expectContact(written, "its contact could not be written")
    }

    @Test(
        "A last-seen time is written again at the next tick when its write failed, and not for a removed device"
    )
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
            bench.reportOutcome(partition)
            bench.settle()
            #expect(partition.batches.isEmpty, "a failing store is not asked again before the next tick")
            bench.post(.tick)
        }
        bench.settle()
        #expect(bench.store.records[device]?.seenAt == bench.now.wall)
        bench.post(.tick)
        bench.settle()
        #expect(partition.core.figures.pendingLastSeen == 0)

        bench.post(
            .checkIn(
                CheckIn(
                    requester: Requester(connection: web, requestID: 1), claimed: nil,
                    freshDevice: DeviceID(5),
                    freshToken: 1, freshDigest: token, refusesWrongToken: true)))
        bench.runTurns()
        bench.read(partition)
        bench.reportAnswer(partition)
        bench.runTurns()
        bench.apply(partition, failing: true)
        bench.reportOutcome(partition)
        bench.settle()
        #expect(partition.core.figures.pendingLastSeen == 1)
        bench.post(.tick)
        bench.settle()
        #expect(partition.core.figures.pendingLastSeen == 0 && bench.store.records[DeviceID(5)] == nil)
    }

    @Test("A device stays when it came back after the search had found it")
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

    @Test("An expired device stays while one of its messages is being stored, and is removed afterwards")
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

    @Test("Devices never expire when the limit is 0, and a reload changes the limit")
    func never() {
        let bench = bench(days: 0)
        bench.advance(milliseconds: 10_000 * Self.day)
        sweep(bench)
        #expect(bench.store.records[device] != nil)
        #expect(bench.unseenAsked == 0, "the store is not searched without a limit")
        var running = RunningSettings()
        running.deviceExpirySeconds = 86_400
        bench.post(.settingsChanged(running))
        sweep(bench)
        #expect(bench.store.records.isEmpty)
    }

    @Test("A search examines and returns a bounded number per query, and pauses after a round")
    func bounded() {
        let bench = bench()
        for number in 0..<3 * UInt64(Limits.Device.examinedPerSweep) {
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
        // The number of removals per hour is bounded.
        for _ in 0..<60 where !bench.store.records.isEmpty {
            bench.advance(milliseconds: 60_000)
            sweep(bench, turns: 4)
        }
        #expect(bench.store.records.isEmpty)
        // The round is over; the next one starts an hour later.
        let asked = bench.unseenAsked
        sweep(bench, turns: 60)
        #expect(bench.unseenAsked <= asked + 2)
    }

    @Test("A search is repeated when the store cannot answer")
    func failingStore() {
        let bench = bench()
        bench.advance(milliseconds: 11 * Self.day)
        bench.post(.tick)
        bench.runTurns()
        while !bench.partitions[0].loads.isEmpty { bench.read(bench.partitions[0], failing: true) }
        while !bench.partitions[0].answers.isEmpty { bench.reportAnswer(bench.partitions[0]) }
        bench.settle()
        #expect(bench.expiredDevices == 0)
        sweep(bench)
        #expect(bench.expiredDevices == 1)
    }

    @Test("An uninstalled app loses all its tokens and messages on the device, and other apps stay")
    func uninstalled() {
        let bench = bench()
        for (requestID, category, subtype) in [(1, "app", "sub"), (2, "other", "")]
            as [(UInt32, String, String)]
        {
            bench.post(
                .register(
                    RegistrationRequest(
                        requester: Requester(connection: web, requestID: requestID), device: device,
                        token: token,
                        category: bytes(category), subtype: bytes(subtype), senderText: bytes("100"))))
        }
        bench.settle()
        // The request for a removed package names only the app: no sender, no subtype.
        bench.post(
            .unregister(
                RegistrationRequest(
                    requester: Requester(connection: web, requestID: 3), device: device, token: token,
                    category: bytes("app"), subtype: [], senderText: [])))
        bench.settle()
        #expect(bench.take(web).words.last == "unregistered 3")
        #expect(bench.store.registrations.values.map(\.category) == [bytes("other")])
        #expect(bench.store.down.removed == 2 && bench.store.holds)
        #expect(answer(bench, 3) == "nack 3 not_registered")
    }
}

extension Harness {
    /// The number of device searches, answered or not.
    fileprivate var unseenAsked: Int {
        asked.count { if case .unseen = $0 { true } else { false } }
    }
}
