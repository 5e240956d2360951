import Basics
import Delivery
import Testing

@testable import APNsGateway

@Suite("pools of connections")
struct PoolTests {
    private static func at(_ milliseconds: Int64) -> Instant {
        Instant(nanoseconds: 0).advanced(milliseconds: milliseconds + 1_000_000)
    }

    @Test("five minutes of failures lead to ten connects at most")
    func pace() {
        for seed in 0..<20 as Range<UInt64> {
            var (pace, random, connects) = (ConnectPace(), SeededRandom(seed: seed), 0)
            for time in stride(from: Int64(0), to: 300_000, by: 100) where pace.allows(Self.at(time)) {
                connects += 1
                pace.started(Self.at(time))
                pace.failed(Self.at(time), &random)
            }
            #expect((8...10).contains(connects))
        }
    }

    @Test("an accepted request ends the wait, and no more than the burst is opened in a row")
    func burst() {
        var (pace, random) = (ConnectPace(), SeededRandom(seed: 1))
        for _ in 0..<4 { pace.failed(Self.at(0), &random) }
        #expect(!pace.allows(Self.at(4_000)) && pace.wait(Self.at(0)) >= 8_000)
        pace.succeeded()
        var opened = 0
        while pace.allows(Self.at(0)) {
            pace.started(Self.at(0))
            opened += 1
        }
        #expect(opened == Limits.APNsGateway.connectBurst)
        #expect(pace.wait(Self.at(0)) == 10_000 && pace.allows(Self.at(10_000)))
    }

    private static func connection(_ number: UInt64, streams: Int, inFlight: Int = 0) -> PoolConnection {
        let connection = PoolConnection(id: APNsConnectionID(number), startsAlone: true, now: at(0))
        connection.opened(at(0))
        connection.reported(available: streams)
        connection.isProven = true
        for _ in 0..<inFlight { connection.sent(bytes: 100) }
        return connection
    }

    @Test("the first request of a token connection goes alone, and 900 are in flight at most")
    func streams() {
        let connection = PoolConnection(id: APNsConnectionID(1), startsAlone: true, now: Self.at(0))
        #expect(!connection.hasRoom(for: 1))
        connection.opened(Self.at(0))
        connection.reported(available: 1_000)
        #expect(connection.allowed == 1)
        connection.sent(bytes: 10)
        #expect(!connection.hasRoom(for: 1))
        connection.isProven = true
        #expect(connection.allowed == 900 && connection.hasRoom(for: 1))
        #expect(!connection.hasRoom(for: Limits.HTTP2Client.unsentBytes))
        connection.reported(available: 0)
        #expect(!connection.hasRoom(for: 1))
    }

    @Test("a pool grows when all connections are busy for 200 ms, up to its cap")
    func growth() {
        let entry = CredentialEntry(Samples.key())
        let pool = Pool(entry, .production)
        var pending = PendingDeliveries()
        let request = try? Samples.mapping(Samples.delivery(1), 0)
        guard let request else { return }
        pool.queue.append(
            pending.add(PendingDelivery(Samples.delivery(1), request, Now(monotonic: Self.at(0), wall: 0))),
            &pending)
        #expect(pool.wantsConnection(cap: 2, Self.at(0)))
        pool.add(Self.connection(1, streams: 4, inFlight: 3), Self.at(0))
        pool.observe(Self.at(0))
        #expect(!pool.wantsConnection(cap: 2, Self.at(500)))
        pool.connections[0].sent(bytes: 1)
        pool.observe(Self.at(500))
        #expect(!pool.wantsConnection(cap: 2, Self.at(699)) && pool.wantsConnection(cap: 2, Self.at(700)))
        #expect(!pool.wantsConnection(cap: 1, Self.at(700)))
    }

    @Test("after ten quiet minutes the emptiest connection goes, until two are left")
    func shrinking() {
        let entry = CredentialEntry(Samples.key())
        let pool = Pool(entry, .production)
        for number in 1...4 as ClosedRange<UInt64> {
            pool.add(Self.connection(number, streams: 100, inFlight: Int(5 - number)), Self.at(0))
        }
        var gone: [UInt64] = []
        for minute in 0..<60 as Range<Int64> {
            pool.observe(Self.at(minute * 60_000))
            guard let (connection, reason) = pool.retirable(Self.at(minute * 60_000)) else { continue }
            #expect(reason == .shrunk && minute % 10 == 0)
            gone.append(connection.id.number)
            pool.remove(connection)
        }
        #expect(gone == [4, 3])
    }

    @Test("a connection of a day is replaced after its successor has opened")
    func rotation() {
        let entry = CredentialEntry(Samples.key())
        let pool = Pool(entry, .production)
        pool.add(Self.connection(1, streams: 100), Self.at(0))
        let day = Self.at(86_400_000)
        #expect(!pool.wantsConnection(cap: 1, Self.at(86_399_999)) && pool.wantsConnection(cap: 1, day))
        #expect(pool.retirable(day) == nil)
        let next = PoolConnection(id: APNsConnectionID(2), startsAlone: true, now: day)
        pool.add(next, day)
        #expect(!pool.wantsConnection(cap: 1, day) && pool.retirable(day) == nil)
        next.opened(day)
        #expect(pool.retirable(day)?.connection.id.number == 1 && pool.retirable(day)?.reason == .rotated)
    }

    @Test("a refused credential is tried after a minute, then after twice as long, up to an hour")
    func probes() {
        var refusal = RefusalState(nil, now: Self.at(0))
        #expect(!refusal.allowsProbe(Self.at(59_999)) && refusal.allowsProbe(Self.at(60_000)))
        refusal.probe(Self.at(60_000))
        #expect(!refusal.allowsProbe(Self.at(60_001)))
        for _ in 0..<9 { refusal.refusedAgain(nil, isClock: false, now: Self.at(60_000)) }
        #expect(refusal.wait(Self.at(60_000)) == 3_600_000)
    }
}
