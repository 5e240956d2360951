import Basics

/// What a partition of a cluster waits for from other partitions since this node has taken it.
///
/// A node may lose a partition and take it again while answers to its events are still under way. They must not reach the partition: it
/// has begun anew, and an answer that it does not wait for would break it.
struct OpenAnswers {
    private let partition: Int
    private let partitions: Int
    private var open: [PendingKey: Int] = [:]

    init(partition: Int, of partitions: Int) {
        self.partition = partition
        self.partitions = partitions
    }

    /// Notes what waits in the partition for the answer to an event that it has decided to send, whether it leaves or not.
    mutating func note(_ event: borrowing Event) {
        for request in event.openRequests where request.key.session == nil {
            // What waits in a partition is answered by an event for it. A partition that passes an event on does not wait.
            guard case .event(let answer) = request.answer,
                answer.key?.partition(of: partitions) == partition
            else { continue }
            open[request.key, default: 0] += 1
        }
    }

    /// Whether the partition gets an event: any but an answer that it does not wait for.
    mutating func takes(_ event: borrowing Event) -> Bool {
        guard let key = event.answeredKey else { return true }
        guard let count = open[key] else { return event.countsWhenLate }
        open[key] = count > 1 ? count - 1 : nil
        return true
    }
}
