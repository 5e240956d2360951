import Basics
import Cluster
import Testing

@Suite("the health of the log")
struct LogHealthTests {
    private func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

    /// The times from a start to an end at which something is to be done, looked at ten times a second.
    private func times(
        _ step: LogHealth.Step, _ health: inout LogHealth, dueSince: Instant?, isConnected: Bool = true,
        from start: Int64 = 0, until end: Int64
    ) -> [Int64] {
        stride(from: start, through: end, by: 100).filter {
            health.tick(dueSince: dueSince, isConnected: isConnected, now: at($0)) == step
        }
    }

    @Test("a server behind which nothing works is left after 1.8 seconds, and then with growing pauses")
    func leaves() {
        var health = LogHealth(servers: 3)
        #expect(
            times(.leave, &health, dueSince: at(0), until: 100_000)
                == [1_800, 3_800, 7_800, 15_800, 31_800, 63_800, 95_800])
        #expect(health.unprovedSince == at(0))
    }

    @Test("streams are asked for a proof as long as there is none, and none without a connection")
    func asks() {
        var health = LogHealth(servers: 3)
        #expect(times(.ask, &health, dueSince: at(0), until: 1_700) == [300, 600, 900, 1_200, 1_500])
        var cut = LogHealth(servers: 3)
        cut.disconnected(at(0))
        #expect(times(.ask, &cut, dueSince: nil, isConnected: false, until: 9_000) == [])
        #expect(times(.leave, &cut, dueSince: nil, isConnected: false, from: 9_000, until: 9_900) == [])
        #expect(times(.ask, &cut, dueSince: nil, from: 10_000, until: 10_200) == [10_100])
    }

    @Test(
        "one log without a leader, or that is gone, is no trouble as long as the leaders of others have a majority"
    )
    func election() {
        var health = LogHealth(servers: 3)
        for time in stride(from: 300, through: 60_000, by: 300) as StrideThrough<Int64> {
            let step = health.tick(dueSince: at(0), isConnected: true, now: at(time))
            #expect(step != .leave)
            // They are together with their majority once a second.
            if step == .ask { health.heard(majorityAt: at(time / 1_000 * 1_000), now: at(time)) }
        }
        #expect(health.unprovedSince == nil)
        // Now the server is cut off: the leader goes on to answer with its last majority.
        for time in stride(from: 60_300, through: 62_700, by: 300) as StrideThrough<Int64> {
            _ = health.tick(dueSince: at(0), isConnected: true, now: at(time))
            health.heard(majorityAt: at(60_000), now: at(time))
        }
        #expect(health.unprovedSince == at(60_000))
    }

    @Test("the confirmations of one log prove that the server works")
    func confirmations() {
        var health = LogHealth(servers: 3)
        for time in stride(from: 0, through: 9_000, by: 500) as StrideThrough<Int64> {
            health.confirmed(at(time))
            #expect(health.tick(dueSince: at(0), isConnected: true, now: at(time + 400)) != .leave)
        }
        #expect(health.unprovedSince == nil)
        #expect(times(.leave, &health, dueSince: at(0), from: 9_100, until: 11_500) == [10_800])
        #expect(health.unprovedSince == at(9_000))
    }

    @Test(
        "where nothing is due, a proof is asked for a second after the last one; without any the server is left"
    )
    func quiet() {
        var health = LogHealth(servers: 3)
        var asked: [Int64] = []
        for time in stride(from: 0, through: 10_000, by: 100) as StrideThrough<Int64> {
            let step = health.tick(dueSince: nil, isConnected: true, now: at(time))
            #expect(step != .leave)
            guard step == .ask else { continue }
            asked.append(time)
            health.heard(majorityAt: at(time - 300), now: at(time))
        }
        #expect(asked.prefix(3) == [1_000, 1_700, 2_400] && health.unprovedSince == nil)
        let last = (asked.last ?? 0) - 300
        #expect(times(.leave, &health, dueSince: nil, from: 10_100, until: last + 2_800) == [last + 2_800])
        #expect(
            health.unprovedSince == at(last + 1_000), "it is not ready three seconds after the last proof")
        var cut = LogHealth(servers: 3)
        #expect(times(.ask, &cut, dueSince: nil, isConnected: false, until: 9_000) == [])
    }

    @Test("without another server none is left")
    func only() {
        var only = LogHealth(servers: 1)
        #expect(times(.leave, &only, dueSince: at(0), until: 60_000) == [])
        #expect(only.unprovedSince == at(0))
    }

    @Test("a new connection ends no trouble: only a proof does, whether something is due or not")
    func recovery() {
        var health = LogHealth(servers: 3)
        _ = times(.leave, &health, dueSince: at(0), until: 2_500)
        health.disconnected(at(2_500))
        for dueSince in [nil, at(2_600)] {
            #expect(health.tick(dueSince: dueSince, isConnected: true, now: at(2_700)) != .leave)
            #expect(health.unprovedSince == at(0))
        }
        // Another server that is cut off as well.
        health.heard(majorityAt: at(100), now: at(2_700))
        #expect(health.unprovedSince == at(0))
        var other = health
        other.heard(majorityAt: at(2_000), now: at(2_700))
        #expect(other.unprovedSince == nil)
        health.confirmed(at(2_800))
        #expect(health.unprovedSince == nil)
        // The pauses begin anew.
        #expect(times(.leave, &health, dueSince: at(3_000), from: 3_000, until: 9_500) == [4_800, 6_800])
    }

    @Test("servers that are lost and reached again and again prove nothing")
    func flapping() {
        var health = LogHealth(servers: 3)
        for time in stride(from: 0, through: 3_000, by: 500) as StrideThrough<Int64> {
            health.disconnected(at(time))
            _ = health.tick(dueSince: nil, isConnected: false, now: at(time + 100))
            _ = health.tick(dueSince: at(time + 200), isConnected: true, now: at(time + 300))
        }
        #expect(health.unprovedSince == at(0))
    }
}
