import Basics
import Delivery
import Testing

@testable import Server

/// What all threads of a node ask about the log and the leases.
@Suite("the contact of a node with the log") struct ClusterContactTests {
    private func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

    /// A sender whose partition is one of two.
    private func sender(in partition: Int) throws -> SenderID {
        let ids = (1...64).lazy.map { SenderID($0) }
        return try #require(ids.first { PartitionKey.sender($0).partition(of: 2) == partition })
    }

    @Test("a node accepts no work before there is a connection, and when the log has been silent")
    func problems() {
        let contact = ClusterContact(partitions: 2)
        #expect(contact.problem(at(1)) == "there is no connection to the log of the cluster yet")
        contact.connected()
        #expect(contact.problem(at(1)) == nil)
        contact.disconnected(at(1_000))
        #expect(contact.problem(at(2_999)) == nil)
        let lost = "there has been no connection to the log of the cluster for 2 s"
        #expect(contact.problem(at(3_000)) == lost)
        contact.connected()
        contact.note(unprovedSince: at(4_000))
        #expect(contact.problem(at(5_999)) == nil)
        #expect(contact.problem(at(6_000)) == "the log of the cluster has confirmed nothing for 2 s")
        contact.note(unprovedSince: nil)
        #expect(contact.problem(at(9_000)) == nil)
        contact.note(trouble: "no version fits")
        #expect(contact.problem(at(9_000)) == "no version fits")
        contact.note(trouble: nil)
        #expect(contact.problem(at(9_000)) == nil)
    }

    @Test("what is known of a sender is what is known of its own partition")
    func senders() throws {
        let contact = ClusterContact(partitions: 2)
        let senders = try [0, 1].map { try sender(in: $0) }
        #expect(!contact.areSendersCurrent(from: at(100), to: at(100)))
        contact.note(known: [.distantPast, at(1_000)], at(100))
        #expect(!contact.isCurrent(senders[0], from: at(200), to: at(300)))
        #expect(contact.isCurrent(senders[1], from: at(200), to: at(300)))
        #expect(!contact.isCurrent(senders[1], from: at(99), to: at(300)), "it was read before")
        #expect(!contact.isCurrent(senders[1], from: at(200), to: at(1_000)))
        #expect(!contact.areSendersCurrent(from: at(200), to: at(300)), "one of two is missing")
        contact.note(known: [at(1_000), at(1_000)], at(300))
        #expect(contact.areSendersCurrent(from: at(300), to: at(999)))
        #expect(!contact.coversSessions(of: senders[0], at(1_000 + Limits.ClusterHost.sessionMilliseconds)))
        #expect(contact.coversSessions(of: senders[0], at(999 + Limits.ClusterHost.sessionMilliseconds)))
    }

    @Test("who waits for a lease is woken by the next one, once")
    func waits() {
        let lease = PartitionLease()
        #expect(lease.until == .distantPast)
        #expect(!lease.set(at(1_000)), "no thread waits")
        lease.wait()
        #expect(!lease.set(.distantPast), "there is no lease to wake it for")
        #expect(lease.set(at(2_000)) && lease.until == at(2_000))
        #expect(!lease.set(at(3_000)))
    }
}
