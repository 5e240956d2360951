import Basics
import Delivery
import Testing

/// Corner cases of rules where planted faults went undetected before (Scripts/mutate).
@Suite struct EdgeTests {
    @Test("A lifetime of more than four weeks is cut to four weeks")
    func lifetime() {
        let bench = Harness.withDevice()
        bench.submit(1, lifetime: Limits.Message.lifetimeSeconds)
        bench.submit(2, lifetime: Limits.Message.lifetimeSeconds + 1)
        bench.settle()
        let ends = bench.store.messages[device]?.map(\.expiresAt) ?? []
        let end = bench.now.wall + Int64(Limits.Message.lifetimeSeconds) * 1_000
        #expect(ends == [end, end])
    }

    @Test("The caps do not apply to a device that is connected but slow")
    func slowDevice() {
        let bench = Harness.withDevice()
        bench.login()
        bench.settle()
        bench.post(.deviceCongested(phone, device))
        for requestID in 1...150 as ClosedRange<UInt32> { bench.submit(requestID) }
        bench.settle()
        #expect(bench.store.down.discarded == 0 && bench.store.downPending == 150)
    }

    @Test("An acknowledgement counts only for a message that was sent")
    func acknowledgedUnsent() {
        let bench = Harness.withDevice()
        bench.login()
        bench.settle()
        bench.post(.deviceCongested(phone, device))
        bench.submit(1)
        bench.settle()
        let sequences = bench.store.messages[device]?.map(\.sequence) ?? []
        #expect(sequences.count == 1)
        bench.post(.deviceAcknowledged(phone, device, sequences))
        bench.settle()
        #expect(bench.store.downPending == 1)
    }

    @Test("A message is delivered again at the next login when its receipt cannot be stored")
    func receiptRefusedOffline() {
        let bench = Harness.withDevice()
        bench.bindAppServer()
        bench.login()
        bench.submit(1, receipt: true)
        bench.settle()
        let sequences = bench.take(phone).compactMap(\.delivery?.message.sequence)
        bench.post(.deviceAcknowledged(phone, device, sequences))
        bench.runTurns()
        bench.post(.deviceClosed(phone, device))
        bench.runTurns()
        bench.apply(bench.partitions[0], failing: true)
        bench.reportOutcome(bench.partitions[0])
        bench.settle()
        bench.login(connection(20))
        bench.settle()
        #expect(bench.take(connection(20)).words.contains("deliver m1"))
    }

    @Test("An expired message that is only in the store is removed unless a batch is outstanding")
    func expiredUnknown() {
        let bench = Harness.withDevice()
        bench.submit(1)
        bench.settle()
        guard var stray = bench.store.messages[device]?.first else {
            Issue.record("nothing stored")
            return
        }
        stray.sequence = SequenceNumber(stray.sequence.number - 1)
        bench.store.messages[device]?.insert(stray, at: 0)
        let expired = Event.expired(.message(device, stray.sequence, expiresAt: stray.expiresAt))
        bench.submit(2)
        bench.runTurns()
        bench.post(expired)
        bench.settle()
        #expect(bench.store.messages[device]?.count == 3, "a batch is outstanding")
        bench.post(expired)
        bench.settle()
        #expect(bench.store.messages[device]?.count == 2)
    }

    @Test("The last-seen time is written at most once an hour")
    func seen() {
        let bench = Harness.withDevice()
        bench.store.records[device]?.seenAt = bench.now.wall - 3_599_000
        bench.login()
        bench.settle()
        #expect(bench.store.records[device]?.seenAt == bench.now.wall - 3_599_000)
        bench.now.wall += 1_000
        bench.login(connection(20))
        bench.settle()
        #expect(bench.store.records[device]?.seenAt == bench.now.wall)
    }

    @Test("A server key is refused from its expiry on")
    func keyEnds() {
        let record = SenderRecord(
            sender: Harness.sender, label: "",
            keys: [ServerKey(digest: Harness.key, createdAt: 0, expiresAt: 1_000)], createdAt: 0)
        let directory = SenderDirectory([record])
        #expect(directory.check(Harness.sender, key: Harness.key, at: 999) == nil)
        #expect(directory.check(Harness.sender, key: Harness.key, at: 1_000) == .expiredCredentials)
    }

    @Test("Uncommitted changes of earlier turns count against the limit")
    func overloadOverTurns() {
        var settings = DeliverySettings()
        settings.waitingWrites = 3
        let bench = Harness.withDevice(settings: settings)
        bench.submit(1, lifetime: 0)
        bench.settle()
        _ = bench.take(appServer)
        for requestID in 2...6 as ClosedRange<UInt32> {
            bench.submit(requestID)
            bench.runTurns()
        }
        #expect(bench.take(appServer).words == ["nack 5 unavailable", "nack 6 unavailable"])
    }

