import Basics
import Operator

/// A command that lists messages of the history, and goes on with `--follow`.
protocol FollowedCommand: ReportedCommand {
    /// Returns the command for messages with a step after a position.
    func following(_ latest: HistoryCursor?) -> Self

    /// Returns the messages of an answer, and the position of the last step in the history.
    static func news(in answer: Answer) -> (messages: [HistoryRow], latest: HistoryCursor?)
}

extension FindMessages: FollowedCommand {
    func following(_ latest: HistoryCursor?) -> FindMessages {
        var next = self
        (next.before, next.after) = (nil, latest)
        return next
    }

    static func news(in answer: Answer) -> (messages: [HistoryRow], latest: HistoryCursor?) {
        (answer.messages, answer.latest)
    }
}

extension ListHistory: FollowedCommand {
    func following(_ latest: HistoryCursor?) -> ListHistory {
        var next = self
        (next.before, next.after) = (nil, latest)
        return next
    }

    static func news(in answer: Answer) -> (messages: [HistoryRow], latest: HistoryCursor?) {
        (answer.messages, answer.latest)
    }
}

/// What was printed of messages, of which later answers have further steps.
struct HistoryNews {
    private var printed: [String: Int] = [:]

    /// Returns the messages with steps that were not printed, oldest first, with these steps alone.
    mutating func take(_ messages: [HistoryRow]) -> [HistoryRow] {
        if printed.count > Limits.History.followedMessages { printed.removeAll() }
        return messages.reversed().compactMap { row in
            let start = row.steps.first.map { "\($0.time)" } ?? ""
            let key =
                "\(row.kind) \(row.messageID ?? "") \(row.persistentID ?? "") \(row.device?.number ?? 0) \(start)"
            let known = printed.updateValue(row.steps.count, forKey: key) ?? 0
            var news = row
            news.steps.removeFirst(min(known, row.steps.count))
            return news.steps.isEmpty ? nil : news
        }
    }
}
