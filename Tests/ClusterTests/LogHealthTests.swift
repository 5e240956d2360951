import Basics
import Cluster
import Testing

@Suite("the health of the log")
struct LogHealthTests {
    private func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

    /// The times from 0 to an end at which the server is left, looked at ten times a second.
    private func departures(
        _ health: inout LogHealth, dueSince: Instant?, from start: Int64 = 0, until end: Int64
    ) -> [Int64] {
        stride(from: start, through: end, by: 100).filter { health.tick(dueSince: dueSince, now: at($0)) }
    }

    @Test("a server that confirms nothing is left after two seconds, and then with growing pauses")
    func leaves() {
        var health = LogHealth(servers: 3)
        #expect(
            departures(&health, dueSince: at(0), until: 100_000)
                == [2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 96_000])
        #expect(health.unconfirmedSince == at(0))
    }

    @Test("the confirmations of one log show that the server works, although another has no leader")
    func election() {
        var health = LogHealth(servers: 3)
        for time in stride(from: 0, through: 9_000, by: 500) as StrideThrough<Int64> {
            health.confirmed(at(time))
            let leaves = health.tick(dueSince: at(0), now: at(time + 400))
            #expect(!leaves)
        }
        #expect(health.unconfirmedSince == nil)
        #expect(departures(&health, dueSince: at(0), from: 9_100, until: 11_500) == [11_000])
        #expect(health.unconfirmedSince == at(9_000))
    }

    @Test("nothing that is due is no trouble, and without another server none is left")
    func quiet() {
        var health = LogHealth(servers: 3)
        #expect(departures(&health, dueSince: nil, until: 60_000) == [] && health.unconfirmedSince == nil)
        var only = LogHealth(servers: 1)
        #expect(departures(&only, dueSince: at(0), until: 60_000) == [])
        #expect(only.unconfirmedSince == at(0))
    }

    @Test("a new connection ends no trouble: a confirmation does, or another node while nothing is due")
    func recovery() {
        var health = LogHealth(servers: 3)
        _ = departures(&health, dueSince: at(0), until: 2_500)
        // The new connection begins to ask.
        for dueSince in [nil, at(2_600)] {
            let leaves = health.tick(dueSince: dueSince, now: at(2_700))
            #expect(!leaves)
            #expect(health.unconfirmedSince == at(0))
        }
        var other = health
        other.heard(isDue: true)
        #expect(other.unconfirmedSince == at(0))
        other.heard(isDue: false)
        #expect(other.unconfirmedSince == nil)
        health.confirmed(at(2_800))
        #expect(health.unconfirmedSince == nil)
        // The pauses begin anew.
        #expect(departures(&health, dueSince: at(3_000), from: 3_000, until: 9_500) == [5_000, 7_000])
    }
}
