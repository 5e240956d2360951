import Basics
import Delivery
import Operator

/// The figures of senders.
extension ControlServer {
    func senderStatistics(_ command: SenderStatistics) throws(OperatorProblem) -> SenderStatistics.Answer {
        if let sender = command.sender { try requireSender(sender) }
        let only = command.sender
        var sessions: [SenderID: SenderSessions] = [:]
        for part in try ask({ $0.senderSessions(of: only) }) {
            for (sender, counts) in part { sessions[sender, default: SenderSessions()].add(counts) }
        }
        let window = daemon.configuration.pendingWindow
        var rows: [SenderStatistics.Row] = []
        for record in daemon.senders.directory.all where only == nil || record.sender == only {
            let own = sessions[record.sender] ?? SenderSessions()
            let sums = daemon.senderFigures.sums(of: record.sender) ?? SenderFigures.Sums()
            let waiting = try waiting(for: record.sender)
            rows.append(
                SenderStatistics.Row(
                    sender: record.sender, label: record.label, isSuspended: record.isSuspended,
                    sessions: own.sessions, draining: own.draining,
                    window: (own.sessions - own.draining) * window, unacknowledged: own.unacknowledged,
                    waiting: waiting, isWaitingCounted: waiting < Limits.Operator.countedUpstream,
                    downstream: Self.words(sums.counts, isUpstream: false),
                    upstream: Self.words(sums.counts, isUpstream: true),
                    refused: zip(Metric.refusalReasons, sums.refused).map { WordCount($0, $1) }
                        .filter { $0.count > 0 }))
        }
        return SenderStatistics.Answer(since: daemon.startedAt.wall, senders: rows)
    }

    /// Returns the number of messages in a sender's mailbox, counted up to a limit.
    private func waiting(for sender: SenderID) throws(OperatorProblem) -> Int {
        var count = 0
        try forEachUpstream(of: sender) { _ in
            count += 1
            return count < Limits.Operator.countedUpstream
        }
        return count
    }

    /// The counts of one direction by milestone: those that are not 0, and that of accepted messages.
    private static func words(_ counts: SenderCounts, isUpstream: Bool) -> [WordCount] {
        SenderCount.allCases.filter { $0.meaning.isUpstream == isUpstream }.map {
            WordCount($0.meaning.milestone.rawValue, counts[$0])
        }
        .filter { $0.count > 0 || $0.word == Milestone.accepted.rawValue }
    }
}
