/// Queries about the partitions of a reactor, between turns.
extension TurnLoop {
    /// The first partition, which represents all where they must agree; `nil` if there are no partitions.
    public var leader: HostedPartition? { all.lazy.compactMap { $0 }.first }

    /// Calls a closure with each partition.
    public func forEach(_ body: (borrowing Partition) -> Void) {
        for case let hosted? in all { body(hosted.core) }
    }

    /// Calls a closure with a partition of this reactor. Returns `nil` if the partition belongs to another one.
    public func query<Answer>(_ partition: Int, _ body: (borrowing Partition) -> Answer) -> Answer? {
        guard all.indices.contains(partition - first), let hosted = all[partition - first] else { return nil }
        return body(hosted.core)
    }

    /// Returns up to `limit` live messages to topics, the newest first, and the number of all. Each partition has all of them.
    public func runningTopics(limit: Int) -> (messages: [LiveTopicMessage], count: Int) {
        var found: (messages: [LiveTopicMessage], count: Int) = ([], 0)
        forEach { partition in
            let running = partition.runningTopics(limit: limit)
            found.messages = found.messages.merged(with: running.messages, limit: limit)
            found.count = max(found.count, running.count)
        }
        return found
    }
}
