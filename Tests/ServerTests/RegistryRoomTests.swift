import Basics
import BasicsSupport
import Delivery
import Glibc
import Synchronization
import Testing
import Transport

@testable import Server

/// The size of the registry: its measurement, its limit, and the admission check.
@Suite struct RegistryRoomTests {
    /// Collects the lines of a log with a fixed clock.
    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
        var log: Log {
            Log(
                level: .info, format: .text, journal: false,
                clock: { Now(monotonic: Instant(nanoseconds: 0), wall: 1_700_000_000_000) },
                write: { line in self.all.withLock { $0.append(String(decoding: line, as: UTF8.self)) } })
        }
        func count(_ word: String) -> Int { all.withLock { $0.count { $0.contains(word) } } }
    }

    @Test("a registry is full at its limit, a new limit applies at once, and 0 disables it")
    func full() {
        let room = RegistryRoom(limit: 1_000)
        #expect(!room.isFull && room.problem == nil)
        room.note(999, .silent)
        #expect(!room.isFull)
        room.note(1_000, .silent)
        #expect(room.isFull && room.bytes == 1_000)
        #expect(room.problem?.contains("1000 of 1000 bytes (registry_bytes)") == true)
        room.limit = 1_001
        #expect(!room.isFull)
        room.limit = 1
        #expect(room.isFull)
        room.limit = 0
        #expect(!room.isFull && room.problem == nil)
        room.note(.max, .silent)
        #expect(!room.isFull && room.bytes == .max)
    }

    @Test(
        "a full registry and its recovery are logged once each, and changes near the limit are suppressed"
    )
    func logged() {
        let lines = Lines()
        let log = lines.log
        let room = RegistryRoom(limit: 10)
        for bytes in [1, 9, 10, 11, 10] as [UInt64] { room.note(bytes, log) }
        #expect(lines.count("level=error event=registry_full bytes=10 limit=10 setting=registry_bytes") == 1)
        #expect(lines.count("registry_has_room") == 0)
        room.limit = 20
        room.note(11, log)
        #expect(lines.count("level=notice event=registry_has_room bytes=11 limit=20") == 1)
        for _ in 0..<100 {
            room.note(20, log)
            room.note(19, log)
        }
        #expect(lines.all.withLock { $0.count } == 2)
    }

    @Test(
        "the registry is measured before the store's threads start, and then periodically without queries"
    )
    func measured() throws {
        let store = GatedStore()
        store.setRegistry(bytes: 700)
        let room = RegistryRoom(limit: 1_000)
        let thread = try StoreThread(
            store: store, metrics: MetricShard(), log: .silent, registry: room, report: { _ in })
        #expect(room.bytes == 700 && store.reclaims == 0)
        store.setRegistry(bytes: 1_700)
        while !room.isFull { usleep(1_000) }
        #expect(room.bytes == 1_700)
        // It is full at the next measurement as well: space is reclaimed only every few minutes.
        while store.reclaims == 0 { usleep(1_000) }
        store.setRegistry(bytes: 1_800)
        while room.bytes != 1_800 { usleep(1_000) }
        #expect(store.reclaims == 1)
        #expect(thread.stop() == nil)
    }

    @Test("a failed measurement is counted and logged as a failed read, and the last size remains")
    func failed() throws {
        let store = GatedStore()
        let (room, metrics, lines) = (RegistryRoom(limit: 1_000), MetricShard(), Lines())
        room.note(1_200, .silent)
        store.setRegistry(bytes: nil)
        let thread = try StoreThread(
            store: store, metrics: metrics, log: lines.log, registry: room, report: { _ in })
        #expect(room.isFull && room.bytes == 1_200)
        #expect(metrics.value(.storeFailures) == 1 && lines.count("event=store_read_failed") == 1)
        #expect(thread.isHealthy, "writes are not affected")
        #expect(thread.stop() == nil)
    }

    @Test("with a full registry the admission check refuses additions without counting the requests")
    func door() throws {
        let room = RegistryRoom(limit: 1_000)
        var settings = DoorSettings()
        settings.strangers = Strangers.Bounds(perAddress: 1, total: 0)
        let door = Door(settings, registry: room)
        let peer = try #require(SocketAddress(literal: "192.0.2.1", port: 4_000))
        func admitted(_ event: Event) -> Origin.Growth? {
            var event = event
            door.admit(&event, from: peer, now: Instant(nanoseconds: 61_000_000_000))
            return event.growth
        }
        let origin = Origin(connection: ConnectionID(reactor: 0, slot: 0, generation: 0), ticket: 1)
        let digest = SecretDigest(octets: [UInt8](repeating: 1, count: 32))
        let newcomer = Event.checkIn(
            CheckIn(
                origin: origin, claimed: nil, freshDevice: DeviceID(1), freshToken: 1, freshDigest: digest,
                refusesWrongToken: false))
        let ofAppServer = Event.groupRequested(
            GroupRequest(origin: origin, sender: SenderID(1), operation: .create(label: [], members: [])))
        let other = Event.unregister(
            RegistrationRequest(
                origin: origin, device: DeviceID(1), token: digest, category: [], subtype: [],
                senderText: []))
        room.note(1_000, .silent)
        for _ in 0..<3 { #expect(admitted(newcomer) == .full) }
        #expect(admitted(ofAppServer) == .full)
        #expect(admitted(other) == nil)
        room.note(999, .silent)
        #expect(admitted(ofAppServer) == .unbounded, "requests of app servers are not counted")
        #expect(admitted(newcomer) == .counted)
        #expect(admitted(newcomer) == .knownOnly)
    }
}
