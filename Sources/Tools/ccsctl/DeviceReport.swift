import Basics
import Operator

extension ShowDevice: ReportedCommand {
    static func text(of answer: Answer) -> String {
        var text = "device      \(answer.device.number)\n"
        text += "created     \(Report.time(answer.createdAt))\n"
        text += "last seen   \(Report.time(answer.seenAt))"
        text += answer.expiresAt == nil ? "\n" : ", expires \(Report.time(answer.expiresAt))\n"
        if let connection = answer.connection {
            text += "connection  \(Report.cell(connection.id)) from \(Report.cell(connection.peer))"
            text += " since \(Report.time(connection.since))\n"
        } else {
            text += "connection  none\n"
        }
        text += "pending     \(answer.mailbox.messages) messages"
        text += ", \(answer.mailbox.withCollapseKey) of them with a collapse key"
        text += "; \(answer.mailbox.pendingReceipts) delivery receipts\n"
        return text + registrations(answer.registrations) + pending(answer)
    }

    private static func registrations(_ rows: [RegistrationRow]) -> String {
        guard !rows.isEmpty else { return "\nNo registrations.\n" }
        let list = ListReport<RegistrationRow>(
            columns: [
                ("NO", { Report.cell($0.number) }), ("APP", { Report.cell($0.category) }),
                ("SUBTYPE", { Report.cell($0.subtype) }), ("SENDER", { Report.cell($0.sender) }),
                ("KIND", { Report.cell($0.kind) }), ("WAITING", { Report.cell($0.waiting) }),
                ("CREATED", { Report.time($0.createdAt) }),
            ], none: "")
        var text = "\n" + list.text(rows) + "\n"
        for row in rows { text += "token of \(row.number)  \(Report.cell(row.token.revealed))\n" }
        return text
    }

    private static func pending(_ answer: Answer) -> String {
        guard !answer.pending.isEmpty else { return "" }
        let list = ListReport<PendingRow>(
            columns: [
                ("PERSISTENT_ID", { Report.cell($0.persistentID) }),
                ("REGISTRATION", { Report.cell($0.registration) }),
                ("EXPIRES", { Report.time($0.expiresAt) }),
            ], none: "")
        var text = "\n" + list.text(answer.pending)
        let all = answer.mailbox.messages + answer.mailbox.deletedMarkers
        if all > answer.pending.count { text += "… and \(all - answer.pending.count) more.\n" }
        return text
    }
}

extension ForgetDevice: ReportedCommand {
    static func text(of answer: Answer) -> String {
        "Removed, with \(answer.registrations) registrations and \(answer.messages) messages.\n"
    }
}
