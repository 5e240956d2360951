import Basics
import Wire

/// Answers of the daemon as people read them.
enum Report {
    /// The text of a command's result.
    static func text(of result: JSONValue, for command: String) -> String {
        if let list = lists[command] { return text(of: list, result) }
        switch command {
        case "status": return StatusReport.text(result)
        case "audit": return AuditReport.text(result)
        case "service-accounts add":
            return
                "service account  \(cell(result, "email"))\nproject          \(cell(result, "project"))\n"
                + "key file         \(cell(result, "file"))\n\n"
                + "Keep the file: its private key is stored nowhere else.\n"
        case "service-accounts remove":
            return "Service account \(cell(result, "email")) is removed; its access tokens are void.\n"
        case "devices show": return DeviceReport.text(result)
        case "installations show": return InstallationReport.text(result)
        case "installations revoke": return "The tokens of \(cell(result, "installation")) are revoked.\n"
        case "devices trace": return TraceReport.summary(result)
        case "senders add", "senders rotate-key": return key(result)
        case "senders remove": return "Sender \(cell(result, "sender_id")) is removed.\n"
        case "devices forget":
            return
                "Forgotten, with \(cell(result, "registrations")) registrations and \(cell(result, "messages")) messages.\n"
        case "send": return sent(result)
        case "drain": return "\(cell(result, "sessions")) sessions were drained.\n"
        case "clock show": return clock(result)
        case "clock accept": return accepted(result)
        case "reload": return reloaded(result)
        case "check": return check(result)
        default: return result.pretty + "\n"
        }
    }

    // MARK: Lists

    /// What a list is made of.
    private struct List {
        /// The member of the result that holds its rows.
        var rows: String
        /// The heading of each column, and the member of a row that stands in it.
        var columns: [(title: String, key: String)]
        /// What is said where there is none.
        var none: String
    }

    /// The lists, by their commands.
    private static let lists: [String: List] = [
        "senders list": List(
            rows: "senders",
            columns: [
                ("SENDER_ID", "sender_id"), ("LABEL", "label"), ("PROJECT", "project"),
                ("KEYS", "keys"), ("CREATED", "created_at"), ("SUSPENDED", "suspended"),
            ],
            none: "No senders yet: ccsctl senders add makes one."),
        "service-accounts list": List(
            rows: "accounts",
            columns: [
                ("SENDER_ID", "sender_id"), ("PROJECT", "project"), ("KEY_ID", "key_id"),
                ("CREATED", "created_at"), ("EMAIL", "email"),
            ],
            none: "No service accounts yet: ccsctl service-accounts add makes one."),
        "devices list": List(
            rows: "devices",
            columns: [("DEVICE", "device"), ("CREATED", "created_at"), ("SEEN", "seen_at")],
            none: "No devices yet: ccs-device register makes one."),
        "installations list": List(
            rows: "installations",
            columns: [
                ("INSTALLATION", "installation"), ("SENDER_ID", "sender_id"), ("CREATED", "created_at"),
                ("USED", "used_at"), ("ENDED", "ended"), ("REGISTRATIONS", "registrations"),
            ],
            none: "No installations yet: an app makes one when it registers by the Firebase SDKs."),
        "sessions list": List(
            rows: "sessions",
            columns: [
                ("ID", "id"), ("KIND", "kind"), ("WHO", "sender_id|device"), ("PEER", "peer"),
                ("SINCE", "since"),
            ],
            none: "Nobody is logged in."),
        "topics list": List(
            rows: "topics",
            columns: [("SENDER_ID", "sender_id"), ("TOPIC", "topic"), ("SUBSCRIBERS", "subscribers")],
            none: "Nobody subscribes to a topic."),
        "topics running": List(
            rows: "messages",
            columns: [
                ("SENDER_ID", "sender_id"), ("TO", "to"), ("SINCE", "since"), ("SENT", "sent"),
                ("DONE", "done"), ("TOTAL", "total"), ("ID", "message_id"),
            ],
            none: "No message to a topic is under way."),
    ]

    private static func text(of list: List, _ result: JSONValue) -> String {
        let rows = result[list.rows]?.elements ?? []
        guard !rows.isEmpty else { return list.none + "\n" }
        let columns = list.columns
        var text = TextTable.text(columns.map(\.title), rows.map { row in columns.map { cell(row, $0.key) } })
        if let last = result["next_after"] {
            text += "… and more: --limit N shows more, --after \(plain(last)) goes on.\n"
        }
        if let leftOut = result["left_out"]?.integer, leftOut > 0 {
            text += "… and \(leftOut) more: --limit N shows more.\n"
        }
        return text
    }

    /// One member as text; of `a|b` the first that is there.
    static func cell(_ row: JSONValue, _ key: String) -> String {
        for name in key.split(separator: "|") {
            if let value = row[String(name)] { return plain(value) }
        }
        return "-"
    }

    /// A value as people read it.
    static func plain(_ value: JSONValue) -> String {
        switch value {
        case .null: return "-"
        case .boolean(let truth): return truth ? "yes" : "no"
        case .string(let text): return text.isEmpty ? "-" : safe(text)
        default: return safe(value.compact)
        }
    }

    /// Text of a stranger without what moves a terminal's cursor.
    static func safe(_ text: String) -> String { Printable.text(text) }

    // MARK: Single answers

    private static func accepted(_ result: JSONValue) -> String {
        let what = result["accepted"]?.boolean == true ? "is believed" : "was not in doubt"
        return "The clock \(what): \(cell(result, "time")).\n"
    }

    private static func clock(_ result: JSONValue) -> String {
        var text = "time      \(cell(result, "time"))\n"
        guard result["in_doubt"]?.boolean == true else { return text + "believed  yes\n" }
        text += "believed  no: \(cell(result, "problem"))\n"
        if let seconds = result["believed_in_seconds"]?.integer {
            text += "          by itself in \(StatusReport.span(seconds))\n"
        }
        return text + "Nothing ends by age meanwhile: set the clock, or accept it: ccsctl clock accept\n"
    }

    private static func key(_ result: JSONValue) -> String {
        var text = "sender ID   \(cell(result, "sender_id"))\n"
        if result["project"] != nil { text += "project     \(cell(result, "project"))\n" }
        text += "server key  \(cell(result, "key"))\n"
        if result["old_keys_expire_at"] != nil {
            text += "old keys    valid until \(cell(result, "old_keys_expire_at"))\n"
        }
        return text + "\nKeep the key: it is stored as a hash only and cannot be shown again.\n"
    }

    private static func sent(_ result: JSONValue) -> String {
        guard result["outcome"]?.text == "nack" else { return "ACK for \(cell(result, "message_id")).\n" }
        return "NACK \(cell(result, "error")): \(cell(result, "error_description"))\n"
    }

    private static func reloaded(_ result: JSONValue) -> String {
        func names(_ member: String) -> String? {
            let names = result[member]?.elements ?? []
            return names.isEmpty ? nil : names.map(plain).joined(separator: ", ")
        }
        var text = "The new configuration and certificates are in use.\n"
        if let changed = names("changed") { text += "changed: \(changed)\n" }
        if let waiting = names("needs_restart") { text += "needs a restart: \(waiting)\n" }
        return text
    }

    private static func check(_ result: JSONValue) -> String {
        let findings = result["findings"]?.elements ?? []
        let lines = findings.map { "\(cell($0, "severity")): \(cell($0, "text"))\n" }.joined()
        return lines
            + (result["ok"]?.boolean == true
                ? "The configuration is sound.\n" : "The configuration is not sound.\n")
    }
}
