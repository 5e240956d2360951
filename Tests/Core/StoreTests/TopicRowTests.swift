import Basics
import Delivery
import Store
import Testing

@testable import RocksStore

/// The rows of topic messages on the disk: their keys, after a restart, and where they are damaged.
@Suite struct TopicRowTests {
    private let directory = ScratchDirectory()
    private var path: String { directory.path + "/db" }
    private let garbage: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8, 9]

    private func raw(_ body: (Engine) throws -> Void) throws {
        try body(try Engine(path: path, memory: SeenFilter()))
    }

    /// The partition of the device 5, and of the sender 42.
    private static let ofDevice = PartitionKey.device(DeviceID(5)).partition(of: Limits.Partition.count)
    private static let ofSender = PartitionKey.sender(SenderID(42)).partition(of: Limits.Partition.count)
    private static let message = Samples.topicMessage()
    private static let copy = Samples.copy(of: message, 5, 10)
    /// The pairs of a request, which differ from the topic message's in their kind alone.
    private static let request = Samples.requestBody()
    private static let copyOfRequest = Samples.copy(of: request, 5, 11)

    /// One mutation for each kind of row.
    private static let puts: [Mutation] = [
        .putTopicMessage(message),
        .putTopicEntry(TopicEntry(sequence: SequenceNumber(7), message: message), partition: ofDevice),
        .putTopicEntry(
            TopicEntry(
                sequence: SequenceNumber(8), kind: .discarded(count: 3, through: SequenceNumber(7)),
                message: message),
            partition: ofDevice),
        .putTopicProgress(
            SequenceNumber(8), TopicProgress(reached: 300, isOffered: true), partition: ofDevice),
        .putTopicMark(TopicMark(source: ofSender, through: message.name.sequence), partition: ofDevice),
        .putTopicPosition(DeviceID(5), SequenceNumber(7)),
        .listForGateway(Samples.subscription(5, 1, sender: 42)), .putMessage(copy),
        .putSharedBody(request, partition: ofDevice, expiresAt: message.bodyEndsAt),
        .putMessage(copyOfRequest),
    ]

    private static let removals: [Mutation] = [
        .removeTopicMessage(message.name), .removeTopicEntry(SequenceNumber(7), partition: ofDevice),
        .removeTopicEntry(SequenceNumber(8), partition: ofDevice), .removeDevice(DeviceID(5)),
        .unlistForGateway(Samples.subscription(5, 1, sender: 42)),
        .removeSharedBody(.topic(message.name), partition: ofDevice, expiresAt: message.bodyEndsAt),
        .removeSharedBody(.topic(message.name), partition: ofSender, expiresAt: message.bodyEndsAt),
        .removeMessage(DeviceID(5), SequenceNumber(10), expiresAt: copy.expiresAt, reason: .delivered),
        .removeSharedBody(request.reference.name, partition: ofDevice, expiresAt: message.bodyEndsAt),
        .removeMessage(
            DeviceID(5), SequenceNumber(11), expiresAt: copyOfRequest.expiresAt, reason: .delivered),
    ]

    private func expectAll(in store: RocksStore) throws {
        #expect(try store.topicMessages(of: Self.ofSender) == [Self.message])
        let (entries, marks) = try store.topicLog(of: Self.ofDevice)
        #expect(
            entries.map(\.sequence.number) == [7, 8]
                && entries.map(\.kind) == [.message, .discarded(count: 3, through: SequenceNumber(7))])
        #expect(entries.map(\.progress) == [TopicProgress(), TopicProgress(reached: 300, isOffered: true)])
        #expect(marks == [TopicMark(source: Self.ofSender, through: Self.message.name.sequence)])
        #expect(try store.state(5)?.topicPosition == SequenceNumber(7))
        #expect(try store.topicDevices(42, Samples.topics[0], of: Self.ofDevice) == [DeviceID(5)])
        #expect(try store.mailbox(5) == [Self.copy, Self.copyOfRequest])
        let bodies = try store.expired(by: .max).map(\.key)
        #expect(Set(bodies) == [.device(DeviceID(5)), .partition(Self.ofDevice), .partition(Self.ofSender)])
        #expect(try store.audit().holds && store.audit().topicJobs == 1)
    }

    @Test("Each row is there after a kill and after a restart, and so is its removal", arguments: Kind.onDisk)
    func restarted(_ kind: Kind) throws {
        let store = try RocksStore(path: path, sizes: kind.sizes)
        for put in Self.puts { try store.apply(put) }
        try expectAll(in: store)
        let killed = try directory.copied()
        try expectAll(in: try RocksStore(path: killed.path + "/db", sizes: kind.sizes))
        try store.close()
        let again = try RocksStore(path: path, sizes: kind.sizes)
        try expectAll(in: again)
        for removal in Self.removals { try again.apply(removal) }
        let emptied = try directory.copied()
        let found = try RocksStore(path: emptied.path + "/db", sizes: kind.sizes)
        for store in [again, found] {
            #expect(try store.topicLog(of: Self.ofDevice).marks.count == 1, "marks stay")
            #expect(try store.rowsLeft().isEmpty)
            #expect(try store.audit().holds)
        }
    }

    @Test("The keys are those of the format")
    func keys() throws {
        let store = try RocksStore(path: path)
        for put in Self.puts { try store.apply(put) }
        let (device, sender) = (UInt8(Self.ofDevice), UInt8(Self.ofSender))
        let (five, source): ([UInt8], [UInt8]) = ([0, 0, 0, 0, 0, 0, 0, 5], [0, 0, 0, 0, 0, 0, 0, 42])
        let one: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 1]
        let expected: [[UInt8]] = [
            [0, sender, 0] + source + one, [0, sender, 4] + source + one,
            [0, device, 1] + [0, 0, 0, 0, 0, 0, 0, 7], [0, device, 1] + [0, 0, 0, 0, 0, 0, 0, 8],
            [0, device, 2] + [0, 0, 0, 0, 0, 0, 0, 8], [0, device, 3, 0, sender],
            [0, device, 4] + source + one,
            [0, device, 5] + source + Array("news".utf8) + [0] + five + one,
            [0, device, 6] + source + one,
        ]
        try store.withEngine { (engine) throws(StoreError) in
            func found(_ family: Family) throws(StoreError) -> [[UInt8]] {
                let rows = engine.snapshot().cursor(family)
                var keys: [[UInt8]] = []
                while rows.isValid {
                    keys.append([UInt8](copying: rows.key))
                    rows.next()
                }
                try rows.finish()
                return keys
            }
            #expect(try found(.fanouts) == expected.sorted { $0.lexicographicallyPrecedes($1) })
            #expect(try found(.registry) == [five + [3]])
        }
    }

    // MARK: Damage

    @Test("A damaged row is left out of each answer and counted, and the others are read")
    func damaged() throws {
        let store = try RocksStore(path: path)
        for put in Self.puts { try store.apply(put) }
        let other = Samples.topicMessage(42, 2)
        var app = Samples.registration(5, 1)
        app.apnsToken = [1]
        try store.apply(.putTopicMessage(other), .putDevice(Samples.device(5)), .putRegistration(app))
        try store.close()
        try raw { engine in
            for key in [
                Key.topic(.message, Self.message.name, of: Self.ofSender),
                Key.topic(.body, Self.message.name, of: Self.ofDevice),
                Key.topic(.entry, SequenceNumber(7), of: Self.ofDevice),
                Key.topicMark(of: 9, in: Self.ofDevice),
            ] {
                try engine.put(.fanouts, key.bytes, garbage.raw)
            }
            // A source that the store does not have.
            try engine.put(.fanouts, Key.topicMark(of: 999, in: Self.ofDevice).bytes, Key(1).bytes)
            var foreign = [UInt8](copying: Key.topics(.gateway, of: Self.ofDevice).bytes)
            foreign += TopicKey.subscriber(
                SenderID(42), Samples.topics[0],
                RegistrationName(device: DeviceID(1), number: RegistrationNumber(1)))
            try engine.put(.fanouts, foreign.raw, Key().bytes)
            try engine.put(.registry, Key.registration(app.name).bytes, garbage.raw)
        }
        let damaged = try RocksStore(path: path)
        #expect(
            PartitionKey.device(DeviceID(1)).partition(of: Limits.Partition.count) != Self.ofDevice, "canary")
        var skipped = 0
        func expectSkipped() throws {
            skipped += 1
            #expect(try damaged.figures().skippedRecords == skipped)
        }
        #expect(try damaged.topicMessages(of: Self.ofSender) == [other])
        try expectSkipped()
        let log = try damaged.topicLog(of: Self.ofDevice)
        #expect(log.entries.map(\.sequence.number) == [8] && log.marks.count == 1)
        skipped += 2
        try expectSkipped()
        #expect(try damaged.mailbox(5).map(\.hasBody) == [false, true])
        try expectSkipped()
        #expect(try damaged.topicDevices(42, Samples.topics[0], of: Self.ofDevice) == [DeviceID(5)])
        try expectSkipped()
        #expect(try damaged.topicDevices(42, nil, of: Self.ofDevice).isEmpty)
        try expectSkipped()
    }

    @Test("An entry is left out when what has become of it, or the pairs of a message, cannot be read")
    func parts() throws {
        let store = try RocksStore(path: path)
        for put in Self.puts { try store.apply(put) }
        try store.close()
        try raw { engine in
            try engine.put(
                .fanouts, Key.topic(.progress, SequenceNumber(8), of: Self.ofDevice).bytes, garbage.raw)
            try engine.put(
                .fanouts, Key.topic(.body, Self.message.name, of: Self.ofSender).bytes, garbage.raw)
        }
        let damaged = try RocksStore(path: path)
        #expect(try damaged.topicLog(of: Self.ofDevice).entries.map(\.sequence.number) == [7])
        #expect(try damaged.topicMessages(of: Self.ofSender).isEmpty)
        #expect(try damaged.figures().skippedRecords == 2)
    }

    @Test("A device whose position cannot be read is not loaded: it would be sent messages again, or none")
    func position() throws {
        let store = try RocksStore(path: path)
        for put in Self.puts { try store.apply(put) }
        try store.close()
        try raw { try $0.put(.registry, Key.position(DeviceID(5)).bytes, garbage.raw) }
        let error = #expect(throws: StoreError.self) { try RocksStore(path: path).state(5) }
        #expect(error?.kind == .corrupt && error?.description == "registry/5: wrong length")
    }
}
