import Basics
import Client
import Operator

/// A command that lists messages of the history, and goes on with `--follow`.
protocol FollowedCommand: ReportedCommand where Answer: FollowedAnswer {
    var limit: Int { get set }
    var before: HistoryCursor? { get set }
    var after: HistoryCursor? { get set }
}

/// A page of messages, newest first.
protocol FollowedAnswer {
    var messages: [HistoryRow] { get }
    /// Whether there are more messages.
    var isCut: Bool { get }
    var nextBefore: HistoryCursor? { get }
    /// The position of the last step in the history.
    var latest: HistoryCursor? { get }

    /// Appends the page that follows.
    mutating func append(_ page: Self)
}

extension FindMessages: FollowedCommand {}
extension FindMessages.Answer: FollowedAnswer {
    mutating func append(_ page: Self) {
        messages += page.messages
        (nextBefore, isCut) = (page.nextBefore, page.isCut)
    }
}
extension ListHistory: FollowedCommand {}
extension ListHistory.Answer: FollowedAnswer {
    var isCut: Bool { nextBefore != nil }

    mutating func append(_ page: Self) {
        messages += page.messages
        nextBefore = page.nextBefore
    }
}

extension FollowedCommand {
    /// Returns the command for messages with a step after a position, as many at once as there may be.
    func following(_ latest: HistoryCursor?) -> Self {
        var next = self
        (next.before, next.after, next.limit) = (nil, latest, Limits.History.rows)
        return next
    }

    /// Returns the messages of all pages, newest first: up to `Limits.History.followedPages` of them. It is cut if there are more.
    func allPages(_ ask: (Self) throws(Failure) -> Answer) throws(Failure) -> Answer {
        var command = self
        var all = try ask(command)
        for _ in 1..<Limits.History.followedPages {
            guard let next = all.nextBefore else { break }
            command.before = next
            all.append(try ask(command))
        }
        return all
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
