import Basics
import Operator

extension FindMessages: ReportedCommand {
    static func text(of answer: Answer) -> String {
        var text = answer.messages.map { $0.text }.joined(separator: "\n")
        if answer.messages.isEmpty { text = "No messages were found.\n" }
        if let next = answer.nextBefore {
            text += "… and more: --limit N shows more, --before \(next.text) continues.\n"
        } else if answer.isCut {
            text += "… and more: --limit N shows more.\n"
        }
        return text + answer.coverage.text
    }
}

extension ListHistory: ReportedCommand {
    static func text(of answer: Answer) -> String {
        var text = ListReport<HistoryRow>(
            columns: [
                ("STARTED", { Report.time($0.steps.first?.time) }),
                ("MESSAGE_ID", { Report.cell($0.messageID) }), ("KIND", { Report.safe($0.kind) }),
                ("SENDER_ID", { Report.cell($0.sender) }), ("REGISTRATION", { Report.cell($0.registration) }),
                ("LAST_STEP", { Report.cell($0.steps.last?.step) }),
                ("AT", { Report.time($0.steps.last?.time) }),
                ("DETAIL", { Report.cell($0.steps.last?.detail) }),
            ], none: "The history has no messages of this device."
        ).text(answer.messages)
        if let next = answer.nextBefore {
            text += "… and more: --limit N shows more, --before \(next.text) continues.\n"
        }
        return text + answer.coverage.text
    }
}

extension CountMessages: ReportedCommand {
    /// The table of counts, whose first column is `title`.
    fileprivate static func table<Row>(
        _ rows: [Row], _ title: String, none: String, _ name: @escaping (Row) -> String,
        _ counts: @escaping (Row) -> [WordCount]
    ) -> String {
        var columns: [(title: String, cell: (Row) -> String)] = [(title, name)]
        for (at, word) in (rows.first.map(counts) ?? []).map(\.word).enumerated() {
            columns.append(
                (Report.safe(word).uppercased(), { at < counts($0).count ? "\(counts($0)[at].count)" : "" }))
        }
        return ListReport<Row>(columns: columns, none: none).text(rows)
    }

    fileprivate static func table(_ days: [Day]) -> String {
        table(
            days, "DAY", none: "The history has no messages of these days.",
            { String(Report.time($0.day).prefix(10)) }, { $0.counts })
    }

    static func text(of answer: Answer) -> String {
        var text = table(answer.days)
        if !answer.topics.isEmpty {
            text += "\n"
            text += ListReport<Topic>(
                columns: [
                    ("TOPIC", { Report.safe($0.to) }), ("SENDER_ID", { Report.cell($0.sender) }),
                    ("MESSAGES", { Report.cell($0.messages) }), ("REACHED", { Report.cell($0.reached) }),
                ], none: ""
            ).text(answer.topics)
        }
        if let since = answer.completeSince, since > answer.coverage.since ?? since {
            text += "Messages before \(Report.time(since)) are not all counted yet: ask again.\n"
        }
        if answer.unattributed > 0 {
            text += "\(answer.unattributed) messages ended while their device was away, "
            text += "and are in the counts of no sender.\n"
        }
        return text + answer.coverage.text
    }
}

extension CountHours: ReportedCommand {
    static func text(of answer: Answer) -> String {
        let hours = CountMessages.table(
            answer.hours, "HOUR", none: "No messages were counted in these hours.",
            { Report.time($0.start) }, { $0.counts })
        var text = "\(hours)\n\(CountMessages.table(answer.days))"
        if let since = answer.coverage.since { text += "Counted since \(Report.time(since)).\n" }
        return text + answer.coverage.missingText
    }
}

extension HistoryRow {
    /// The message and its steps, one in each line.
    var text: String {
        var facts = [Report.safe(kind)]
        if let sender { facts.append("sender \(sender.number)") }
        if let device { facts.append("device \(device.number)") }
        if let registration { facts.append("registration \(registration)") }
        if let persistentID { facts.append("persistent ID \(Report.safe(persistentID))") }
        if let appleID { facts.append("apns-id \(Report.safe(appleID))") }
        var text = "\(Report.cell(messageID)): \(facts.joined(separator: ", "))\n"
        for step in steps {
            let detail = step.detail.map { " (\(Report.safe($0)))" } ?? ""
            let session = step.session.map { " on session \($0.text)" } ?? ""
            text += "  \(Report.time(step.time))  \(Report.safe(step.step))\(session)\(detail)\n"
        }
        return text
    }
}

extension HistoryCoverage {
    /// The nodes that have not answered.
    fileprivate var missingText: String {
        guard !missing.isEmpty else { return "" }
        let nodes = missing.map { "\($0.number)" }.joined(separator: ", ")
        return "Steps may be missing: no answer of node \(nodes).\n"
    }

    /// What the answer may lack.
    fileprivate var text: String {
        var text = since.map { "The history begins at \(Report.time($0)).\n" } ?? "The history is empty.\n"
        text += missingText
        for gap in gaps {
            text += "Steps between \(Report.time(gap.from)) and \(Report.time(gap.to)) may be missing.\n"
        }
        if damaged > 0 { text += "Steps may be missing: \(damaged) damaged parts were left out.\n" }
        return text
    }
}
