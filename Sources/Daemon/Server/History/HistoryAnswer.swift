import Basics
import Delivery
import History
import Sessions
import Wire

/// What an app server gets from the message history: its own messages alone, and neither content nor devices.
extension HistoryQuery {
    /// What the histories are asked.
    func request(_ now: UnixMilliseconds) -> HistoryRequest {
        switch subject {
        case .message(let message):
            var filter = HistoryFilter()
            (filter.name, filter.sender) = (MessageName(message), sender)
            let list = HistoryList(
                filter, limit: Limits.History.senderRows, blocks: Limits.History.senderBlocks)
            return .list(list, before: nil, after: nil)
        case .totals(let days): return .totals(of: sender, from: now.daysBefore(days))
        }
    }

    /// Returns the answer; `nil`: the history cannot be read.
    func response(_ result: HistoryResult?) -> HTTPResponse {
        guard let result else { return V1Error(Refusal.unavailable).response }
        switch result.content {
        case .list([], _, _, _) where result.missing.isEmpty: return V1Error.unknownMessage.response
        case .list(let records, _, _, let isCut):
            let answer: JSONValue = [
                "messages": .array(records.map { json($0) }), "isCut": .boolean(isCut),
                "history": result.coverage,
            ]
            return HTTPResponse(json: answer)
        case .sums(let sums):
            var members: [JSONValue.Member] = [
                .init("deliveryData", .array(sums.days.map(\.json)))
            ]
            if let since = sums.completeSince {
                members.append(.init("completeSince", .string(Timestamp.text(since))))
            }
            members.append(.init("history", result.coverage))
            return HTTPResponse(json: .object(members))
        }
    }

    private func json(_ record: HistoryRecord) -> JSONValue {
        var members: [JSONValue.Member] = [.init("kind", .string("\(record.kind)"))]
        if !record.id.isEmpty {
            members.append(.init("messageId", .string(String(decoding: record.id, as: UTF8.self))))
        }
        if record.salt != 0 {
            let id = PersistentID(sequence: SequenceNumber(record.sequence), salt: record.salt).text
            let project = String(decoding: project, as: UTF8.self)
            members.append(.init("name", .string("projects/\(project)/messages/\(id)")))
        }
        members.append(.init("steps", .array(record.steps.map(\.json))))
        return .object(members)
    }
}

extension HistoryRecord.Step {
    fileprivate var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("time", .string(Timestamp.text(time))), .init("milestone", .string(step.rawValue)),
        ]
        if !detail.isEmpty { members.append(.init("reason", .string(detail))) }
        return .object(members)
    }
}

extension HistoryResult {
    /// What the answer covers.
    fileprivate var coverage: JSONValue {
        var members: [JSONValue.Member] = []
        if let since = cover.since { members.append(.init("since", .string(Timestamp.text(since)))) }
        let gaps = cover.gaps.map { gap -> JSONValue in
            ["from": .string(Timestamp.text(gap.from)), "to": .string(Timestamp.text(gap.to))]
        }
        members += [.init("gaps", .array(gaps)), .init("damaged", .integer(cover.damaged))]
        if !missing.isEmpty {
            members.append(.init("missing", .array(missing.map { .integer(Int($0.number)) })))
        }
        return .object(members)
    }
}

extension HistoryCounter.Day {
    fileprivate var json: JSONValue {
        let date = Timestamp.text(start).prefix(10).split(separator: "-").map { Int($0) ?? 0 }
        return [
            "date": ["year": .integer(date[0]), "month": .integer(date[1]), "day": .integer(date[2])],
            // A 64-bit integer is a string in the JSON of Google's services.
            "data": .object(
                HistoryOutcome.allCases.map { .init($0.memberName, .string(String(counts[$0]))) }),
        ]
    }
}

extension HistoryOutcome {
    /// The name of the count, after FCM's data API where that has one.
    fileprivate var memberName: String {
        switch self {
        case .accepted: "countMessagesAccepted"
        case .delivered: "countMessagesDelivered"
        case .forwarded: "countMessagesForwarded"
        case .replaced: "countMessagesCollapsed"
        case .expired: "countMessagesDroppedTtlExpired"
        case .discarded: "countMessagesDroppedTooManyPendingMessages"
        case .removed: "countMessagesRemoved"
        case .refused: "countMessagesRefused"
        }
    }
}

extension UnixMilliseconds {
    /// A time on the first of `days` days, of which this is the last.
    func daysBefore(_ days: Int) -> UnixMilliseconds { self - UnixMilliseconds(days - 1) * 86_400_000 }
}

extension HTTPResponse {
    fileprivate init(json value: JSONValue) {
        var body = ByteBuffer()
        value.append(to: &body)
        self.init(.ok, HTTPResponse.json, body.copied())
    }
}

extension V1Error {
    /// The error if no message of the sender has the ID, whether or not another sender has one.
    static let unknownMessage = V1Error(
        .notFound,
        "The message history has no message of this project with this ID. Expected its message_id, or the ID in the answer to its submission; the history keeps the last hours only.",
        violations: [("message", "No message of this project has this ID.")])

    /// The error if no history is kept.
    static let historyOff = V1Error(
        .notImplemented,
        "This server keeps no message history: its operator can set history_hours and history_bytes.")
}
