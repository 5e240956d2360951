import Basics
import Catalogue
import Operator

extension ShowCluster: ReportedCommand {
    static func text(of answer: Answer) -> String { ClusterReport.text(answer) }
}

extension HandOverPartition: ReportedCommand {
    static func text(of answer: Answer) -> String {
        "Node \(answer.owner.number) owns partition \(answer.partition) now, after \(answer.milliseconds) ms.\n"
    }
}

extension RemoveNode: ReportedCommand {
    static func text(of answer: Answer) -> String {
        "Node \(answer.node.number) (\(Report.cell(answer.name))) is removed: the other nodes learn of it within a second, and refuse it.\n"
    }
}

extension AdmitNode: ReportedCommand {
    static func text(of answer: Answer) -> String {
        "Node \(answer.node.number) (\(Report.cell(answer.name))) is admitted again: the other nodes learn of it within a second.\n"
    }
}

/// The text of the status of a cluster.
enum ClusterReport {
    /// Returns the status as text.
    static func text(_ answer: ShowCluster.Answer) -> String {
        var text = "cluster \(Report.cell(answer.cluster)), as node \(answer.node.number)"
        text += " (\(Report.cell(answer.name))) sees it\(answer.isDraining ? "; it is draining" : "")\n"
        text += "log     \(log(answer.log))\n"
        let version = answer.frameVersion.map { "version \($0)" } ?? "none that all nodes read"
        text += "frames  \(version)\n"
        for problem in answer.log.problems {
            text += "stream  \(Report.cell(problem.stream)): \(Report.safe(problem.problem))\n"
        }
        for alarm in answer.alarms {
            text += "\nALARM \(alarm.cause.rawValue): \(Report.safe(alarm.problem))\n"
            text += "      what to do: \(Report.safe(alarm.action))\n"
        }
        return text + "\n" + members.text(answer.members) + "\n" + partitions.text(answer.partitions)
    }

    private static func log(_ log: ShowCluster.Answer.Log) -> String {
        guard let server = log.server else {
            return "NOT CONNECTED for \(StatusReport.span(log.disconnectedSeconds ?? 0))"
        }
        let copies = log.replicas == 1 ? "1 replica" : "\(log.replicas) replicas"
        let sync =
            switch log.syncs {
            case true: "each record is synced"
            case false: "NOT SYNCED"
            case nil: "sync not checked"
            }
        return "connected to \(Report.cell(server)) (NATS \(Report.cell(log.version))), \(copies), \(sync)"
    }

    private static var members: ListReport<ShowCluster.Answer.Member> {
        ListReport(
            columns: [
                ("NODE", { "\($0.node.number)" }), ("NAME", { Report.cell($0.name) }),
                ("STATUS", { $0.isDraining ? "\($0.status.rawValue), draining" : $0.status.rawValue }),
                ("OWNS", { "\($0.owned)" }), ("LINK", { link($0) }),
                ("CLOCK", { $0.clockMilliseconds.map { "\($0 > 0 ? "+" : "")\($0) ms" } ?? "-" }),
                ("SEEN", { $0.silentMilliseconds.map { "\($0) ms ago" } ?? "-" }),
                ("SOFTWARE", { Report.cell($0.software) }), ("ADDRESS", { Report.cell($0.address) }),
            ], none: "No nodes.")
    }

    private static func link(_ member: ShowCluster.Answer.Member) -> String {
        guard let isLinked = member.isLinked else { return "-" }
        guard isLinked else { return "down" }
        return member.roundTripMicroseconds.map { "up, \($0) us" } ?? "up"
    }

    private static var partitions: ListReport<ShowCluster.Answer.Partition> {
        ListReport(
            columns: [
                ("PARTITION", { "\($0.partition)" }),
                ("OWNER", { Report.cell($0.owner.map { Int($0.number) }) }),
                ("EPOCH", { "\($0.epoch)" }), ("ROLE", { $0.role.rawValue }),
                ("APPLIED", { "\($0.applied)" }),
                ("DURABLE", { "\($0.durable)" }), ("BEHIND", { "\($0.behind)" }),
                ("UNCONFIRMED", { "\($0.unconfirmed)" }), ("VOID", { "\($0.voids)" }),
            ], none: "No partitions.")
    }
}
