import Basics

/// Which partitions of a reactor send topic messages to their connected devices: few at a time, in turn.
///
/// A batch of a partition costs as much as several recipients, and their acknowledgements come together, too. With all partitions at once,
/// each had two recipients in a batch, so that no batch was long, and a recipient cost almost twice as much.
struct TopicTurns {
    /// While the messages of one partition are stored, those of another one are sent.
    static let partitionsAtOnce = 2

    /// The partitions that wait, oldest first.
    private var waiting: [HostedPartition] = []
    /// Those whose batch is on its way to the disk.
    private var storing: [HostedPartition] = []

    /// Has a partition wait for its turn, if it needs one.
    mutating func add(_ hosted: HostedPartition) {
        guard !hosted.waitsForTopics, hosted.core.isTopicDue, !hosted.isLeaving else { return }
        hosted.waitsForTopics = true
        waiting.append(hosted)
    }

    /// Returns the next partition whose turn it is; `nil` if there are enough, or none waits.
    mutating func next() -> HostedPartition? {
        storing.removeAll { !$0.core.isStoringTopics || $0.isLeaving }
        guard storing.count < Self.partitionsAtOnce, !waiting.isEmpty else { return nil }
        let hosted = waiting.removeFirst()
        hosted.waitsForTopics = false
        return hosted
    }

    /// A partition has had its turn.
    mutating func began(_ hosted: HostedPartition) {
        if hosted.core.isStoringTopics { storing.append(hosted) }
    }
}

extension TurnLoop {
    /// Gives partitions their turns to send topic messages. Returns whether they have something to let out.
    func giveTopicTurns(now: Now) -> Bool {
        for hosted in active { topicTurns.add(hosted) }
        var hasOutput = false
        while let hosted = topicTurns.next() {
            guard all[hosted.number - first] === hosted, !hosted.isLeaving else { continue }
            handle(.partition(.topicsTurn), hosted, now)
            topicTurns.began(hosted)
            if hosted.hasOutput { hasOutput = true }
        }
        return hasOutput
    }
}
