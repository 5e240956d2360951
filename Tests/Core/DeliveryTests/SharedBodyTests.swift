import Basics
import Testing

@testable import Delivery

/// The pairs that the messages of a request to many share in the store.
@Suite struct SharedBodyTests {
    /// A harness with one partition, which shares the pairs from the second message on.
    private static func bench(
        _ count: Int, after least: Int = 1, bytes leastBytes: Int = 1
    ) -> (Harness, [RegistrationName]) {
        var settings = DeliverySettings()
        settings.unsharedMessages = least
        settings.leastSharedBytes = leastBytes
        let (wide, names) = TopicSendTests.bench(count, settings: settings) { _ in [] }
        return (Harness(store: wide.store, settings: settings), names)
    }

    private static func event(
        _ number: UInt32, to name: RegistrationName, isForSeveral: Bool = true, lifetime: Int = 3_600,
        from sender: SenderID = Harness.sender, isNotification: Bool = false, apns: [UInt8]? = nil
    ) -> Event {
        var submission = Harness.submission(number, lifetime: lifetime, to: name)
        submission.entitlement = .account(sender)
        submission.content.isForSeveral = isForSeveral
        submission.content.isNotification = isNotification
        submission.content.apns = apns
        return .submitted(submission)
    }

    private static func send(_ bench: Harness, _ number: UInt32, to names: [RegistrationName]) {
        for name in names { bench.post(event(number, to: name)) }
        bench.settle()
    }

    private static func shared(_ bench: Harness, _ name: RegistrationName) -> [SharedBodyName?] {
        (bench.store.messages[name.device] ?? []).map(\.shared?.name)
    }

    private static func bodies(_ bench: Harness) -> [SharedBodyName: SharedBody] {
        bench.store.sharedBodies[0] ?? [:]
    }

    private static func login(_ bench: Harness, _ name: RegistrationName) -> [String] {
        bench.post(
            .deviceLogin(DeviceLogin(connection: phone, device: name.device, token: token, received: [])))
        bench.settle()
        let found = bench.take(phone).compactMap(\.delivery?.message)
        bench.post(.deviceAcknowledged(phone, name.device, found.map(\.sequence)))
        bench.post(.deviceClosed(phone, name.device))
        bench.settle()
        return found.map { String(decoding: $0.body, as: UTF8.self) }
    }

    /// The number of shared pairs that each waiting batch puts.
    private static func puts(_ partition: PartitionBox) -> [Int] {
        partition.batches.map { batch in
            batch.mutations.count { if case .putSharedBody = $0 { true } else { false } }
        }
    }

    /// Ends the requests that are open.
    private static func wait(_ bench: Harness) {
        bench.advance(milliseconds: Int64(Limits.SharedBody.openSeconds) * 1_000)
        bench.post(.tick)
        bench.settle()
    }

    @Test("messages of a request share their pairs after some with pairs of their own, and arrive with them")
    func shares() {
        let (bench, names) = Self.bench(6, after: 2)
        Self.send(bench, 1, to: names)
        #expect(bench.take(appServer).words == Array(repeating: "ack 1", count: 6))
        let found = names.map { Self.shared(bench, $0)[0] }
        #expect(found[..<2] == [nil, nil] && found[2] != nil && Set(found[2...]).count == 1)
        #expect(Self.bodies(bench).count == 1)
        #expect(names.allSatisfy { Self.login(bench, $0) == ["body 1"] })
        #expect(bench.store.messages.values.allSatisfy { $0.isEmpty })
    }

    @Test("a request with one recipient, small pairs and a now-or-never message share nothing")
    func own() {
        let (bench, names) = Self.bench(3, bytes: 6)
        for name in names {
            bench.post(Self.event(1, to: name, isForSeveral: false))
            bench.post(Self.event(2, to: name, lifetime: 0))
        }
        bench.settle()
        #expect(Self.bodies(bench).isEmpty && names.allSatisfy { Self.shared(bench, $0) == [nil] })
        Self.send(bench, 3, to: names)
        #expect(Self.bodies(bench).count == 1, "canary")
        let (other, same) = Self.bench(3, bytes: 7)
        Self.send(other, 3, to: same)
        #expect(Self.bodies(other).isEmpty)
    }

    @Test("messages share pairs only with equal ones that expire with them")
    func kinds() {
        let (bench, names) = Self.bench(3)
        Self.send(bench, 1, to: names)
        #expect(Self.bodies(bench).count == 1)
        Self.send(bench, 2, to: names)
        #expect(Self.bodies(bench).count == 2)
        let seconds = 3_600 + Limits.SharedBody.openSeconds
        for lifetime in [60, seconds, seconds + 1] {
            bench.post(Self.event(2, to: names[0], lifetime: lifetime))
        }
        bench.settle()
        let found = Self.shared(bench, names[0]).suffix(3)
        #expect(found.dropLast().allSatisfy { $0 != nil } && found.last == .some(nil))
        #expect(Self.bodies(bench).count == 2)
    }

