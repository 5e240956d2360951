import Basics
import ClusterSetup
import NATSClient
import Operator

/// The alarms of streams: one for each problem, with all streams that have it.
enum StreamAlarms {
    /// Returns the alarms, most urgent first. `problems` has the partitions of each problem.
    static func of(_ problems: [StreamProblem: [Int]], names: LogNames) -> [ShowCluster.Answer.Alarm] {
        let ordered = problems.sorted { ($0.value[0], "\($0.key)") < ($1.value[0], "\($1.key)") }
        return ordered.map { problem, partitions in alarm(problem, partitions, names) }
    }

    private static func alarm(
        _ problem: StreamProblem, _ partitions: [Int], _ names: LogNames
    ) -> ShowCluster.Answer.Alarm {
        let streams = streams(of: partitions, names)
        guard problem.isOfRedundancy else {
            return .init(
                cause: .streamUnfit, problem: "\(streams) not as it must be: \(problem)",
                action: problem == .missing
                    ? "see docs/cluster.md, a stream that is gone" : "correct it with the nats tool")
        }
        return .init(
            cause: .logDegraded,
            problem:
                "\(streams) with fewer copies than configured: \(problem); the next failure may stop them",
            action: remedy(of: problem, names.stream(partitions[0])))
    }

    private static func streams(of partitions: [Int], _ names: LogNames) -> String {
        partitions.count == 1
            ? "stream \(names.stream(partitions[0]))" : "streams of \(PartitionList.named(partitions))"
    }

    private static func remedy(of problem: StreamProblem, _ stream: String) -> String {
        switch problem {
        case .replicasSilent(let servers):
            "start the server again, and it catches up; if it will not return, start another one with a new server_name, and then: "
                + servers.map { command(for: Printable.text($0, limit: 64)) }.joined(separator: "; ")
                + " (docs/cluster.md, replace a nats-server)"
        case .replicasBehind:
            "wait if the server has just started; else look at its disk, its log and its network"
        default:
            "start another nats-server with a new server_name, then nats stream update \(stream) --replicas with the number that is expected (docs/cluster.md, replace a nats-server)"
        }
    }

    private static func command(for server: String) -> String { "nats server cluster peer-remove \(server)" }
}

extension StreamProblem {
    /// The servers that it names as silent.
    var silentServers: [String] { if case .replicasSilent(let servers) = self { servers } else { [] } }
}
