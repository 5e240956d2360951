import Basics
import Delivery
import Testing

/// A device that connects twice, as Chromium does when it starts: whenever the newer login comes, no message is lost or sent twice.
@Suite struct ReplacementTests {
    /// One of the steps that can happen between the two logins.
    private static func step(_ number: Int, _ bench: Harness, _ random: inout SeededRandom) {
        let partition = bench.partitions[0]
        switch number {
        case 0: bench.turn(partition, events: 1)
        case 1: bench.turn(partition)
        case 2: bench.apply(partition)
        case 3: bench.reportOutcome(partition)
        case 4: bench.read(partition)
        case 5: bench.reportAnswer(partition)
        default: break
        }
    }

    @Test(
        "A newer connection gets all unacknowledged messages in order; the older one gets Close and nothing more",
        arguments: 0..<300 as Range<UInt64>)
    func race(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var settings = DeliverySettings()
        settings.mailboxPage = 3
        let bench = Harness.withDevice(settings: settings)
        let stored = UInt32.random(in: 0...7, using: &random)
        if stored > 0 { for requestID in 1...stored { bench.submit(requestID) } }
        bench.settle()
        bench.commands.removeAll()
        bench.login()
        for _ in 0..<Int.random(in: 0...20, using: &random) {
            Self.step(Int.random(in: 0..<6, using: &random), bench, &random)
        }
        let late = UInt32.random(in: 0...3, using: &random)
        if late > 0 { for requestID in stored + 1...stored + late { bench.submit(requestID) } }
        for _ in 0..<Int.random(in: 0...20, using: &random) {
            Self.step(Int.random(in: 0..<6, using: &random), bench, &random)
        }
        let next = connection(10)
        bench.login(next)
        // The older connection is reported as closed before, between or after.
        if Bool.random(using: &random) { bench.post(.deviceClosed(phone, device)) }
        for _ in 0..<Int.random(in: 0...20, using: &random) {
            Self.step(Int.random(in: 0..<6, using: &random), bench, &random)
        }
        bench.post(.deviceClosed(phone, device))
        for _ in 0..<8 {
            bench.settle()
            bench.post(.deviceWritable(next, device))
        }
        bench.settle()
        let expected = stored + late == 0 ? [] : (1...stored + late).map { "deliver m\($0)" }
        let given = bench.take(next).words
        #expect(given.first == "device login accepted")
        #expect(given.filter { $0.hasPrefix("deliver") } == expected)
        let older = bench.take(phone).words
        if let close = older.firstIndex(of: "close replaced_by_newer_login") {
            #expect(close == older.count - 1)
        }
        #expect(bench.store.downPending == Int(stored + late))
    }

    @Test("The last of three concurrent logins wins")
    func three() {
        let bench = Harness.withDevice()
        bench.submit(1)
        bench.settle()
        bench.commands.removeAll()
        let connections = [phone, connection(10), connection(11)]
        for one in connections { bench.login(one) }
        bench.settle()
        #expect(bench.take(connections[0]).words.last == "close replaced_by_newer_login")
        #expect(bench.take(connections[1]).words.last == "close replaced_by_newer_login")
        #expect(
            bench.take(connections[2]).words == [
                "device login accepted", "deliver m1", "report when writable",
            ])
    }

    @Test(
        "Messages listed as received are not sent again when the login is replaced before their removal is on disk"
    )
    func whileRemoving() {
        let bench = Harness.withDevice()
        for requestID in 1...3 as ClosedRange<UInt32> { bench.submit(requestID) }
        bench.settle()
        bench.login()
        bench.settle()
        let ids = bench.take(phone).compactMap { $0.delivery?.message.persistentID }
        let (second, third) = (connection(10), connection(11))
        bench.login(second, received: [ids[0], ids[2]])
        bench.runTurns()
        bench.login(third)
        bench.settle()
        #expect(bench.take(second).words == ["close replaced_by_newer_login"])
        #expect(bench.take(third).words == ["device login accepted", "deliver m2", "report when writable"])
        #expect(bench.store.down.delivered == 2)
    }

    @Test("Only the newest IDs of a too long list of received messages are examined")
    func longList() {
        let bench = Harness.withDevice()
        bench.submit(1)
        bench.settle()
        bench.login()
        bench.settle()
        let ids = bench.take(phone).compactMap { $0.delivery?.message.persistentID }
        let unknown = [PersistentID](
            repeating: PersistentID(sequence: SequenceNumber(1), salt: 0), count: Limits.MCS.receivedIDs)
        let next = connection(10)
        bench.login(next, received: unknown + ids)
        bench.settle()
        #expect(bench.take(next).words == ["device login accepted"])
    }

    @Test("Canary: an acknowledged message is not sent to the newer connection")
    func canary() {
        let bench = Harness.withDevice()
        bench.login()
        bench.submit(1)
        bench.settle()
        bench.post(
            .deviceAcknowledged(phone, device, bench.take(phone).compactMap(\.delivery?.message.sequence)))
        bench.settle()
        let next = connection(10)
        bench.login(next)
        bench.settle()
        #expect(bench.take(next).words == ["device login accepted"])
    }
}
