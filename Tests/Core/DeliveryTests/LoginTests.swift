import Basics
import Delivery
import Testing

@Suite struct LoginTests {
    @Test("A login gets the same answer when the device is unknown as when its token is wrong")
    func wrongCredentials() {
        let bench = Harness.withDevice()
        let wrong = SecretDigest(bytes: [UInt8](repeating: 8, count: 32))
        bench.post(
            .deviceLogin(DeviceLogin(connection: phone, device: device, token: wrong, received: [])))
        bench.post(
            .deviceLogin(
                DeviceLogin(connection: web, device: DeviceID(77), token: token, received: [])))
        bench.settle()
        #expect(bench.take(phone).words == ["login refused wrong_credentials"])
        #expect(bench.take(web).words == ["login refused wrong_credentials"])
    }

    @Test("A login is accepted when the messages that it reports as received are removed from disk")
    func receivedFirst() {
        let bench = Harness.withDevice()
        for requestID in 1...3 as ClosedRange<UInt32> { bench.submit(requestID) }
        bench.settle()
        bench.login()
        bench.settle()
        var ids = bench.take(phone).compactMap { $0.delivery?.message.persistentID }
        #expect(ids.count == 3)
        ids[1].salt ^= 1
        let next = connection(10)
        let durable = bench.durableBatches
        bench.login(next, received: ids)
        bench.runTurns()
        #expect(bench.take(phone).words == ["close replaced_by_newer_login"])
        #expect(bench.take(next).isEmpty, "the store has not answered yet")
        #expect(bench.durableBatches == durable + 1)
        bench.settle()
        #expect(bench.take(next).words == ["device login accepted", "deliver m2", "report when writable"])
        #expect(bench.store.down.delivered == 2)
    }

