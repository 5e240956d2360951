import Basics
import Delivery
import Glibc
import Store
import Testing

@testable import RocksStore

/// The size of the registry, for every store.
@Suite struct RegistryBytesTests {
    /// One or two rows of each kind that belongs to the registry.
    private static let puts: [Mutation] = [
        .putDevice(Samples.device(5)), .putTopicPosition(DeviceID(5), SequenceNumber(9)),
        .putRegistration(Samples.registration(5, 1)),
        .putSubscription(Samples.subscription(5, 1)),
        .linkInstallation(
            Samples.installations[0],
            RegistrationName(device: DeviceID(5), number: RegistrationNumber(1))),
        .putInstallation(Samples.installation(Samples.installations[0])),
        .putGroup(Samples.group(42, 1)), .putSender(Samples.sender(42)),
    ]

    @Test(
        "The registry of an empty store is tiny, and grows with each kind of row",
        arguments: Kind.allCases)
    func grows(_ kind: Kind) throws {
        let opened = try open(kind)
        #expect(try opened.store.registryBytes() < 10_000)
        for put in Self.puts {
            let before = try opened.store.registryBytes()
            try opened.store.apply(put)
            #expect(try opened.store.registryBytes() > before, "\(put)")
        }
    }

    @Test(
        "Messages and their IDs are not part of the registry",
        arguments: Kind.allCases)
    func messages(_ kind: Kind) throws {
        let opened = try open(kind)
        let before = try opened.store.registryBytes()
        for number in 1...50 as ClosedRange<UInt64> {
            try opened.store.apply(
                .putMessage(Samples.message(5, number)),
                .putUpstream(Samples.upstream(8, number, persistentID: "p\(number)"), now: Samples.now))
        }
        #expect(try opened.store.registryBytes() == before)
    }

    @Test("The registry in memory shrinks to zero when its rows are removed")
    func shrinks() throws {
        let store = try open(.memory).store
        let empty = try store.registryBytes()
        for put in Self.puts { try store.apply(put) }
        let name = RegistrationName(device: DeviceID(5), number: RegistrationNumber(1))
        for removal in [
            .removeDevice(DeviceID(5)), .removeRegistration(name),
            .removeSubscription(Samples.subscription(5, 1)),
            .unlinkInstallation(Samples.installations[0], name),
            .removeInstallation(Samples.installations[0]),
            .removeGroup(Samples.group(42, 1).name, label: Samples.group(42, 1).label),
            .removeSender(SenderID(42)),
        ] as [Mutation] {
            let before = try store.registryBytes()
            try store.apply(removal)
            #expect(try store.registryBytes() < before, "\(removal)")
        }
        #expect(try store.registryBytes() == empty)
    }

    @Test(
        "The registry on disk is measured after a flush and a restart, and shrinks when space is reclaimed"
    )
    func onDisk() throws {
        let opened = try open(.rocks)
        let store = try #require(opened.store as? RocksStore)
        func apply(_ mutation: (UInt64) -> Mutation) throws {
            _ = try store.commit([
                WriteBatch(batchNumber: 1, mutations: (1...20_000).map(mutation), isDurable: true)
            ])
        }
        try apply { .putDevice(Samples.device($0)) }
        let recent = try store.registryBytes()
        #expect(recent > 20_000 * 64 && recent < 20_000 * 512, "\(recent)")
        try store.clearUp()
        let written = try store.registryBytes()
        #expect(written > 20_000 * 20 && written < 20_000 * 256, "\(written)")
        try store.close()
        let again = try RocksStore(path: opened.directory.path + "/db")
        let kept = try again.registryBytes()
        #expect(kept >= written, "\(kept) of \(written)")
        _ = try again.commit([
            WriteBatch(
                batchNumber: 1, mutations: (1...20_000).map { .removeDevice(DeviceID($0)) }, isDurable: true)
        ])
        try again.withEngine { (engine) throws(StoreError) in try engine.flush(waits: true) }
        #expect(try again.registryBytes() > written / 2, "space is not reclaimed without a request")
        try again.reclaimRegistry()
        var left = written
        for _ in 0..<6_000 where left >= written / 10 {
            usleep(10_000)
            left = try again.registryBytes()
        }
        #expect(left < written / 10, "\(left) of \(written)")
        try again.close()
    }
}

extension RocksStore {
    /// Flushes and compacts the registry.
    fileprivate func clearUp() throws {
        try withEngine { (engine) throws(StoreError) in
            try engine.flush(waits: true)
            for family in Family.allCases where family.isRegistry { engine.compact(family) }
        }
    }
}
