import Basics
import Cluster
import Delivery
import History
import Operator

/// Answers from the message history.
extension ControlServer {
    func findMessages(_ command: FindMessages) throws(OperatorProblem) -> FindMessages.Answer {
        let id = Array(command.messageID.utf8)
        let persistent = PersistentID(text: id.raw)
        let limit = command.limit
        let (found, coverage) = try askHistory { search in
            var found = search.messages(id: id, limit: limit)
            if let persistent, found.messages.isEmpty { found = search.messages(persistent, limit: limit) }
            return found
        }
        return FindMessages.Answer(
            messages: found.messages.map { HistoryRow($0.record) }, isCut: found.isCut, coverage: coverage)
    }

    func listHistory(_ command: ListHistory) throws(OperatorProblem) -> ListHistory.Answer {
        let (device, registration) = try resolved(command.device)
        let before = command.before.map { HistoryPosition(place: $0.number) }
        let limit = command.limit
        let (page, coverage) = try askHistory { search in
            search.messages(
                device: device.number, registration: registration?.number, before: before, limit: limit)
        }
        return ListHistory.Answer(
            messages: page.messages.map { HistoryRow($0.record) },
            nextBefore: page.next.map { SequenceNumber($0.place) }, coverage: coverage)
    }

    private func askHistory<Found: Sendable>(
        _ question: @escaping @Sendable (inout HistorySearch) -> Found
    ) throws(OperatorProblem) -> (Found, HistoryCoverage) {
        guard let history = daemon.history else {
            throw OperatorProblem(
                "the message history is switched off",
                hint: "set history_hours and history_bytes, and restart ccsd")
        }
        let node = daemon.core.cluster?.member.node
        let answer = history.ask { search in
            let found = question(&search)
            let gaps = search.gaps().map { HistoryCoverage.Gap(from: $0.from, to: $0.to) }
            return (
                found,
                HistoryCoverage(since: search.start, gaps: gaps, damaged: search.damaged, node: node)
            )
        }
        guard let answer else {
            throw OperatorProblem(
                "the message history cannot be read now",
                hint: "try again; history_failed in the log of ccsd names the cause")
        }
        return answer
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
