import Basics
import Delivery
import Testing

@testable import Server

/// The metrics of senders: a bounded number of names, and counters that never fall.
@Suite struct SenderRankingTests {
    private func accepted(_ count: Int) -> SenderCounts {
        var counts = SenderCounts()
        counts[.accepted] = count
        return counts
    }

    private func text(_ ranking: SenderRanking) -> [String] {
        ranking.rows.map { "\($0.sender.map { "\($0.number)" } ?? "other") \($0.counts[.accepted])" }
    }

    private func at(_ seconds: Int) -> Instant { Instant(nanoseconds: 0).advanced(seconds: seconds) }

    @Test("senders get names until there are no more, and the others are counted together")
    func names() {
        var ranking = SenderRanking(names: 2)
        for sender in [7, 5, 9, 8] as [UInt64] { ranking.add(accepted(1), of: SenderID(sender)) }
        ranking.add(accepted(3), of: SenderID(9))
        #expect(text(ranking) == ["5 1", "7 1", "other 5"])
    }

    @Test("the busiest senders since the last ranking get the names, and no counter falls")
    func ranks() {
        var ranking = SenderRanking(names: 2)
        ranking.rank(now: at(0))
        for sender in [5, 7, 9] as [UInt64] { ranking.add(accepted(10), of: SenderID(sender)) }
        ranking.add(accepted(1), of: SenderID(9))
        ranking.rank(now: at(Limits.Metrics.rankingSeconds - 1))
        #expect(text(ranking) == ["5 10", "7 10", "other 11"], "not again within a minute")
        ranking.rank(now: at(Limits.Metrics.rankingSeconds))
        #expect(text(ranking) == ["5 10", "9 0", "other 11"], "9 was busier than 7, and equal ones stay")
        ranking.add(accepted(4), of: SenderID(9))
        ranking.add(accepted(20), of: SenderID(7))
        #expect(text(ranking) == ["5 10", "9 4", "other 31"])
        ranking.rank(now: at(2 * Limits.Metrics.rankingSeconds))
        #expect(text(ranking) == ["7 10", "9 4", "other 31"], "the series of 7 continues where it paused")
    }

    @Test("every message is counted once in any order of rankings, and no series ever falls")
    func monotonic() {
        var random = SeededRandom(seed: 7)
        var ranking = SenderRanking(names: 3, capacity: 9)
        var seen: [UInt64: Int] = [:]
        var total = 0
        for step in 0..<2_000 {
            let sender = random.next() % 12
            ranking.add(accepted(1), of: SenderID(sender))
            total += 1
            if step % 40 == 0 { ranking.rank(now: at(step * Limits.Metrics.rankingSeconds)) }
            let rows = ranking.rows
            #expect(rows.count <= 4)
            for row in rows {
                let key = row.sender?.number ?? .max
                #expect(row.counts[.accepted] >= seen[key] ?? 0, "\(key) at \(step)")
                seen[key] = row.counts[.accepted]
            }
        }
        #expect(seen.values.reduce(0, +) == total, "hidden series keep what they counted")
    }

    @Test("refused messages are counted by reason, and together with the other messages")
    func reasons() {
        let figures = SenderFigures()
        for _ in 1...2 {
            var tally = SenderTally()
            tally.countRefused(.refusal(.notRegistered), of: SenderID(5), 3)
            tally.countRefused(.malformed, of: SenderID(5))
            tally.countRefused(.malformed, of: SenderID(6))
            tally.countRefused(.malformed, of: nil)
            // As that of a turn of another partition.
            var sum = SenderTally()
            sum.add(tally)
            figures.add(sum)
        }
        let sums = figures.sums(of: SenderID(5))
        let found = zip(Metric.refusalReasons, sums?.refused ?? []).filter { $1 > 0 }.map { "\($0) \($1)" }
        #expect(found == ["not_registered 6", "malformed 2"])
        #expect(sums?.counts[.refused] == 8 && figures.sums(of: SenderID(6))?.counts[.refused] == 2)
        #expect(figures.sums(of: SenderID(7)) == nil)
    }

    @Test("canary: a table that forgot a message would be found")
    func canary() {
        var ranking = SenderRanking(names: 1)
        ranking.add(accepted(2), of: SenderID(5))
        #expect(text(ranking) != ["5 1", "other 0"] && text(ranking) == ["5 2", "other 0"])
    }
}
