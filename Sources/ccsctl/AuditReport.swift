import Wire

/// The answer of `audit`.
enum AuditReport {
    /// As people read it.
    static func text(_ audit: JSONValue) -> String {
        let terms = ["accepted", "delivered", "replaced", "expired", "discarded", "removed", "pending"]
        let rows = ["downstream", "upstream"].map { direction in
            [direction] + terms.map { Report.cell(audit[direction] ?? .null, $0) }
        }
        var text = TextTable.text(["DIRECTION"] + terms.map { $0.uppercased() }, rows)
        text +=
            "\n\(Report.cell(audit, "devices")) devices, \(Report.cell(audit, "registrations")) registrations, "
        let partitions = audit["partitions"]?.integer.map { " in \($0) partitions" } ?? ""
        text += "\(Report.cell(audit, "senders")) senders\(partitions)\n"
        let unreadable = audit["unreadable"]?.elements ?? []
        for record in unreadable { text += "unreadable: \(Report.plain(record))\n" }
        guard audit["holds"]?.boolean != true else {
            return text
                + "Every accepted message is accounted for: accepted = delivered + replaced + expired + discarded + removed + pending.\n"
        }
        return text
            + "IT DOES NOT HOLD: messages are missing, or counted twice. Keep the data directory and the log, and report it.\n"
    }
}
