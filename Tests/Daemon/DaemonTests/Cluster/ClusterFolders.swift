import BasicsSupport
import Foundation
import NATSServerSupport

/// The folders of a cluster of two nodes on one server of the log, none of which runs.
final class ClusterFolders {
    let server: NATSServerProcess
    private let scratch: Scratch

    /// Founds a cluster with a prefix of its own.
    init(on server: NATSServerProcess, prefix: String, partitions: Int = 2) throws {
        self.server = server
        scratch = try Scratch()
        let ports = try FreePorts.take(2)
        let result = try Tool.run(
            "ccsctl",
            [
                "cluster", "found", scratch.url.path, "--partitions", "\(partitions)", "--log-prefix", prefix,
                "--replicas", "1", "--log-server", "127.0.0.1:\(server.port)",
            ] + ports.flatMap { ["--node", "127.0.0.1:\($0)"] })
        guard result.code == 0 else { throw HarnessFailure("ccsctl cluster found: \(result)") }
        for number in 1...2 { try edit(number) { $0["listen"] = "127.0.0.1:\(ports[number - 1])" } }
    }

    /// The folder of a node, by its number from 1.
    func folder(_ node: Int) -> URL { scratch.url.appendingPathComponent("node-\(node)") }

    /// The options that make a daemon this node.
    func flags(_ node: Int) -> [String] { ["--cluster-directory", folder(node).path] }

    /// Changes the `cluster.json` of a node.
    func edit(_ node: Int, _ change: (inout [String: Any]) -> Void) throws {
        let file = folder(node).appendingPathComponent("cluster.json")
        guard var object = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any]
        else { throw HarnessFailure("\(file.path) is no JSON object") }
        change(&object)
        try JSONSerialization.data(withJSONObject: object).write(to: file)
    }

    /// Starts a daemon that is to refuse. Returns what it printed, or its words if it started.
    func refusal(_ node: Int, data: URL) throws -> (code: Int32, errors: String) {
        let result = try Tool.run(
            TestPaths.programs.appendingPathComponent("ccsd"),
            ["--data-directory", data.path] + flags(node) + RunningDaemon.noPorts + RunningDaemon.noApple,
            seconds: Patience.seconds)
        return (result.code, result.errors)
    }
}
