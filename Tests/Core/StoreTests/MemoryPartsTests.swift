import Basics
import Delivery
import Testing

@testable import Store

/// Parts of the stores in memory: audits, counts of topics, the expiry index, mailboxes.
@Suite struct MemoryPartsTests {
    @Test(
        "An audit fails when a message is missing, surplus or unreadable")
    func law() {
        var audit = StoreAudit()
        (audit.downstream.accepted, audit.downstreamPending) = (2, 2)
        (audit.upstream.accepted, audit.upstream.delivered, audit.upstreamPending) = (3, 1, 2)
        #expect(audit.holds)
        for change in [-1, 1] {
            var other = audit
            other.downstreamPending += change
            #expect(!other.holds)
            other = audit
            other.upstreamPending += change
            #expect(!other.holds)
        }
        audit.unreadable = ["one"]
        #expect(!audit.holds)
    }

    @Test("Topics of two senders with the same name are counted separately")
    func gathered() {
        func count(_ sender: UInt64, _ subscribers: Int) -> TopicCount {
            TopicCount(sender: SenderID(sender), topic: Samples.topics[0], subscribers: subscribers)
        }
        let next = SubscriberPosition(sender: SenderID(42))
        let found = TopicCounts.gather(from: nil, while: { _, _ in true }) { place in
            place == nil
                ? TopicCounts(counts: [count(41, 2), count(42, 3)], next: next)
                : TopicCounts(counts: [count(42, 4), count(43, 5)], next: nil)
        }
        #expect(found == [count(41, 2), count(42, 7), count(43, 5)])
    }

    @Test("Removing an absent expiry key removes no other")
    func ends() {
        var keys = SortedKeys()
        let all = [10, 20, 30].map { ExpiryKey(time: $0, kind: .message, owner: 1, sequence: 2) }
        keys.insert(all[2])
        keys.insert(all[0])
        keys.remove(all[1])
        keys.remove(ExpiryKey(time: 40, kind: .message, owner: 1, sequence: 2))
        #expect(keys.keys == [all[0], all[2]])
        keys.remove(all[0])
        #expect(keys.keys == [all[2]])
    }

    @Test(
        "Empty mailboxes are kept while others are as many, and counted from zero after they were removed")
    func hollow() {
        let few = UInt64(Limits.Journal.emptyMailboxes)
        var many = Mailboxes<UInt64>()
        for owner in 1...3 * few { many.put(owner, owner, 1) }
        for owner in 1...few { many.remove(owner, 1) }
        #expect(many.count == Int(3 * few))
        for owner in few + 1...2 * few { many.remove(owner, 1) }
        #expect(many.count < Int(3 * few) && many[3 * few, 1] == 3 * few)

        var mailboxes = Mailboxes<UInt64>()
        for owner in 1..<few {
            mailboxes.put(owner, owner, 1)
            mailboxes.remove(owner, 1)
        }
        mailboxes.remove(1, 1)
        #expect(mailboxes.count == Limits.Journal.emptyMailboxes - 1, "nothing was removed")
        for owner in few...few + 1 {
            mailboxes.put(owner, owner, 1)
            mailboxes.remove(owner, 1)
        }
        #expect(mailboxes.count == 1, "the last one was added after the others were removed")
    }

    @Test("A key before the first message has no message")
    func before() {
        var mailboxes = Mailboxes<UInt64>()
        mailboxes.put(7, 1, 5)
        #expect(mailboxes[1, 4] == nil && mailboxes[1, 5] == 7 && mailboxes[1, 6] == nil)
    }
}
