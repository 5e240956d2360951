import Basics
import Delivery
import History

@testable import NodeProtocol

// Questions to the history of a node, and its answers.

extension RandomValues {
    mutating func question(_ number: HistoryQuestionCase) -> HistoryQuestion {
        switch number {
        case .list: .list(historyList())
        case .parts:
            .parts(
                list {
                    HistoryPart(
                        kind: $0.one(), owner: $0.number(), sequence: $0.number(), sender: $0.number())
                })
        case .totals: .totals(of: optional { $0.sender() }, from: signed())
        case .hours: .hours(from: signed())
        }
    }

    private mutating func historyList() -> HistoryList {
        var filter = HistoryFilter()
        filter.name = optional { MessageName(id: $0.bytes()) }
        filter.sender = optional { $0.sender() }
        filter.device = optional { $0.number() }
        filter.registration = optional { $0.number() }
        filter.since = optional { $0.signed() }
        filter.until = optional { $0.signed() }
        filter.state = optional { $0.flag() ? .open : .ended($0.one()) }
        var made = HistoryList(
            filter, limit: below(Limits.History.rows + 1), blocks: below(Limits.History.examinedBlocks + 1))
        made.before = optional { HistoryPosition(place: $0.number()) }
        made.after = optional { HistoryPosition(place: $0.number()) }
        made.isPartial = flag()
        return made
    }

    mutating func historyReply(_ number: HistoryContentCase) -> HistoryReply {
        let content: HistoryReply.Content =
            switch number {
            case .page:
                .page(
                    HistoryPage(
                        list { $0.historyMessage() }, next: optional { HistoryPosition(place: $0.number()) },
                        latest: optional { HistoryPosition(place: $0.number()) }, isCut: flag()))
            case .sums:
                .sums(
                    HistorySums(
                        days: list { $0.historyDay() }, completeSince: optional { $0.signed() },
                        unattributed: below(1_000),
                        topics: list {
                            TopicSum(
                                CountedTopic(sender: $0.number(), target: $0.bytes()),
                                messages: $0.below(1_000), reached: $0.below(1_000))
                        }))
            }
        let gaps = list { HistoryGap(from: $0.signed(), to: $0.signed()) }
        return HistoryReply(
            content, HistoryCover(since: optional { $0.signed() }, gaps: gaps, damaged: below(1_000)))
    }

    private mutating func historyMessage() -> HistoryMessage {
        var record = HistoryRecord(one())
        record.id = bytes()
        (record.device, record.registration, record.sender) = (number(), number(), number())
        (record.sequence, record.salt) = (number(), small())
        record.steps = list {
            .init(
                time: $0.signed(), step: $0.one(), detail: $0.flag() ? "" : "apns",
                session: $0.optional { SessionID($0.connection()) })
        }
        return HistoryMessage(record: record, position: HistoryPosition(place: number()))
    }

    private mutating func historyDay() -> HistoryCounter.Day {
        var counts = OutcomeCounts()
        for outcome in HistoryOutcome.allCases { counts[outcome] = below(1_000) }
        return HistoryCounter.Day(start: signed(), counts: counts)
    }
}
