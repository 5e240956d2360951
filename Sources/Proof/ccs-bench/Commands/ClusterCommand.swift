import Basics
import Catalogue
import Wire

extension Bench {
    /// Compares the same durable messages at a daemon that is alone and at the first node of a cluster.
    func cluster() throws(BenchError) {
        let count = invocation.integer("--nodes") ?? 1
        let log = try ReplicatedLog(self, program: invocation.text("--nats-server"))
        try log.found(nodes: count)
        let alone = try DaemonTarget(self, named: "alone", reactors: reactors)
        let node = try DaemonTarget(self, named: "node-1", reactors: reactors, flags: log.flags(ofNode: 1))
        for number in 1..<count {
            let flags = log.flags(ofNode: number + 1)
            node.companions.append(
                try DaemonTarget(self, named: "node-\(number + 1)", reactors: reactors, flags: flags))
        }
        // Partitions move to the other nodes until each has its share.
        if count > 1 { run(milliseconds: Self.sharingMilliseconds, "partitions move to the other nodes") }
        var runs: [LoadRun] = []
        for target in [alone, node] {
            let devices = try devices(target)
            let receivers = try Receivers(self, target, devices)
            runs.append(
                try appServers(
                    target, devices, receivers, name: target === alone ? "alone" : "cluster",
                    lifetimeSeconds: Self.lifetime))
        }
        var spent: Int64 = -log.cpuNanoseconds
        let results = try withExtendedLifetime(log) { () throws(BenchError) in
            try measureInTurns(runs)
        }
        spent += log.cpuNanoseconds
        let messages = results.filter { $0.name == "cluster" }.reduce(0) { $0 + $1.messages }
        let microseconds = Double(spent) / 1_000 / Double(max(1, messages))
        printResult(
            results, against: "alone",
            more: [.init("nodes", .integer(count)), .init("log_cpu_us_per_message", .number(microseconds))])
        guard !invocation.has("--json") else { return }
        Terminal.print(
            "nodes: \(count); nats-servers, all three: about \(Figure.fixed(microseconds, 2)) us CPU/msg\n")
    }

    /// Milliseconds until the nodes share the partitions, which move once the cluster has been without changes for five seconds.
    private static let sharingMilliseconds: Int64 = 20_000
}
