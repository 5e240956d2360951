import Wire

/// The lines of `devices trace`.
enum TraceReport {
    /// One of them as people read it.
    static func text(_ name: String, _ line: JSONValue) -> String {
        guard name == "trace" else {
            return "Tracing device \(Report.cell(line, "device")); Ctrl-C ends it.\n"
        }
        let time = (line["time"]?.text ?? "").dropFirst(11).prefix(12)
        let arrow =
            switch line["direction"]?.text {
            case "downstream": "down"
            case "upstream": "up  "
            default: "    "
            }
        let step = Report.cell(line, "step")
        var text = "\(Report.safe(String(time)))  \(arrow)  "
        text += step + String(repeating: " ", count: max(0, 13 - step.count))
        let rest = [
            ("message_id", ""), ("sender_id", "sender "), ("registration", "registration "), ("detail", ""),
            ("persistent_id", ""),
        ].compactMap { key, label in line[key] == nil ? nil : label + Report.cell(line, key) }
        text += rest.joined(separator: "  ")
        while text.hasSuffix(" ") { text.removeLast() }
        return text + "\n"
    }

    /// What is said at the end.
    static func summary(_ result: JSONValue) -> String {
        var text = "\(Report.cell(result, "lines")) steps"
        if let leftOut = result["left_out"]?.integer, leftOut > 0 {
            text += "; \(leftOut) more were left out: this terminal was too slow"
        }
        return text + ".\n"
    }
}
