import Basics
import Operator

extension ShowStatus: ReportedCommand {
    static func text(of answer: Answer) -> String { StatusReport.text(answer) }
}

/// The text of the status.
enum StatusReport {
    /// Returns the status as text.
    static func text(_ status: ShowStatus.Answer) -> String {
        var text = "ccsd \(Report.cell(status.version)), pid \(status.process), "
        text += "\(Report.cell(status.state)), up \(span(status.uptimeSeconds))\n\n"
        for listener in status.listeners {
            let address = Report.cell(listener.address)
            let host = address.contains(":") ? "[\(address)]" : address
            let port = listener.port == 0 ? "" : ":\(listener.port)"
            text += row("listens", "\(host)\(port)  \(Report.cell(listener.name))")
        }
        text += row("app servers", "\(status.appServers)") + row("devices", "\(status.devices)")
        if !status.connections.refused.isEmpty {
            text += row("refused", "connections at accept: " + words(status.connections.refused))
        }
        for (name, counts) in [("downstream", status.downstream), ("upstream", status.upstream)] {
            let reached = counts.filter { $0.count != 0 }
            text += row(name, reached.isEmpty ? "nothing yet" : words(reached))
        }
        let topics = status.topics
        if topics.accepted != 0 || topics.inProgress != 0 {
            text += row(
                "topics",
                "\(topics.accepted) messages to \(topics.recipients) devices, \(topics.inProgress) in progress"
            )
        }
        if let problem = status.clockProblem {
            text += row("clock", "\(Report.safe(problem)); see ccsctl clock show")
        }
        if let clock = status.testClock { text += row("test clock", Self.text(of: clock)) }
        let store = "\(Report.cell(status.store.kind)), \(Report.cell(status.store.path))"
        text += row("store", "\(store), \(status.store.partitions) partitions")
        if !status.store.isHealthy {
            text += row("", "IT FAILS: no messages are accepted; check the log and the disk")
        }
        text += registry(status.registry) + cluster(status.cluster)
        return text + row("certificate", "valid until \(Report.time(status.certificateNotAfter))")
    }

    /// Returns how far a clock for tests is ahead of the machine.
    static func text(of clock: TestClockRow) -> String {
        clock.advancedSeconds == 0
            ? "can be advanced with ccsctl clock advance"
            : "\(span(clock.advancedSeconds)) ahead of the machine, \(Report.time(clock.time))"
    }

    /// Returns the lines of the cluster; none without one.
    static func cluster(_ cluster: ShowStatus.Answer.Cluster?) -> String {
        guard let cluster else { return "" }
        var text = row(
            "cluster",
            "node \(cluster.node.number) (\(Report.cell(cluster.name))) of \(Report.cell(cluster.cluster)), owns \(cluster.owned) of \(cluster.partitions) partitions"
        )
        if !cluster.isConnected { text += row("", "NO CONNECTION TO ITS LOG: see ccsctl cluster status") }
        if cluster.alarms > 0 { text += row("", "ALARMS: \(cluster.alarms); see ccsctl cluster status") }
        return text
    }

    private static func registry(_ registry: ShowStatus.Answer.Registry) -> String {
        let limit = registry.limit > 0 ? " of \(size(registry.limit))" : ", no limit"
        let text = row("registry", size(registry.bytes) + limit)
        guard registry.isFull else { return text }
        return text
            + row("", "IT IS FULL: nothing is added; raise registry_bytes, or remove devices")
    }

    private static func words(_ counts: [WordCount]) -> String {
        counts.map { "\(Report.safe($0.word)) \($0.count)" }.joined(separator: ", ")
    }

    private static func row(_ name: String, _ value: String) -> String {
        name + String(repeating: " ", count: max(1, 13 - name.count)) + value + "\n"
    }

    /// Formats a size with a binary unit and one decimal.
    static func size(_ bytes: Int) -> String {
        guard bytes >= 1_024 else { return "\(bytes) bytes" }
        let units = ["KiB", "MiB", "GiB", "TiB"]
        var (whole, rest, unit) = (bytes / 1_024, bytes % 1_024, 0)
        while whole >= 1_024, unit < units.count - 1 {
            (whole, rest, unit) = (whole / 1_024, whole % 1_024, unit + 1)
        }
        return "\(whole).\(rest * 10 / 1_024) \(units[unit])"
    }

    /// Formats a duration with its two largest units.
    static func span(_ seconds: Int) -> String {
        let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60)
        if days > 0 { return "\(days) d \(hours) h" }
        if hours > 0 { return "\(hours) h \(minutes) min" }
        return minutes > 0 ? "\(minutes) min \(seconds % 60) s" : "\(seconds) s"
    }
}
