import Basics
import Delivery
import Operator

/// The figures of senders.
extension ControlServer {
    func senderStatistics(_ command: SenderStatistics) throws(OperatorProblem) -> SenderStatistics.Answer {
        if let sender = command.sender { try requireSender(sender) }
        let only = command.sender
        var sessions: [SenderID: SenderSessions] = [:]
        var refused: [SenderID: [Int]] = [:]
        for part in try ask({ ($0.senderSessions(of: only), $0.refusals(of: only)) }) {
            for (sender, counts) in part.0 { sessions[sender, default: SenderSessions()].add(counts) }
            for (sender, counts) in part.1 {
                refused[sender] = refused[sender].map { zip($0, counts).map(+) } ?? counts
            }
        }
        let window = daemon.configuration.pendingWindow
        var rows: [SenderStatistics.Row] = []
        for record in daemon.senders.directory.all where only == nil || record.sender == only {
            let own = sessions[record.sender] ?? SenderSessions()
            let counts = daemon.senderFigures.counts(of: record.sender) ?? SenderCounts()
            let waiting = try waiting(for: record.sender)
            rows.append(
                SenderStatistics.Row(
                    sender: record.sender, label: record.label, isSuspended: record.isSuspended,
                    sessions: own.sessions, draining: own.draining,
                    window: (own.sessions - own.draining) * window, unacknowledged: own.unacknowledged,
                    waiting: waiting, isWaitingCounted: waiting < Limits.Operator.countedUpstream,
                    downstream: Self.words(counts, isUpstream: false),
                    upstream: Self.words(counts, isUpstream: true),
                    refused: zip(Metric.refusalReasons, refused[record.sender] ?? []).map {
                        WordCount($0, $1)
                    }
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

extension ReactorHost {
    /// Returns the refusals of one sender or of all on this reactor.
    fileprivate func refusals(of sender: SenderID?) -> [SenderID: [Int]] {
        guard let sender else { return senderRefusals.all }
        return senderRefusals.counts(of: sender).map { [sender: $0] } ?? [:]
    }
}
