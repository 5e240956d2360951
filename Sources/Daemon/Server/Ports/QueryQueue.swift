import Basics
import Delivery
import Store

/// What waits for the querying thread of the store.
struct QueryQueue {
    /// Work of another thread on the store.
    typealias Job = @Sendable (any Store) -> Void

    /// The queries, with the times at which they were submitted.
    var requests: [(request: PartitionQuery, start: Instant)] = []
    var jobs: [Job] = []
    var isStopping = false

    /// Whether `more` queries and jobs fit.
    func takes(_ more: Int) -> Bool {
        !isStopping && requests.count + jobs.count + more <= Limits.Store.waitingQueries
    }
}
