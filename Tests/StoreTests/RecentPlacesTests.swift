import Basics
import Delivery
import Store
import Testing

@testable import RocksStore

/// What the store remembers of its last commits is never wrong and never much.
@Suite struct RecentPlacesTests {
    private func place(_ sequence: UInt64) -> Place { Place(kind: .message, owner: 7, sequence: sequence) }

    @Test func `what stands at a place is told until it changes`() {
        var recent = RecentPlaces()
        #expect(recent[place(1)] == nil)
        recent[place(1)] = .present(MessageRecord.Header(isCounted: true, expiresAt: 9))
        guard case .present(let header) = recent[place(1)] else {
            Issue.record("the place is not known")
            return
        }
        #expect(header.expiresAt == 9)
        recent[place(1)] = .absent
        guard case .absent = recent[place(1)] else {
            Issue.record("the removal is not known")
            return
        }
        #expect(recent[Place(kind: .upstream, owner: 7, sequence: 1)] == nil)
        #expect(recent[Place(kind: .message, owner: 8, sequence: 1)] == nil)
    }

    @Test func `beyond its limit all is forgotten between commits`() {
        var recent = RecentPlaces()
        for sequence in 0..<UInt64(Limits.storeRecentPlaces) { recent[place(sequence)] = .absent }
        recent.trim()
        #expect(recent[place(5)] != nil)
        recent[place(UInt64(Limits.storeRecentPlaces))] = .absent
        recent.trim()
        #expect(recent[place(5)] == nil)
    }
}
