import Wire

/// The answer of `devices show`.
enum DeviceReport {
    /// As people read it.
    static func text(_ result: JSONValue) -> String {
        var text = "device      \(Report.cell(result, "device"))\n"
        text += "created     \(Report.cell(result, "created_at"))\n"
        text += "last seen   \(Report.cell(result, "seen_at"))"
        text += result["expires_at"] == nil ? "\n" : ", expires \(Report.cell(result, "expires_at"))\n"
        if let connection = result["connection"], connection["id"] != nil {
            text += "connection  \(Report.cell(connection, "id")) from \(Report.cell(connection, "peer"))"
            text += " since \(Report.cell(connection, "since"))\n"
        } else {
            text += "connection  none\n"
        }
        let mailbox = result["mailbox"] ?? .null
        text += "waiting     \(Report.cell(mailbox, "messages")) messages"
        text += ", \(Report.cell(mailbox, "with_collapse_key")) of them with a collapse key"
        text += "; \(Report.cell(mailbox, "receipts_owed")) owe a receipt\n"
        return text + registrations(result) + pending(result)
    }

    private static func registrations(_ result: JSONValue) -> String {
        let rows = result["registrations"]?.elements ?? []
        guard !rows.isEmpty else { return "\nNo registrations.\n" }
        let columns = [
            ("NO", "number"), ("APP", "category"), ("SUBTYPE", "subtype"), ("SENDER", "sender_id"),
            ("KIND", "kind"), ("WAITING", "waiting"), ("CREATED", "created_at"),
        ]
        var text = "\n" + table(columns, rows) + "\n"
        for row in rows { text += "token of \(Report.cell(row, "number"))  \(Report.cell(row, "token"))\n" }
        return text
    }

    private static func pending(_ result: JSONValue) -> String {
        let rows = result["pending"]?.elements ?? []
        guard !rows.isEmpty else { return "" }
        let columns = [
            ("PERSISTENT_ID", "persistent_id"), ("REGISTRATION", "registration"), ("EXPIRES", "expires_at"),
        ]
        var text = "\n" + table(columns, rows)
        let all =
            (result["mailbox"]?["messages"]?.integer ?? 0)
            + (result["mailbox"]?["deleted_markers"]?.integer ?? 0)
        if all > rows.count { text += "… and \(all - rows.count) more.\n" }
        return text
    }

    private static func table(_ columns: [(String, String)], _ rows: [JSONValue]) -> String {
        TextTable.text(columns.map(\.0), rows.map { row in columns.map { Report.cell(row, $0.1) } })
    }
}
