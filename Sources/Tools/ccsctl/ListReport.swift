import Basics
import Operator

/// A list as text: a table, with a hint if it is empty or incomplete.
struct ListReport<Row> {
    /// The columns, each with its heading and cells.
    var columns: [(title: String, cell: (Row) -> String)]
    /// The text for an empty list.
    var none: String

    /// Returns the table; `next` is the value of `--after` for the next page, `leftOut` the number of rows that are not listed.
    func text(_ rows: [Row], next: String? = nil, leftOut: Int = 0) -> String {
        guard !rows.isEmpty else { return none + "\n" }
        var text = TextTable.text(columns.map(\.title), rows.map { row in columns.map { $0.cell(row) } })
        if let next { text += "… and more: --limit N shows more, --after \(Report.safe(next)) continues.\n" }
        if leftOut > 0 { text += "… and \(leftOut) more: --limit N shows more.\n" }
        return text
    }
}

extension ListSenders: ReportedCommand {
    static func text(of answer: Answer) -> String {
        ListReport<Row>(
            columns: [
                ("SENDER_ID", { Report.cell($0.sender) }), ("LABEL", { Report.cell($0.label) }),
                ("PROJECT", { Report.cell($0.project) }), ("KEYS", { Report.cell($0.keys) }),
                ("CREATED", { Report.time($0.createdAt) }), ("SUSPENDED", { Report.cell($0.isSuspended) }),
            ], none: "No senders yet: add one with ccsctl senders add."
        ).text(answer.senders)
    }
}

extension ListAccounts: ReportedCommand {
    static func text(of answer: Answer) -> String {
        ListReport<Row>(
            columns: [
                ("SENDER_ID", { Report.cell($0.sender) }), ("PROJECT", { Report.cell($0.project) }),
                ("KEY_ID", { Report.cell($0.keyID) }), ("CREATED", { Report.time($0.createdAt) }),
                ("EMAIL", { Report.cell($0.email) }),
            ], none: "No service accounts yet: add one with ccsctl service-accounts add."
        ).text(answer.accounts)
    }
}

extension ListInstallations: ReportedCommand {
    static func text(of answer: Answer) -> String {
        ListReport<InstallationRow>(
            columns: [
                ("INSTALLATION", { Report.cell($0.installation) }),
                ("SENDER_ID", { Report.cell($0.sender) }), ("CREATED", { Report.time($0.createdAt) }),
                ("USED", { Report.time($0.usedAt) }), ("ENDED", { Report.cell($0.hasEnded) }),
                ("REGISTRATIONS", { Report.cell($0.registrations) }),
            ], none: "No installations yet: apps create them with the Firebase SDKs."
        ).text(answer.installations, next: answer.nextAfter)
    }
}

extension ListSessions: ReportedCommand {
    static func text(of answer: Answer) -> String {
        ListReport<SessionRow>(
            columns: [
                ("ID", { Report.cell($0.id) }), ("KIND", { Report.cell($0.kind) }),
                ("NAME", { Report.cell($0.sender ?? $0.device) }), ("PEER", { Report.cell($0.peer) }),
                ("SINCE", { Report.time($0.since) }),
            ], none: "No peers are logged in."
        ).text(answer.sessions, leftOut: answer.leftOut)
    }
}

extension ListTopics: ReportedCommand {
    static func text(of answer: Answer) -> String {
        ListReport<Row>(
            columns: [
                ("SENDER_ID", { Report.cell($0.sender) }), ("TOPIC", { Report.cell($0.topic) }),
                ("SUBSCRIBERS", { Report.cell($0.subscribers) }),
            ], none: "No topic has subscribers."
        ).text(answer.topics, next: answer.nextAfter.map { "\($0.sender.number)/\($0.topic)" })
    }
}

extension ListRunningTopics: ReportedCommand {
    static func text(of answer: Answer) -> String {
        ListReport<Row>(
            columns: [
                ("SENDER_ID", { Report.cell($0.sender) }), ("TO", { Report.cell($0.to) }),
                ("SINCE", { Report.time($0.since) }), ("EXPIRES", { Report.time($0.expiresAt) }),
                ("REACHED", { Report.cell($0.reached) }), ("SUBSCRIBERS", { Report.cell($0.subscribers) }),
                ("ID", { Report.cell($0.messageID) }),
            ], none: "No messages to topics wait for devices."
        ).text(answer.messages, leftOut: answer.leftOut)
    }
}
