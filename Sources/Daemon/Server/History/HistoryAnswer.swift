import Basics
import Delivery
import History
import Sessions
import Wire

/// What an app server gets from the message history: its own messages alone, and neither content nor devices.
extension HistoryQuery {
    /// Returns the question to the history, whose answer goes to `send`; `node` is the one whose history it is, in a cluster.
    func question(
        of node: NodeNumber?, _ now: UnixMilliseconds, _ send: @escaping @Sendable (HTTPResponse) -> Void
    ) -> HistoryPort.Question {
        switch subject {
        case .message(let message):
            .search { sources in
                send(
                    sources.map { response(message, from: $0, of: node) }
                        ?? V1Error(Refusal.unavailable).response)
            }
        case .totals(let days):
            .totals { counted in
                send(
                    counted.map { response($0.0, from: $0.1, of: node, since: now.daysBefore(days)) }
                        ?? V1Error(Refusal.unavailable).response)
            }
        }
    }

    private func response(
        _ message: [UInt8], from sources: [HistorySource], of node: NodeNumber?
    ) -> HTTPResponse {
        var search = HistorySearch(sources, blocks: Limits.History.senderBlocks)
        let found = search.messages(MessageName(message), of: sender, limit: Limits.History.senderRows)
        guard !found.messages.isEmpty else { return V1Error.unknownMessage.response }
        let answer: JSONValue = [
            "messages": .array(found.messages.map { json($0.record) }), "isCut": .boolean(found.isCut),
            "history": search.coverage(of: node),
        ]
        return HTTPResponse(json: answer)
    }

    private func response(
        _ counter: HistoryCounter, from sources: [HistorySource], of node: NodeNumber?,
        since: UnixMilliseconds
    ) -> HTTPResponse {
        var search = HistorySearch(sources)
        var members: [JSONValue.Member] = [
            .init("deliveryData", .array(counter.days(of: sender, from: since).map(\.json)))
        ]
        if let since = counter.completeSince(sources) {
            members.append(.init("completeSince", .string(Timestamp.text(since))))
        }
        members.append(.init("history", search.coverage(of: node, damaged: counter.damaged)))
        return HTTPResponse(json: .object(members))
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

extension HistorySearch {
    /// What the answer covers.
    fileprivate mutating func coverage(of node: NodeNumber?, damaged blocks: Int = 0) -> JSONValue {
        var members: [JSONValue.Member] = []
        if let start { members.append(.init("since", .string(Timestamp.text(start)))) }
        let gaps = gaps().map { gap -> JSONValue in
            ["from": .string(Timestamp.text(gap.from)), "to": .string(Timestamp.text(gap.to))]
        }
        members += [.init("gaps", .array(gaps)), .init("damaged", .integer(damaged + blocks))]
        if let node { members.append(.init("node", .integer(Int(node.number)))) }
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
