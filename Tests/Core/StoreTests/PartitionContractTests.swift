import Basics
import Delivery
import Store
import StoreSupport
import Testing

@testable import RocksStore

/// The partitions of a store: each finds its own rows only, and together they find all rows.
@Suite struct PartitionContractTests {
    private static let devices = (1...40 as ClosedRange<UInt64>).map { DeviceID($0) }
    private static let senders = (1...12 as ClosedRange<UInt64>).map { SenderID($0) }
    private static let installations = (0..<20).map { Array("installation0000000\(100 + $0)".utf8) }

    private func fill(_ store: any Store) throws {
        for device in Self.devices {
            try store.apply(
                .putDevice(Samples.device(device.number, seenAt: 10)),
                .putMessage(Samples.message(device.number, 2_000 + device.number)))
        }
        for sender in Self.senders {
            try store.apply(
                .putUpstream(Samples.upstream(sender.number, 3_000), now: Samples.now),
                .putTopicMessage(Samples.topicMessage(sender.number)))
        }
        for id in Self.installations { try store.apply(.putInstallation(Samples.installation(id))) }
    }

    /// Returns the owners that a partition finds.
    private func found(_ partition: Int, in store: any Store) throws -> [PartitionKey] {
        var keys: [PartitionKey] = []
        let loads: [StoreQuery] = [
            .expired(by: .max, limit: 1_000, partition: partition),
            .unseen(
                before: 20, unusedBefore: .min, from: DeviceID(0), examine: 1_000, limit: 1_000,
                partition: partition),
            .unusedInstallations(
                before: 20, unlinkedBefore: 20, from: [], examine: 1_000, limit: 1_000,
                partition: partition),
            .topicMessages(after: nil, limit: 1_000, partition: partition),
        ]
        for answer in store.load(loads) {
            switch try answer.get() {
            case .expired(let entries):
                keys += entries.map { entry in
                    guard case .sharedBody(let name, _, _) = entry else { return entry.key }
                    #expect(entry.key == .partition(partition))
                    return .sender(name.sender)
                }
            case .unseen(let devices, nil): keys += devices.map { .device($0) }
            case .unusedInstallations(let ids, nil, _, _): keys += ids.map { .installation($0) }
            case .topicMessages(let page, isLast: true): keys += page.map { .sender($0.name.sender) }
            case let other: Issue.record("\(other)")
            }
        }
        return keys
    }

    @Test(
        "Each partition finds only its own rows, and all together find each row once",
        arguments: Kind.allCases, [1, 2, 3, 16, 1_024])
    func own(_ kind: Kind, _ partitions: Int) throws {
        let opened = try open(kind, partitions: partitions)
        #expect(opened.store.partitions == partitions)
        try fill(opened.store)
        var counts: [PartitionKey: Int] = [:]
        for partition in 0..<partitions {
            for key in try found(partition, in: opened.store) {
                #expect(key.partition(of: partitions) == partition, "\(key)")
                counts[key, default: 0] += 1
            }
        }
        // A message and a record; an upstream message, a topic message and the expiry of its pairs; an installation.
        #expect(Self.devices.allSatisfy { counts[.device($0)] == 2 })
        #expect(Self.senders.allSatisfy { counts[.sender($0)] == 3 })
        #expect(Self.installations.allSatisfy { counts[.installation($0)] == 1 })
        #expect(counts.count == 72)
    }

