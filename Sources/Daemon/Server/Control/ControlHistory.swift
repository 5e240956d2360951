import Basics
import Cluster
import Delivery
import History
import Operator

/// Answers from the message history.
extension ControlServer {
    func findMessages(_ command: FindMessages) throws(OperatorProblem) -> FindMessages.Answer {
        let filter = HistoryFilter(command)
        let (before, after) = (Self.position(command.before), Self.position(command.after))
        let limit = command.limit
        let ((page, latest), coverage) = try askHistory { search in
            // One more than asked for shows whether an ID has more.
            let page = search.messages(
                filter, before: before, after: after, limit: filter.name == nil ? limit : limit + 1)
            return (page, search.latest)
        }
        return FindMessages.Answer(
            messages: page.messages.prefix(limit).map { HistoryRow($0.record) },
            isCut: page.next != nil || page.messages.count > limit, nextBefore: Self.number(page.next),
            latest: Self.number(latest), coverage: coverage)
    }

    func listHistory(_ command: ListHistory) throws(OperatorProblem) -> ListHistory.Answer {
        let (device, registration) = try resolved(command.device)
        let (before, after) = (Self.position(command.before), Self.position(command.after))
        let limit = command.limit
        let ((page, latest), coverage) = try askHistory { search in
            let latest = search.latest
            guard after == nil else {
                var filter = HistoryFilter()
                (filter.device, filter.registration) = (device.number, registration?.number)
                return (search.messages(filter, before: before, after: after, limit: limit), latest)
            }
            let page = search.messages(
                device: device.number, registration: registration?.number, before: before, limit: limit)
            return (page, latest)
        }
        return ListHistory.Answer(
            messages: page.messages.map { HistoryRow($0.record) }, nextBefore: Self.number(page.next),
            latest: Self.number(latest), coverage: coverage)
    }

    private static func position(_ number: SequenceNumber?) -> HistoryPosition? {
        number.map { HistoryPosition(place: $0.number) }
    }

    private static func number(_ position: HistoryPosition?) -> SequenceNumber? {
        position.map { SequenceNumber($0.place) }
    }

    func countMessages(_ command: CountMessages) throws(OperatorProblem) -> CountMessages.Answer {
        let (history, node) = (try openHistory(), daemon.core.cluster?.member.node)
        let from = Now.read().wall.daysBefore(command.days)
        let latch = Latch<CountMessages.Answer?>()
        let isTaken = history.post(
            .totals { counted in
                guard let (counter, sources) = counted else { return latch.fulfil(nil) }
                var search = HistorySearch(sources)
                let days = counter.days(of: command.sender, from: from).map { day in
                    CountMessages.Day(
                        day: day.start,
                        counts: HistoryOutcome.allCases.map { WordCount("\($0)", day.counts[$0]) })
                }
                latch.fulfil(
                    CountMessages.Answer(
                        days: days, completeSince: counter.completeSince(sources),
                        unattributed: counter.unattributed(from: from),
                        coverage: HistoryCoverage(&search, of: node, damaged: counter.damaged)))
            })
        guard isTaken, let answer = latch.wait() ?? nil else { throw .unreadableHistory }
        return answer
    }

    private func openHistory() throws(OperatorProblem) -> HistoryPort {
        guard let history = daemon.history else {
            throw OperatorProblem(
                "the message history is switched off",
                hint: "set history_hours and history_bytes, and restart ccsd")
        }
        return history
    }

    private func askHistory<Found: Sendable>(
        _ question: @escaping @Sendable (inout HistorySearch) -> Found
    ) throws(OperatorProblem) -> (Found, HistoryCoverage) {
        let (history, node) = (try openHistory(), daemon.core.cluster?.member.node)
        let answer = history.ask { search in
            let found = question(&search)
            return (found, HistoryCoverage(&search, of: node))
        }
        guard let answer else { throw .unreadableHistory }
        return answer
    }
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
}

extension HistoryCoverage {
    /// What an answer covers; `blocks` more of its parts are damaged.
    fileprivate init(_ search: inout HistorySearch, of node: NodeNumber?, damaged blocks: Int = 0) {
        let gaps = search.gaps().map { Gap(from: $0.from, to: $0.to) }
        self.init(since: search.start, gaps: gaps, damaged: search.damaged + blocks, node: node)
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
                : PersistentID(sequence: SequenceNumber(record.sequence), salt: record.salt).text,
            sender: SenderID(recorded: record.sender),
            device: record.device == 0 ? nil : DeviceID(record.device),
            registration: record.registration == 0 ? nil : Int(clamping: record.registration),
            steps: record.steps.map {
                Step(time: $0.time, step: $0.step.rawValue, detail: $0.detail.isEmpty ? nil : $0.detail)
            })
    }
}

extension HistoryPosition {
    /// The position as one number, in which later ones are greater: 12 bits name the block, 16 the record in it.
    fileprivate var place: UInt64 { file << 28 | UInt64(block) << 16 | UInt64(record) }

    fileprivate init(place: UInt64) {
        self.init(
            file: place >> 28, block: UInt32(truncatingIfNeeded: place >> 16 & 0xfff),
            record: UInt32(truncatingIfNeeded: place & 0xffff))
    }
}