    @Test("pairs are removed with the last message that shares them, once no further one is awaited")
    func removal() {
        let (bench, names) = Self.bench(4)
        Self.send(bench, 1, to: names)
        for name in names[..<3] { #expect(Self.login(bench, name) == ["body 1"]) }
        Self.wait(bench)
        #expect(Self.bodies(bench).count == 1 && bench.partitions[0].core.devices.bodies.count == 1)
        #expect(Self.login(bench, names[3]) == ["body 1"])
        #expect(Self.bodies(bench).isEmpty && bench.partitions[0].core.devices.bodies.count == 0)
        Self.send(bench, 2, to: names)
        for name in names { #expect(Self.login(bench, name) == ["body 2"]) }
        #expect(Self.bodies(bench).count == 1, "further messages may come")
        Self.wait(bench)
        #expect(Self.bodies(bench).isEmpty)
    }

    @Test("the pairs of the oldest request end when there are too many")
    func many() {
        let (bench, names) = Self.bench(2)
        for number in 1...UInt32(Limits.SharedBody.open) { Self.send(bench, number, to: names) }
        for name in names { _ = Self.login(bench, name) }
        #expect(Self.bodies(bench).count == Limits.SharedBody.open)
        Self.send(bench, 99, to: [names[0]])
        #expect(Self.bodies(bench).count == Limits.SharedBody.open - 1)
    }

    @Test("pairs are put once, and after a failed batch again")
    func failed() throws {
        let (bench, names) = Self.bench(5)
        let partition = bench.partitions[0]
        for name in names { bench.post(.device(name.device, .topicsDue)) }
        bench.settle()
        func puts() -> [Int] { Self.puts(partition) }
        Self.send(bench, 1, to: [names[0]])
        bench.post(Self.event(1, to: names[1]))
        bench.runTurns()
        for name in names[2...3] { bench.post(Self.event(1, to: name)) }
        bench.runTurns()
        #expect(puts() == [1, 0])
        // The first fails, and is on disk nevertheless; the second one, which relies on it, is not.
        _ = bench.store.apply(partition.batches[0])
        bench.apply(partition, failing: true)
        bench.reportOutcome(partition)
        bench.settle()
        #expect(Self.login(bench, names[1]) == ["body 1"] && Self.login(bench, names[2]).isEmpty)
        #expect(Self.bodies(bench).count == 1, "it stays until it expires")
        Self.send(bench, 1, to: Array(names[3...]))
        #expect(Self.bodies(bench).count == 2, "a new one")
        bench.post(Self.event(1, to: names[0]))
        bench.runTurns()
        #expect(puts() == [0], "it is there")
        bench.settle()
        bench.crash(seed: 8)
        #expect(names[3...].allSatisfy { Self.login(bench, $0) == ["body 1"] })
        let name = try #require(Self.bodies(bench).keys.first)
        bench.post(.expired(.sharedBody(name, partition: 0, expiresAt: bench.now.wall)))
        bench.settle()
        #expect(Self.bodies(bench).count == 1 && Self.bodies(bench)[name] == nil)
    }

    @Test("an iOS app gets its part for APNs from the shared pairs, and other apps get none")
    func apple() {
        let (bench, names) = Self.bench(5)
        for name in names[..<3] { bench.store.registrations[name]?.apnsToken = bytes("p_a1") }
        for name in names { bench.post(Self.event(1, to: name, apns: bytes("{}"))) }
        bench.settle()
        let sent = bench.deliveries.map(\.message)
        #expect(sent.map(\.apns) == Array(repeating: bytes("{}"), count: 3))
        #expect(sent.allSatisfy { $0.body == bytes("body 1") && $0.topicMessage == nil })
        #expect(Self.bodies(bench).values.map(\.apns) == [bytes("{}")])
        #expect(names[3...].allSatisfy { Self.login(bench, $0) == ["body 1"] })
        bench.deliveries = []
        bench.crash(seed: 9)
        bench.post(.tick)
        bench.settle()
        #expect(bench.deliveries.map(\.message.apns) == Array(repeating: bytes("{}"), count: 3))
        #expect(bench.deliveries.allSatisfy { $0.message.body == bytes("body 1") })
        for name in names[..<2] { bench.post(Self.event(1, to: name, apns: bytes("{1}"))) }
        bench.settle()
        #expect(Set(Self.bodies(bench).values.map(\.apns)) == [bytes("{}"), bytes("{1}")])
    }

    @Test(
        "pairs are shared by sender, up to a number, and end some time after the last message that may share them"
    )
    func bounds() {
        func place(
            _ bodies: inout SharedBodies, _ sequence: UInt64, of sender: SenderID = SenderID(1),
            limit: Int = 9
        ) -> SharedBodies.Place {
            let message = StoredMessage(
                device: device, sequence: SequenceNumber(sequence), salt: 1,
                registration: RegistrationNumber(1), sender: sender, messageID: [], acceptedAt: 0,
                expiresAt: 5_000, body: [1])
            return bodies.place(
                message, of: sender, after: 1, limit: limit, Instant(nanoseconds: 0))
        }
        var bodies = SharedBodies()
        var ends: [UnixMilliseconds?] = []
        for (sequence, sender, limit) in [(1, 1, 9), (2, 2, 9), (3, 1, 0), (4, 1, 9), (5, 2, 1)]
            as [(UInt64, UInt64, Int)]
        {
            guard
                case .shared(let reference, let put) = place(
                    &bodies, sequence, of: SenderID(sender), limit: limit)
            else {
                ends.append(nil)
                continue
            }
            #expect(reference.name == .request(SenderID(1), SequenceNumber(4)))
            ends.append(put?.endsAt)
        }
        let seconds = Int64(Limits.SharedBody.openSeconds + Limits.SharedBody.graceSeconds)
        #expect(ends == [nil, nil, nil, 5_000 + seconds * 1_000, nil])
    }

    @Test("the members of a group share the pairs")
    func group() {
        let (bench, names) = Self.bench(4)
        let group = GroupName(sender: Harness.sender, number: 1)
        bench.store.groups = [
            GroupRecord(name: group, label: bytes("g"), members: tokens(names), createdAt: 0)
        ]
        bench.post(
            .groupSubmitted(
                GroupSubmission(
                    requester: Requester(connection: appServer, requestID: 1), sender: Harness.sender,
                    group: group, content: Harness.submission(1).content)))
        bench.settle()
        #expect(names.map { Self.shared(bench, $0)[0] != nil } == [false, true, true, true])
    }
}