    @Test("The mailbox is delivered page by page, then new messages are delivered at once")
    func pages() {
        var settings = DeliverySettings()
        settings.mailboxPage = 3
        let bench = Harness.withDevice(settings: settings)
        for requestID in 1...7 as ClosedRange<UInt32> { bench.submit(requestID) }
        bench.settle()
        bench.login()
        bench.settle()
        let first = bench.take(phone).words
        #expect(
            first == [
                "device login accepted", "deliver m1", "deliver m2", "deliver m3", "report when writable",
            ])
        bench.submit(8)
        bench.settle()
        #expect(bench.take(phone).isEmpty, "it waits for the earlier page")
        bench.post(.deviceWritable(phone, device))
        bench.settle()
        #expect(
            bench.take(phone).words == ["deliver m4", "deliver m5", "deliver m6", "report when writable"])
        bench.post(.deviceWritable(phone, device))
        bench.settle()
        #expect(bench.take(phone).words == ["deliver m7", "deliver m8", "report when writable"])
        bench.post(.deviceWritable(phone, device))
        bench.submit(9)
        bench.settle()
        #expect(bench.take(phone).words == ["deliver m9"])
    }

    @Test("A congested device is sent nothing until it is writable, and misses nothing")
    func congestion() {
        let bench = Harness.withDevice()
        bench.login()
        bench.settle()
        bench.submit(1)
        bench.settle()
        bench.post(.deviceCongested(phone, device))
        bench.submit(2)
        bench.submit(3)
        bench.settle()
        #expect(bench.take(phone).words == ["device login accepted", "deliver m1"])
        bench.post(.deviceWritable(phone, device))
        bench.settle()
        #expect(bench.take(phone).words == ["deliver m2", "deliver m3", "report when writable"])
    }

    @Test(
        "A newer login replaces the connection, receives unacknowledged messages, and the old one is ignored")
    func replaced() {
        let bench = Harness.withDevice()
        bench.login()
        bench.submit(1)
        bench.settle()
        let sequences = bench.take(phone).compactMap(\.delivery?.message.sequence)
        let next = connection(10)
        bench.login(next)
        bench.post(.deviceAcknowledged(phone, device, sequences))
        bench.post(.deviceClosed(phone, device))
        bench.settle()
        #expect(bench.take(phone).words == ["close replaced_by_newer_login"])
        #expect(bench.take(next).words == ["device login accepted", "deliver m1", "report when writable"])
        #expect(bench.store.downPending == 1)
        bench.post(.deviceWritable(phone, device))
        bench.post(.deviceCongested(phone, device))
        bench.post(.deviceWritable(next, device))
        bench.submit(2)
        bench.settle()
        #expect(bench.take(next).words == ["deliver m2"])
    }

    @Test("A page read for an old connection is not used for the new one")
    func lateAnswer() {
        var settings = DeliverySettings()
        settings.mailboxPage = 2
        let bench = Harness.withDevice(settings: settings)
        for requestID in 1...4 as ClosedRange<UInt32> { bench.submit(requestID) }
        bench.settle()
        bench.login()
        bench.settle()
        bench.post(.deviceWritable(phone, device))
        bench.runTurns()
        bench.read(bench.partitions[0])
        let next = connection(10)
        bench.login(next)
        bench.runTurns()
        bench.settle()
        #expect(
            bench.take(next).words == [
                "device login accepted", "deliver m1", "deliver m2", "report when writable",
            ])
    }

    @Test("Stored messages survive a crash and keep their persistent ids")
    func restart() {
        let bench = Harness.withDevice()
        bench.login()
        bench.submit(1)
        bench.settle()
        let before = bench.take(phone).compactMap { $0.delivery?.message.persistentID }
        bench.crash(seed: 99)
        let next = connection(10)
        bench.login(next)
        bench.settle()
        #expect(bench.take(next).compactMap { $0.delivery?.message.persistentID } == before)
    }

    @Test("Requests are refused as unavailable when the store cannot answer")
    func storeDown() {
        let bench = Harness.withDevice()
        bench.login()
        bench.submit(1)
        bench.post(.upstreamReceived(Harness.upstream(2)))
        bench.runTurns()
        bench.read(bench.partitions[0], failing: true)
        bench.reportAnswer(bench.partitions[0])
        bench.runTurns()
        #expect(
            bench.commands.map(\.1.word) == [
                "login refused unavailable", "nack 1 unavailable", "refused 2 unavailable",
            ])
        bench.login()
        bench.settle()
        #expect(bench.take(phone).words.last == "device login accepted")
    }

    @Test("The number of events that wait for one device is bounded")
    func waitingBounded() {
        var settings = DeliverySettings()
        settings.eventsWaitingForDevice = 2
        let bench = Harness.withDevice(settings: settings)
        for requestID in 1...4 as ClosedRange<UInt32> { bench.submit(requestID) }
        bench.runTurns()
        #expect(bench.take(appServer).words == ["nack 3 unavailable", "nack 4 unavailable"])
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 1", "ack 2"])
    }

    @Test("Messages are refused when the store falls behind")
    func overload() {
        var settings = DeliverySettings()
        settings.waitingWrites = 3
        let bench = Harness.withDevice(settings: settings)
        bench.submit(1, lifetime: 0)
        bench.settle()
        for requestID in 2...6 as ClosedRange<UInt32> { bench.submit(requestID) }
        bench.runTurns()
        #expect(bench.take(appServer).words == ["ack 1", "nack 5 unavailable", "nack 6 unavailable"])
        bench.settle()
        bench.submit(7)
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 2", "ack 3", "ack 4", "ack 7"])
    }

    @Test("Canary: the output of these tests depends on the page size")
    func canary() {
        var settings = DeliverySettings()
        settings.mailboxPage = 1
        let bench = Harness.withDevice(settings: settings)
        for requestID in 1...3 as ClosedRange<UInt32> { bench.submit(requestID) }
        bench.settle()
        bench.login()
        bench.settle()
        #expect(bench.take(phone).words == ["device login accepted", "deliver m1", "report when writable"])
    }
}
