import Basics
import Testing

@testable import Store

/// Mailboxes in memory compared with a dictionary.
@Suite struct MailboxesTests {
    @Test(
        "Mailboxes equal a dictionary after random puts and removals",
        arguments: 1...8 as ClosedRange<UInt64>)
    func random(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var mailboxes = Mailboxes<UInt64>()
        var model: [UInt64: [UInt64: UInt64]] = [:]
        var next: UInt64 = 0
        for step in 0..<4_000 {
            let owner = UInt64.random(in: 1...3, using: &random)
            let known = model[owner, default: [:]].keys.sorted()
            switch Int.random(in: 0..<10, using: &random) {
            case 0...4:
                next += 1
                let place =
                    Int.random(in: 0..<8, using: &random) == 0
                    ? UInt64.random(in: 0...next, using: &random) : next
                let isFree = model[owner]?[place] == nil
                #expect(mailboxes.put(place * 7, owner, place) == isFree)
                if isFree { model[owner, default: [:]][place] = place * 7 }
            case 5...7:
                guard let oldest = known.first else { continue }
                #expect(mailboxes.remove(owner, oldest) == oldest * 7)
                model[owner]?[oldest] = nil
            case 8:
                let place = known.randomElement(using: &random) ?? next + 1
                #expect(mailboxes.remove(owner, place) == model[owner]?[place])
                model[owner]?[place] = nil
            default:
                let after = UInt64.random(in: 0...next, using: &random)
                let limit = Int.random(in: 1...9, using: &random)
                let behind = known.filter { $0 > after }
                let (page, isLast) = mailboxes.page(owner, after: after, limit: limit)
                #expect(
                    page.map(\.element) == behind.prefix(limit).map { $0 * 7 }
                        && page.map(\.sequence) == Array(behind.prefix(limit))
                        && isLast == (behind.count <= limit),
                    "step \(step)")
            }
            #expect(mailboxes[owner, next] == model[owner]?[next])
        }
        #expect(mailboxes.count == 3)
        for owner in 1...3 as ClosedRange<UInt64> {
            #expect(
                mailboxes.all(owner).map(\.element) == model[owner, default: [:]].keys.sorted().map { $0 * 7 }
            )
        }
        var count = 0
        mailboxes.forEach { owner, sequence, element in
            count += 1
            #expect(model[owner]?[sequence] == element)
        }
        #expect(count == model.values.reduce(0) { $0 + $1.count })
    }

    @Test("Empty mailboxes are kept while they are few, or fewer than the others")
    func hollow() {
        var mailboxes = Mailboxes<UInt64>()
        let few = UInt64(Limits.Journal.emptyMailboxes)
        for owner in 1..<few {
            mailboxes.put(owner, owner, 1)
            mailboxes.remove(owner, 1)
        }
        #expect(mailboxes.count == Limits.Journal.emptyMailboxes - 1)
        mailboxes.put(7, 1, 2)
        mailboxes.remove(1, 2)
        #expect(
            mailboxes.count == Limits.Journal.emptyMailboxes - 1, "one that was filled again is counted once")
        mailboxes.put(8, 1, 3)
        mailboxes.put(few, few, 1)
        mailboxes.remove(few, 1)
        #expect(mailboxes.count == Limits.Journal.emptyMailboxes)
        mailboxes.put(9, few + 1, 1)
        mailboxes.remove(few + 1, 1)
        #expect(mailboxes.count == 1 && mailboxes[1, 3] == 8, "they were removed when they were too many")
    }
}
