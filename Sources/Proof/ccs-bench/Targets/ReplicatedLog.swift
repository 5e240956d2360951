import Basics
import Catalogue
import Client
import Glibc
import Transport

/// Three nats-servers on loopback that keep the log of a cluster, in the scratch directory.
final class ReplicatedLog {
    private let bench: Bench
    private var servers: [Child] = []
    private let ports: [UInt16]
    private var folder: String { bench.scratch + "/cluster" }

    /// The servers: JetStream needs three to replicate.
    private static let count = 3

    /// Starts the servers. Throws if the program is missing.
    init(_ bench: Bench, program: String?) throws(BenchError) {
        self.bench = bench
        let server = program ?? "/usr/sbin/nats-server"
        var ports: [UInt16] = []
        for _ in 0..<2 * Self.count { ports.append(try Bench.freePort()) }
        self.ports = Array(ports.prefix(Self.count))
        let links = ports.suffix(Self.count)
        let routes = links.map { "\"nats://127.0.0.1:\($0)\"" }.joined(separator: ", ")
        for (number, link) in links.enumerated() {
            let name = "log-\(number + 1)"
            let file = "\(bench.scratch)/\(name).conf"
            let text = """
                server_name: \(name)
                listen: "127.0.0.1:\(ports[number])"
                jetstream { store_dir: "\(bench.scratch)/\(name)", sync_interval: always }
                cluster { name: log, listen: "127.0.0.1:\(link)", routes: [\(routes)] }

                """
            do throws(TransportError) {
                try SmallFile.replace(file, with: Array(text.utf8), mode: 0o600)
            } catch { throw BenchError(error.description, code: .inputOutput) }
            servers.append(try bench.start(server, ["--config", file], log: "\(name).log"))
        }
    }

    /// Founds a cluster of nodes on loopback, as soon as the servers have elected a leader.
    func found(nodes: Int) throws(BenchError) {
        var words = ["cluster", "found", folder]
        for _ in 0..<nodes { words += ["--node", "127.0.0.1:\(try Bench.freePort())"] }
        for port in ports { words += ["--log-server", "127.0.0.1:\(port)"] }
        let end = Now.read().monotonic.advanced(seconds: Self.foundingSeconds)
        bench.progress.show("founding the cluster", 0, of: 1)
        while true {
            let child = try bench.start("ccsctl", words, log: "found.log")
            while child.isRunning { _ = usleep(50_000) }
            if child.exitCode == 0 { break }
            guard Now.read().monotonic < end else {
                throw BenchError(
                    "cannot found a cluster; see \(bench.scratch)/found.log", code: .unavailable)
            }
            _ = usleep(500_000)
        }
        bench.progress.clear()
        for node in 1...nodes { try listenOnLoopback("\(folder)/node-\(node)/cluster.json") }
    }

    /// Founding waits for each of the streams, of which there is one for a partition.
    private static let foundingSeconds = 120

    private func listenOnLoopback(_ file: String) throws(BenchError) {
        do throws(TransportError) {
            let words = String(decoding: try SmallFile.read(file), as: UTF8.self)
                .split(separator: "0.0.0.0:", omittingEmptySubsequences: false)
            try SmallFile.replace(
                file, with: Array(words.joined(separator: "127.0.0.1:").utf8), mode: 0o600)
        } catch { throw BenchError(error.description, code: .inputOutput) }
    }

    /// What makes a ccsd a node.
    func flags(ofNode number: Int) -> [String] { ["--cluster-directory", "\(folder)/node-\(number)"] }

    /// The CPU time of all servers so far.
    var cpuNanoseconds: Int64 {
        servers.reduce(0) { $0 + ProcessProbe(process: $1.process).cpuNanoseconds }
    }
}
