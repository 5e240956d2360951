import Basics
import Operator

extension SuspendSender: ReportedCommand {
    static func text(of answer: Answer) -> String {
        let sender = Report.cell(answer.sender)
        return answer.isChanged
            ? "Sender \(sender) is suspended: its app servers are refused until ccsctl senders resume \(sender).\n"
            : "Sender \(sender) was suspended already.\n"
    }
}

extension ResumeSender: ReportedCommand {
    static func text(of answer: Answer) -> String {
        let sender = Report.cell(answer.sender)
        return answer.isChanged
            ? "Sender \(sender) is resumed: its app servers may log in and send.\n"
            : "Sender \(sender) was not suspended.\n"
    }
}

extension ChangeLogLevel: ReportedCommand {
    static func text(of answer: Answer) -> String {
        var text = "level       \(answer.level.rawValue)\nconfigured  \(answer.configured.rawValue)\n"
        if let until = answer.until {
            text += "until       \(Report.time(until))\n"
        } else if answer.level != answer.configured {
            text += "until       the next reload or restart\n"
        }
        return text
    }
}

extension ShowConfiguration: ReportedCommand {
    static func text(of answer: Answer) -> String {
        let list = ListReport<Row>(
            columns: [
                ("KEY", { Report.cell($0.key) }), ("VALUE", { Self.value($0) }),
                ("DEFAULT", { Report.cell($0.preset) }), ("SOURCE", { Self.place($0) }),
            ], none: "Every key has its default.")
        let waiting = answer.keys.compactMap { row in
            row.pending.map {
                "pending: \(Report.safe(row.key)) is configured as \(Report.cell($0)), \(row.source == .command ? "which a reload or restart uses" : "which needs a restart")\n"
            }
        }
        return "file: \(Report.cell(answer.file))\n\n" + list.text(answer.keys) + waiting.joined()
    }

    private static func value(_ row: Row) -> String {
        Report.cell(row.value) + (row.inUse.map { " (\(Report.safe($0)))" } ?? "")
    }

    private static func place(_ row: Row) -> String {
        switch row.source {
        case .file: "\(Report.cell(row.file)):\(row.line ?? 0)"
        case .environment, .flag: Report.cell(row.name)
        case .preset, .command: row.source.rawValue
        }
    }
}

extension ListAuditLog: ReportedCommand {
    static func text(of answer: Answer) -> String {
        let list = ListReport<Row>(
            columns: [
                ("NUMBER", { Report.cell($0.number) }), ("TIME", { Report.time($0.time) }),
                ("USER", { Report.cell($0.user) }), ("PID", { Report.cell($0.process) }),
                ("COMMAND", { Report.cell($0.command) }), ("RESULT", { Report.cell($0.result) }),
                ("ARGUMENTS", { Report.cell($0.arguments) }), ("PROBLEM", { Report.cell($0.problem) }),
            ], none: "No command in the audit log meets these conditions.")
        var text = list.text(answer.entries)
        if let next = answer.nextBefore { text += "… and earlier ones: --before \(next) shows them.\n" }
        if answer.unreadable > 0 { text += "\(answer.unreadable) lines of the audit log cannot be read.\n" }
        return text
    }
}
