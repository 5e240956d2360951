import Basics
import Delivery
import Store

/// Moving recent messages to the engine.
extension Commit {
    /// Adds messages that leave memory to the writes to the engine.
    mutating func moveToEngine(
        _ survivors: RecentIndex.Survivors, from recent: borrowing RecentMessages
    ) throws(StoreError) {
        for messageKey in survivors.keys {
            let (row, end) = try demand(
                recent.row(at: messageKey), "a message that moves to the engine is not in memory",
                "\(messageKey)")
            let partition = partition(of: messageKey)
            try demand(
                index.mayContain(messageKey.sequence, in: partition),
                "a recent message has a sequence above the highest one", "\(messageKey)")
            batch.put(messageKey, row.record, end: end)
            earliestExpiries.add(end, of: partition)
            highest = max(highest, messageKey.sequence)
        }
        for (key, time) in survivors.seen {
            batch.put(.seen, key.key.bytes, Key(UInt64(bitPattern: time)).bytes)
        }
    }

    /// Adds the applied commit and the changed tallies to the writes to the engine.
    mutating func recordApplied(_ commit: UInt64) {
        for partition in unrecorded.list {
            tallies[partition].write(of: partition, to: &buffer)
            let key = MetaKey.tally(partition)
            batch.put(.meta, key.raw, buffer.bytes)
        }
        unrecorded.removeAll()
        engine.recordApplied(commit, highest: highest, in: batch)
    }
}
