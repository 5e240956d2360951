import Basics
import Delivery
import History
import Operator

/// Answers from the message history, in a cluster from those of all nodes.
extension ControlServer {
    func findMessages(_ command: FindMessages) throws(OperatorProblem) -> FindMessages.Answer {
        let list = HistoryList(HistoryFilter(command), limit: command.limit)
        let page = try askHistory(list, before: command.before, after: command.after)
        return FindMessages.Answer(
            messages: page.rows, isCut: page.isCut, nextBefore: page.next, latest: page.latest,
            coverage: page.coverage)
    }

    func listHistory(_ command: ListHistory) throws(OperatorProblem) -> ListHistory.Answer {
        let (device, registration) = try resolved(command.device)
        var filter = HistoryFilter()
        (filter.device, filter.registration) = (device.number, registration?.number)
        let page = try askHistory(
            HistoryList(filter, limit: command.limit), before: command.before, after: command.after)
        return ListHistory.Answer(
            messages: page.rows, nextBefore: page.next, latest: page.latest, coverage: page.coverage)
    }

    func countMessages(_ command: CountMessages) throws(OperatorProblem) -> CountMessages.Answer {
        let from = daemon.clock.now().wall.daysBefore(command.days)
        let result = try askHistories(.totals(of: command.sender, from: from))
        guard case .sums(let sums) = result.content else { throw .unreadableHistory }
        let days = sums.days.map { CountMessages.Day(day: $0.start, counts: $0.counts.words) }
        return CountMessages.Answer(
            days: days, topics: sums.topics.map { CountMessages.Topic($0) },
            completeSince: sums.completeSince, unattributed: sums.unattributed,
            coverage: HistoryCoverage(result))
    }

    func countHours(_ command: CountHours) throws(OperatorProblem) -> CountHours.Answer {
        let now = daemon.clock.now().wall
        let firstDay = now.daysBefore(command.days)
        let firstHour = now - UnixMilliseconds(command.hours - 1) * HourlyCounts.hour
        // From the beginning of each.
        let day = firstDay - firstDay % (24 * HourlyCounts.hour)
        let hour = firstHour - firstHour % HourlyCounts.hour
        let result = try askHistories(.hours(from: min(day, hour)))
        guard case .sums(let sums) = result.content else { throw .unreadableHistory }
        return CountHours.Answer(
            hours: sums.days.filter { $0.start >= hour }.map {
                CountHours.Hour(start: $0.start, counts: $0.counts.words)
            },
            days: sums.byDay.filter { $0.start >= day }.map {
                CountMessages.Day(day: $0.start, counts: $0.counts.words)
            },
            coverage: HistoryCoverage(result))
    }

    private struct Page {
        var rows: [HistoryRow]
        var next: HistoryCursor?
        var latest: HistoryCursor?
        var isCut: Bool
        var coverage: HistoryCoverage
    }

    private func askHistory(
        _ list: HistoryList, before: HistoryCursor?, after: HistoryCursor?
    ) throws(OperatorProblem) -> Page {
        let histories = try openHistories()
        for (name, cursor) in [("before", before), ("after", after)] {
            guard cursor.map({ histories.covers($0) }) ?? true else { throw .foreignPosition(name) }
        }
        let result = try askHistories(.list(list, before: before, after: after))
        guard case .list(let records, let next, let latest, let isCut) = result.content else {
            throw .unreadableHistory
        }
        return Page(
            rows: records.map { HistoryRow($0) }, next: next, latest: latest, isCut: isCut,
            coverage: HistoryCoverage(result))
    }

    private func openHistories() throws(OperatorProblem) -> HistoryDesk {
        guard let histories = daemon.histories else {
            throw OperatorProblem(
                "the message history is switched off",
                hint: "set history_hours and history_bytes, and restart ccsd")
        }
        return histories
    }

    private func askHistories(_ request: HistoryRequest) throws(OperatorProblem) -> HistoryResult {
        let latch = Latch<HistoryResult?>()
        guard try openHistories().ask(request, then: { latch.fulfil($0) }),
            let result = latch.wait() ?? nil
        else { throw .unreadableHistory }
        return result
    }
}

extension OutcomeCounts {
    fileprivate var words: [WordCount] { HistoryOutcome.allCases.map { WordCount("\($0)", self[$0]) } }
}

extension HistoryFilter {
    fileprivate init(_ command: FindMessages) {
        self.init()
        name = command.messageID.map { MessageName(Array($0.utf8)) }
        (sender, since, until) = (command.sender, command.since, command.until)
        state =
            switch command.outcome {
            case nil: nil
            case .waiting: .open
            case .delivered: .ended(.delivered)
            case .forwarded: .ended(.forwarded)
            case .replaced: .ended(.replaced)
            case .expired: .ended(.expired)
            case .discarded: .ended(.discarded)
            case .removed: .ended(.removed)
            case .refused: .ended(.refused)
            }
    }
}

extension OperatorProblem {
    fileprivate static let unreadableHistory = OperatorProblem(
        "the message history cannot be read now",
        hint: "try again; history_failed in the log of ccsd names the cause")

    fileprivate static func foreignPosition(_ name: String) -> OperatorProblem {
        OperatorProblem(
            "\(name) is no position in the history of this server",
            hint: "take it from next_before or latest of an earlier answer")
    }
}

extension HistoryCoverage {
    fileprivate init(_ result: HistoryResult) {
        let cover = result.cover
        self.init(
            since: cover.since, gaps: cover.gaps.map { Gap(from: $0.from, to: $0.to) },
            damaged: cover.damaged,
            missing: result.missing)
    }
}

extension HistoryRecord {
    fileprivate var persistentID: PersistentID {
        PersistentID(sequence: SequenceNumber(sequence), salt: salt)
    }

    /// Whether it was offered to Apple.
    fileprivate var isForApple: Bool {
        kind == .downstream && device != 0 && salt != 0
            && steps.contains { $0.step == .forwarded || $0.step == .deferred }
    }
}

extension CountMessages.Topic {
    fileprivate init(_ sum: TopicSum) {
        self.init(
            to: String(decoding: sum.topic.target, as: UTF8.self), sender: SenderID(sum.topic.sender),
            messages: sum.messages, reached: sum.reached)
    }
}

extension HistoryRow {
    fileprivate init(_ record: HistoryRecord) {
        self.init(
            kind: "\(record.kind)",
            messageID: record.id.isEmpty ? nil : String(decoding: record.id, as: UTF8.self),
            // The persistent ID of an upstream message is internal; clients identify it by its message_id.
            persistentID: record.salt == 0
                ? nil
                : record.persistentID.text,
            appleID: record.isForApple ? record.persistentID.appleID(for: DeviceID(record.device)) : nil,
            sender: SenderID(recorded: record.sender),
            device: record.device == 0 ? nil : DeviceID(record.device),
            registration: record.registration == 0 ? nil : Int(clamping: record.registration),
            steps: record.steps.map {
                Step(
                    time: $0.time, step: $0.step.rawValue, detail: $0.detail.isEmpty ? nil : $0.detail,
                    session: $0.session)
            })
    }
}