    @Test("A registration is confirmed at once when its batch is committed before an older one")
    func answeredOutOfOrder() {
        let bench = Harness.withDevice()
        func register(_ requestID: UInt32, _ category: String) {
            bench.post(
                .register(
                    RegistrationRequest(
                        requester: Requester(connection: web, requestID: requestID), device: device,
                        token: token,
                        category: bytes(category), subtype: [], senderText: bytes("100"))))
        }
        bench.submit(1)
        bench.settle()
        register(1, "one")
        bench.runTurns()
        register(2, "two")
        bench.runTurns()
        let partition = bench.partitions[0]
        bench.apply(partition)
        bench.apply(partition)
        partition.outcomes.swapAt(0, 1)
        bench.reportOutcome(partition)
        bench.runTurns()
        #expect(bench.take(web).words == ["registered 2 3"])
        register(3, "two")
        bench.runTurns()
        #expect(bench.take(web).words == ["registered 3 3"])
    }

    @Test("Exactly the configured number of idle devices stays in memory")
    func idleDevices() {
        var settings = DeliverySettings()
        settings.idleDevicesInMemory = 3
        let bench = Harness.withDevice(settings: settings)
        for number in 500..<520 as Range<UInt64> {
            let nobody = RegistrationName(device: DeviceID(number), number: RegistrationNumber(1))
            bench.post(.submitted(Harness.submission(1, to: nobody)))
        }
        bench.settle()
        #expect(bench.partitions[0].core.figures.devices == 3)
    }

    @Test(
        "A device that disconnects while a page is read is evicted when the read succeeds or fails",
        arguments: [true, false])
    func leftWhileRead(hasFailed: Bool) {
        var settings = DeliverySettings()
        settings.idleDevicesInMemory = 0
        let bench = Harness.withDevice(settings: settings)
        let partition = bench.partitions[0]
        bench.submit(1)
        bench.settle()
        bench.login()
        bench.runTurns()
        bench.read(partition)
        bench.reportAnswer(partition)
        // Up to the read of a page, which is answered after the device has disconnected.
        while partition.loads.isEmpty, !bench.isQuiet {
            bench.runTurns()
            bench.apply(partition)
            bench.reportOutcome(partition)
        }
        #expect(partition.loads.count == 1 && partition.core.figures.connectedDevices == 1)
        bench.post(.deviceClosed(phone, device))
        bench.runTurns()
        bench.read(partition, failing: hasFailed)
        bench.reportAnswer(partition)
        bench.settle()
        #expect(partition.core.figures.devices == 0)
    }

    @Test("A removal that no peer waits for causes no sync")
    func lazyRemoval() {
        let bench = Harness.withDevice()
        bench.login()
        bench.submit(1)
        bench.settle()
        let durable = bench.durableBatches
        let sequences = bench.take(phone).compactMap(\.delivery?.message.sequence)
        bench.post(.deviceAcknowledged(phone, device, sequences))
        bench.settle()
        #expect(bench.store.downPending == 0 && bench.durableBatches == durable)
    }

    @Test("No page is read for a message that is not on disk yet")
    func nothingToRead() {
        let bench = Harness.withDevice()
        bench.login()
        bench.submit(1)
        bench.settle()
        bench.post(.deviceCongested(phone, device))
        bench.submit(2)
        bench.runTurns()
        bench.post(.deviceWritable(phone, device))
        bench.runTurns()
        #expect(bench.partitions[0].loads.isEmpty)
        bench.settle()
        #expect(bench.take(phone).words.filter { $0.hasPrefix("deliver") } == ["deliver m1", "deliver m2"])
    }

    @Test("A throttled message is checked against the rate again at the next login")
    func heldAtLogin() {
        var settings = DeliverySettings()
        settings.rates.collapsible = Rate(1, perSeconds: 60)
        let bench = Harness.withDevice(settings: settings)
        bench.login()
        bench.submit(1, key: "a")
        bench.submit(2, key: "b")
        bench.settle()
        #expect(bench.take(phone).words.filter { $0.hasPrefix("deliver") } == ["deliver m1"])
        bench.advance(milliseconds: 60_000)
        bench.login(connection(20))
        bench.settle()
        #expect(
            bench.take(connection(20)).words.filter { $0.hasPrefix("deliver") }
                == ["deliver m1", "deliver m2"])
    }

    @Test("Canary: a message that was sent can be acknowledged")
    func canary() {
        let bench = Harness.withDevice()
        bench.login()
        bench.submit(1)
        bench.settle()
        let sequences = bench.store.messages[device]?.map(\.sequence) ?? []
        bench.post(.deviceAcknowledged(phone, device, sequences))
        bench.settle()
        #expect(bench.store.downPending == 0)
    }
}