    @Test(
        "No partition finds a removed record, and its own partition finds it when it is put again",
        arguments: Kind.allCases)
    func removed(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        try fill(store)
        for device in Self.devices {
            try store.apply(
                .removeDevice(device),
                .removeMessage(
                    device, SequenceNumber(2_000 + device.number), expiresAt: Samples.now + Samples.day,
                    reason: .delivered))
        }
        for sender in Self.senders {
            let message = Samples.topicMessage(sender.number)
            try store.apply(
                .removeUpstream(
                    sender, SequenceNumber(3_000), expiresAt: Samples.now + Samples.day, reason: .delivered),
                .removeTopicMessage(message.name),
                .removeSharedBody(
                    .topic(message.name),
                    partition: PartitionKey.sender(sender).partition(of: store.partitions),
                    expiresAt: message.bodyEndsAt))
        }
        for id in Self.installations { try store.apply(.removeInstallation(id)) }
        for partition in 0..<store.partitions { #expect(try found(partition, in: store).isEmpty) }
        try expectNothingLeft(in: store)
        let device = Self.devices[0]
        try store.apply(.putDevice(Samples.device(device.number, seenAt: 10)))
        let partition = PartitionKey.device(device).partition(of: store.partitions)
        #expect(try found(partition, in: store) == [.device(device)])
        try store.apply(.putDevice(Samples.device(device.number, seenAt: 20)))
        #expect(try found(partition, in: store).isEmpty, "seen since")
    }

    @Test(
        "A store keeps its number of partitions and their tallies when it is reopened",
        arguments: Kind.onDisk)
    func kept(_ kind: Kind) throws {
        let opened = try open(kind, partitions: 3)
        try fill(opened.store)
        try opened.store.apply(
            .removeMessage(
                DeviceID(1), SequenceNumber(2_001), expiresAt: Samples.now + Samples.day, reason: .delivered))
        let before = try opened.store.audit()
        #expect(before.holds && before.downstream.accepted == 40 && before.downstream.delivered == 1)
        #expect(before.upstream.accepted == 12)
        let killed = try opened.directory.copied()
        try opened.store.close()
        for path in [killed.path, opened.directory.path] {
            for wanted in [16, 1, 3] {
                let store = try RocksStore(path: path + "/db", partitions: wanted, sizes: kind.sizes)
                #expect(store.partitions == 3)
                #expect(try store.audit() == before)
                var all: [PartitionKey] = []
                for partition in 0..<3 { all += try found(partition, in: store) }
                #expect(all.count == 40 + 39 + 12 * 3 + 20)
                try store.close()
            }
        }
    }

    @Test("A new store has sixteen partitions, and an invalid number is damage")
    func number() throws {
        let directory = ScratchDirectory()
        let path = directory.path + "/db"
        let store = try RocksStore(path: path)
        #expect(store.partitions == 16 && MemoryStore().partitions == 16)
        try store.close()
        for value in ["0", "1025", "-1", "x", ""] {
            do {
                let engine = try Engine(path: path, memory: SeenFilter())
                let (key, bytes) = (MetaKey.partitions, [UInt8](value.utf8))
                try engine.put(.meta, key.raw, bytes.raw)
            }
            let error = #expect(throws: StoreError.self) { try RocksStore(path: path) }
            #expect(error?.kind == .damaged, "\(value)")
        }
    }

    @Test("The audit names rows under the number of a wrong partition")
    func misplaced() throws {
        let opened = try open(.moving, partitions: 4)
        let store = try #require(opened.store as? RocksStore)
        try fill(store)
        #expect(try store.audit().holds, "canary")
        let device = Self.devices[0]
        let wrong = (PartitionKey.device(device).partition(of: 4) + 1) % 4
        let sender = Self.senders[0]
        let wrongOfSender = (PartitionKey.sender(sender).partition(of: 4) + 1) % 4
        try store.withEngine { (engine) throws(StoreError) in
            let time = Key(10)
            try engine.put(.contacts, Key.contact(device, of: wrong).bytes, time.bytes)
            var end = Key.expiries(of: wrong, from: 5)
            end.append(ExpiryKey.Kind.message.rawValue)
            end.append(device.number)
            end.append(UInt64(7))
            try engine.put(.expiry, end.bytes, Key().bytes)
            var record = ByteBuffer()
            let message = Samples.topicMessage(sender.number)
            TopicRecord.write(message, to: &record)
            try engine.put(
                .fanouts, Key.topic(.message, message.name, of: wrongOfSender).bytes, record.bytes)
            let listed = Samples.subscription(device.number, 1)
            try engine.put(.fanouts, TopicKey.gateway(listed, of: wrong).raw, Key().bytes)
            try engine.put(.contacts, Key(1).bytes, time.bytes)
        }
        let names = try store.audit().unreadable
        #expect(names.count == 6, "\(names)")
        #expect(names.filter { $0.hasSuffix(": impossible value") }.count == 5)
        #expect(names.contains("contacts: 41 of 40 devices"))
    }
}
