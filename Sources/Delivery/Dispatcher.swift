package import Basics

/// The brain of one partition: who gets what, when, until acknowledged (design 1, 3).
///
/// Pure and deterministic: events and time in, effects out. The owner calls `handle` for each event of a turn, then
/// `endTurn`, gives the batch to the store in that order, and later hands in `.committed` and `.loaded` for every batch and
/// load. Batches of one partition are committed, and their outcomes told, in the order in which they were ended.
package struct Dispatcher: ~Copyable {
    let partition: Int
    let partitions: Int
    let settings: DeliverySettings

    /// A partition with nothing in memory, of so many; `seed` gives salt and jitter, `hashKey` keys the tables.
    package init(
        partition: Int, of count: Int, seed: UInt64, hashKey: (UInt64, UInt64),
        settings: DeliverySettings = DeliverySettings()
    ) {
        precondition(count > 0 && partition >= 0 && partition < count, "no such partition")
        self.partition = partition
        partitions = count
        self.settings = settings
    }

    /// Takes in one event; what follows from it is appended to `effects`.
    package mutating func handle(_ event: consuming Event, now: Now, effects: inout Effects) {}

    /// Ends the turn: takes the changes of this turn out of `effects`; nil if there are none. The ticket returns in `.committed`.
    package mutating func endTurn(now: Now, effects: inout Effects) -> WriteBatch? { nil }

    /// When `.tick` is wanted earlier than twice a second; `.distantFuture` if never.
    package var deadline: Instant { .distantFuture }
}
