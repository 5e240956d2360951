import Wire

/// The answer of `status`.
enum StatusReport {
    /// As people read it.
    static func text(_ status: JSONValue) -> String {
        let cell = { Report.cell(status, $0) }
        var text =
            "ccsd \(cell("version")), pid \(cell("pid")), \(cell("state")) for \(span(status["uptime_seconds"]?.integer ?? 0))\n\n"
        for listener in status["listeners"]?.elements ?? [] {
            let port = Report.cell(listener, "port")
            let address = Report.cell(listener, "address")
            let host = address.contains(":") ? "[\(address)]" : address
            text += row(
                "listens", "\(host)\(port == "0" ? "" : ":\(port)")  \(Report.cell(listener, "name"))")
        }
        text += row("app servers", cell("app_servers")) + row("devices", cell("devices"))
        let refused = status["connections"]?["refused"]?.members ?? []
        if !refused.isEmpty {
            let words = refused.map { "\(Report.safe($0.key)) \(Report.plain($0.value))" }
            text += row("refused", "connections at accept: " + words.joined(separator: ", "))
        }
        for direction in ["downstream", "upstream"] {
            let counts = (status[direction]?.members ?? []).filter { $0.value.integer != 0 }
            let words = counts.map { "\(Report.safe($0.key)) \(Report.plain($0.value))" }
            text += row(direction, words.isEmpty ? "nothing yet" : words.joined(separator: ", "))
        }
        if let topics = status["topics"],
            topics["accepted"]?.integer != 0 || topics["under_way"]?.integer != 0
        {
            text += row(
                "topics",
                "\(Report.cell(topics, "accepted")) messages to \(Report.cell(topics, "recipients")) devices, "
                    + "\(Report.cell(topics, "under_way")) under way")
        }
        if let problem = status["clock_problem"]?.text {
            text += row("clock", "\(Report.safe(problem)); see ccsctl clock show")
        }
        if let store = status["store"] {
            let partitions = store["partitions"]?.integer.map { ", \($0) partitions" } ?? ""
            text += row(
                "store", "\(Report.cell(store, "kind")), \(Report.cell(store, "path"))\(partitions)")
            if store["healthy"]?.boolean == false {
                text += row("", "IT FAILS: nothing is accepted; see the log, and the disk")
            }
        }
        if let registry = status["registry"], let bytes = registry["bytes"]?.integer {
            let limit = registry["limit"]?.integer ?? 0
            text += row("registry", size(bytes) + (limit > 0 ? " of \(size(limit))" : ", no limit"))
            if registry["full"]?.boolean == true {
                text += row("", "IT IS FULL: nothing new is added; raise registry_bytes, or remove devices")
            }
        }
        return text + row("certificate", "valid until \(cell("certificate_not_after"))")
    }

    private static func row(_ name: String, _ value: String) -> String {
        name + String(repeating: " ", count: max(1, 13 - name.count)) + value + "\n"
    }

    /// Bytes in units that people read, to a tenth.
    static func size(_ bytes: Int) -> String {
        guard bytes >= 1_024 else { return "\(bytes) bytes" }
        let units = ["KiB", "MiB", "GiB", "TiB"]
        var (whole, rest, unit) = (bytes / 1_024, bytes % 1_024, 0)
        while whole >= 1_024, unit < units.count - 1 {
            (whole, rest, unit) = (whole / 1_024, whole % 1_024, unit + 1)
        }
        return "\(whole).\(rest * 10 / 1_024) \(units[unit])"
    }

    /// Seconds as people say them.
    static func span(_ seconds: Int) -> String {
        let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60)
        if days > 0 { return "\(days) d \(hours) h" }
        if hours > 0 { return "\(hours) h \(minutes) min" }
        return minutes > 0 ? "\(minutes) min \(seconds % 60) s" : "\(seconds) s"
    }
}
