import Basics
import Delivery
import Store
import Synchronization
import Testing

@testable import RocksStore

/// Expects that a store holds nothing any more but what it remembers for a day: no message, end, row, mark or young message.
///
/// What is removed may have rows beside its own: an end, a label, a place in a topic, a cursor. One that stays is found by nobody,
/// until they are millions.
func expectNothingLeft(in store: any Store, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let audit = try store.audit()
    var empty = StoreAudit()
    empty.downstream = audit.downstream
    empty.upstream = audit.upstream
    #expect(audit == empty && audit.holds, sourceLocation: sourceLocation)
    #expect(try store.expired(by: .max).isEmpty, sourceLocation: sourceLocation)
    #expect(try store.topics(from: nil, examine: 1_000).counts.isEmpty, sourceLocation: sourceLocation)
    guard let rocks = store as? RocksStore else { return }
    #expect(try rocks.rowsLeft().isEmpty, sourceLocation: sourceLocation)
    #expect(rocks.young.withLock { $0.frameCount } == 0, sourceLocation: sourceLocation)
}

extension RocksStore {
    /// How many rows each family has; `meta` and `seen` are not for messages, and stay.
    func rowsLeft() throws -> [Family: Int] {
        try withEngine { (engine) throws(StoreError) in
            let snapshot = engine.snapshot()
            var counts: [Family: Int] = [:]
            for family in Family.allCases where family != .meta && family != .seen {
                let rows = snapshot.cursor(family)
                while rows.isValid {
                    counts[family, default: 0] += 1
                    rows.next()
                }
                try rows.finish()
            }
            return counts
        }
    }
}
