import Basics
import Delivery
import Store
import Synchronization
import Testing

@testable import RocksStore

/// Expects that a store is empty except for the IDs that it keeps for a day: no message, expiry entry, row or mark.
///
/// A record may have further rows: an expiry entry, a label, a row of a topic, a cursor. One that is left behind is not noticed
/// until there are millions.
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
    #expect(rocks.recent.withLock { $0.frames.count } == 0, sourceLocation: sourceLocation)
}

extension RecentFrames {
    /// The number of frames in memory.
    var count: Int { frames.count - free.count }
}

extension RocksStore {
    /// Returns the number of rows in each column family, without `meta`, `seen` and the marks of topic logs, whose rows stay.
    func rowsLeft() throws -> [Family: Int] {
        try withEngine { (engine) throws(StoreError) in
            let snapshot = engine.snapshot()
            var counts: [Family: Int] = [:]
            for family in Family.allCases where family != .meta && family != .seen {
                let rows = snapshot.cursor(family)
                while rows.isValid {
                    let isMark = family == .fanouts && TopicMark(rows.key, rows.value) != nil
                    if !isMark { counts[family, default: 0] += 1 }
                    rows.next()
                }
                try rows.finish()
            }
            return counts
        }
    }
}
