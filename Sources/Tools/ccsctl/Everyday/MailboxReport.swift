import Basics
import Operator

extension ListDevices: ReportedCommand {
    static func text(of answer: Answer) -> String {
        let next = answer.nextAfter.map { String($0.number) }
        guard !answer.devices.isEmpty else {
            guard let next else {
                return answer.examined == 0
                    ? "No devices yet: ccs-device register simulates one.\n"
                    : "None of the \(answer.examined) devices meets these conditions.\n"
            }
            return
                "None of the \(answer.examined) devices up to \(next) meets these conditions: --after \(next) continues.\n"
        }
        return ListReport<Row>(
            columns: [
                ("DEVICE", { String($0.device.number) }), ("CREATED", { Report.time($0.createdAt) }),
                ("SEEN", { Report.time($0.seenAt) }), ("ONLINE", { Report.cell($0.isOnline) }),
                ("CHANNELS", { Report.cell($0.channels.map(\.rawValue).joined(separator: ",")) }),
                ("REGISTRATIONS", { Report.cell($0.registrations) }),
                ("WAITING", { Report.cell($0.waiting) }),
            ], none: ""
        ).text(answer.devices, next: next)
    }
}

extension ListScheduled: ReportedCommand {
    static func text(of answer: Answer) -> String {
        ListReport<ListMessages.Row>(
            columns: [
                ("SEND_AT", { Report.cell($0.sendAt.map { Report.time($0) }) }),
                ("MESSAGE_ID", { Report.cell($0.messageID) }),
                ("PERSISTENT_ID", { Report.cell($0.persistentID) }),
                ("SENDER_ID", { Report.cell($0.sender) }), ("DEVICE", { String($0.device.number) }),
                ("APP", { Report.cell($0.app) }), ("BYTES", { Report.cell($0.bytes) }),
                ("STORED", { Report.time($0.storedAt) }), ("EXPIRES", { Report.time($0.expiresAt) }),
            ], none: "No messages are scheduled."
        ).text(answer.messages, next: answer.nextAfter)
    }
}

extension ListMessages: ReportedCommand {
    static func text(of answer: Answer) -> String {
        ListReport<Row>(
            columns: [
                ("MESSAGE_ID", { Report.cell($0.messageID) }),
                ("PERSISTENT_ID", { Report.cell($0.persistentID) }), ("KIND", { $0.kind.rawValue }),
                ("SENDER_ID", { Report.cell($0.sender) }), ("DEVICE", { String($0.device.number) }),
                ("REGISTRATION", { Report.cell($0.registration) }), ("APP", { Report.cell($0.app) }),
                ("BYTES", { Report.cell($0.bytes) }), ("COLLAPSE_KEY", { Report.cell($0.collapseKey) }),
                ("PRIORITY", { Report.cell($0.priority?.rawValue) }),
                ("STORED", { Report.time($0.storedAt) }), ("EXPIRES", { Report.time($0.expiresAt) }),
                ("STATE", { $0.state.rawValue }),
            ], none: "No messages are pending."
        ).text(answer.messages, next: answer.nextAfter.map { String($0.number) })
    }
}

extension CancelMessages: ReportedCommand {
    static func text(of answer: Answer) -> String {
        let late = answer.tooLate > 0 ? "; too late for \(answer.tooLate)" : ""
        return "Cancelled: \(answer.cancelled)\(late).\n"
    }
}

extension SenderStatistics: ReportedCommand {
    static func text(of answer: Answer) -> String {
        let table = ListReport<Row>(
            columns: [
                ("SENDER_ID", { Report.cell($0.sender) }), ("LABEL", { Report.cell($0.label) }),
                ("SUSPENDED", { Report.cell($0.isSuspended) }),
                ("SESSIONS", { Report.cell($0.sessions) }), ("DRAINING", { Report.cell($0.draining) }),
                ("WINDOW", { "\($0.unacknowledged)/\($0.window)" }),
                ("UP_WAITING", { "\($0.waiting)\($0.isWaitingCounted ? "" : "+")" }),
                ("DOWN_ACCEPTED", { Report.cell(count("accepted", in: $0.downstream)) }),
                ("DOWN_DELIVERED", { Report.cell(count("delivered", in: $0.downstream)) }),
                ("UP_ACCEPTED", { Report.cell(count("accepted", in: $0.upstream)) }),
                ("UP_DELIVERED", { Report.cell(count("delivered", in: $0.upstream)) }),
                ("REFUSED", { Report.cell($0.refused.reduce(0) { $0 + $1.count }) }),
            ], none: "No senders yet: add one with ccsctl senders add.")
        var text = "since \(Report.time(answer.since))\n\n" + table.text(answer.senders)
        guard answer.senders.count == 1, let row = answer.senders.first else { return text }
        for (name, counts) in [
            ("downstream", row.downstream), ("upstream", row.upstream), ("refused", row.refused),
        ] {
            let words = counts.filter { $0.count != 0 }.map { "\(Report.safe($0.word)) \($0.count)" }
            text += "\(name): \(words.isEmpty ? "nothing yet" : words.joined(separator: ", "))\n"
        }
        return text
    }

    private static func count(_ word: String, in counts: [WordCount]) -> Int {
        counts.first { $0.word == word }?.count ?? 0
    }
}
