import Basics
import Store
import Testing

@testable import Server

/// The mark that protects sequences from a clock set back between two runs.
@Suite("Sequence lease")
struct SequenceLeaseTests {
    private let start: UnixMilliseconds = 1_800_000_000_000
    private let lead = UInt64(Limits.sequenceLeaseSeconds) * 1_000_000

    private func mark(_ store: MemoryStore) throws -> UInt64 {
        try #require(try store.setting(SequenceLease.name)).reduce(0) { $0 << 8 | UInt64($1) }
    }

    @Test("a first start has no floor, and leaves a mark ahead of the clock before anything else")
    func first() throws {
        let store = MemoryStore()
        let lease = try SequenceLease(store: store, now: start)
        #expect(lease.floor == 0)
        #expect(try mark(store) == UInt64(start) * 1_000 + lead)
    }

    @Test("a process whose clock was set back begins above all that the one before may have used")
    func setBack() throws {
        let store = MemoryStore()
        let before = try SequenceLease(store: store, now: start)
        let later = start + 3_600_000
        try before.renew(now: later)
        let after = try SequenceLease(store: store, now: start - 86_400_000)
        #expect(after.floor >= UInt64(later) * 1_000)
        #expect(try mark(store) > after.floor)
        // It stays behind the mark, however long the clock takes to come back.
        try after.renew(now: start - 86_390_000)
        #expect(try mark(store) == after.floor + lead + UInt64(Limits.sequencesPerRenewal))
    }

    @Test("the mark is written again only when half of its lead is used up")
    func seldom() throws {
        let store = MemoryStore()
        let lease = try SequenceLease(store: store, now: start)
        let first = try mark(store)
        try lease.renew(now: start + Int64(Limits.sequenceLeaseSeconds) * 400)
        #expect(try mark(store) == first)
        try lease.renew(now: start + Int64(Limits.sequenceLeaseSeconds) * 600)
        #expect(try mark(store) > first)
    }

    @Test("canary: without the mark the floor would be none")
    func canary() throws {
        #expect(try SequenceLease(store: MemoryStore(), now: start - 86_400_000).floor == 0)
    }
}
