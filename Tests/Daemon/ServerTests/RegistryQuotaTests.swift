import Basics
import BasicsSupport
import Delivery
import Glibc
import Synchronization
import Testing
import Transport

@testable import Server

/// The size of the registry: its measurement, its limit, and the admission check.
@Suite struct RegistryQuotaTests {
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
        let quota = RegistryQuota(limit: 1_000)
        #expect(!quota.isFull && quota.problem == nil)
        quota.record(999, .silent)
        #expect(!quota.isFull)
        quota.record(1_000, .silent)
        #expect(quota.isFull && quota.bytes == 1_000)
        #expect(quota.problem?.contains("1000 of 1000 bytes (registry_bytes)") == true)
        quota.limit = 1_001
        #expect(!quota.isFull)
        quota.limit = 1
        #expect(quota.isFull)
        quota.limit = 0
        #expect(!quota.isFull && quota.problem == nil)
        quota.record(.max, .silent)
        #expect(!quota.isFull && quota.bytes == .max)
    }

    @Test(
        "a full registry and its recovery are logged once each, and changes near the limit are suppressed"
    )
    func logged() {
        let lines = Lines()
        let log = lines.log
        let quota = RegistryQuota(limit: 10)
        for bytes in [1, 9, 10, 11, 10] as [UInt64] { quota.record(bytes, log) }
        #expect(lines.count("level=error event=registry_full bytes=10 limit=10 setting=registry_bytes") == 1)
        #expect(lines.count("registry_below_limit") == 0)
        quota.limit = 20
        quota.record(11, log)
        #expect(lines.count("level=notice event=registry_below_limit bytes=11 limit=20") == 1)
        for _ in 0..<100 {
            quota.record(20, log)
            quota.record(19, log)
        }
        #expect(lines.all.withLock { $0.count } == 2)
    }

    @Test(
        "the registry is measured before the store's threads start, and then periodically without queries"
    )
    func measured() throws {
        let store = GatedStore()
        store.setRegistry(bytes: 700)
        let quota = RegistryQuota(limit: 1_000)
        let thread = try StoreThreads(
            store: store, metrics: MetricShard(), log: .silent, registry: quota, report: { _ in })
        #expect(quota.bytes == 700 && store.reclaims == 0)
        store.setRegistry(bytes: 1_700)
        while !quota.isFull { usleep(1_000) }
        #expect(quota.bytes == 1_700)
        // It is full at the next measurement as well: space is reclaimed only every few minutes.
        while store.reclaims == 0 { usleep(1_000) }
        store.setRegistry(bytes: 1_800)
        while quota.bytes != 1_800 { usleep(1_000) }
        #expect(store.reclaims == 1)
        #expect(thread.stop() == nil)
    }

    @Test("a failed measurement is counted and logged as a failed read, and the last size remains")
    func failed() throws {
        let store = GatedStore()
        let (quota, metrics, lines) = (RegistryQuota(limit: 1_000), MetricShard(), Lines())
        quota.record(1_200, .silent)
        store.setRegistry(bytes: nil)
        let thread = try StoreThreads(
            store: store, metrics: metrics, log: lines.log, registry: quota, report: { _ in })
        #expect(quota.isFull && quota.bytes == 1_200)
        #expect(metrics.value(.storeFailures) == 1 && lines.count("event=store_read_failed") == 1)
        #expect(thread.isHealthy, "writes are not affected")
        #expect(thread.stop() == nil)
    }

    @Test("with a full registry the admission check refuses additions without counting the requests")
    func admission() throws {
        let quota = RegistryQuota(limit: 1_000)
        var settings = AdmissionSettings()
        settings.unauthenticatedRequests = UnauthenticatedRequests.Bounds(perAddress: 1, total: 0)
        let admission = Admission(settings, registry: quota)
        let peer = try #require(SocketAddress(literal: "192.0.2.1", port: 4_000))
        func admitted(_ event: Event) -> Requester.Growth? {
            var event = event
            admission.admit(&event, from: peer, now: Instant(nanoseconds: 61_000_000_000))
            return event.growth
        }
        let requester = Requester(connection: ConnectionID(reactor: 0, slot: 0, generation: 0), requestID: 1)
        let digest = SecretDigest(bytes: [UInt8](repeating: 1, count: 32))
        let newcomer = Event.checkIn(
            CheckIn(
                requester: requester, claimed: nil, freshDevice: DeviceID(1), freshToken: 1,
                freshDigest: digest,
                refusesWrongToken: false))
        let ofAppServer = Event.groupRequested(
            GroupRequest(
                requester: requester, sender: SenderID(1), operation: .create(label: [], members: [])))
        let other = Event.unregister(
            RegistrationRequest(
                requester: requester, device: DeviceID(1), token: digest, category: [], subtype: [],
                senderText: []))
        quota.record(1_000, .silent)
        for _ in 0..<3 { #expect(admitted(newcomer) == .full) }
        #expect(admitted(ofAppServer) == .full)
        #expect(admitted(other) == nil)
        quota.record(999, .silent)
        #expect(admitted(ofAppServer) == .unbounded, "requests of app servers are not counted")
        #expect(admitted(newcomer) == .counted)
        #expect(admitted(newcomer) == .knownOnly)
    }
}
