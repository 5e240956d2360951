import Basics
import BasicsSupport
import ClusterLog
import ClusterSetup
import Foundation
import NATSServerSupport
import Testing

/// The way out for a cluster whose partitions have halted on all nodes, as docs/cluster.md describes it.
@Suite(
    "A partition that has halted", .serialized,
    .enabled(if: NATSServerProcess.isInstalled, "nats-server: run Scripts/bootstrap --tests"))
struct ClusterHaltTests {
    private typealias Row = [String: Any]

    /// A record that halts every node of this build: its version is far newer, and it has the tag of the cluster.
    private func newer(_ cluster: RunningCluster, _ partition: Int) throws -> [UInt8] {
        let text = try Data(contentsOf: cluster.folder(0).appendingPathComponent("cluster.json"))
        let file = try ClusterFile(parsing: [UInt8](text))
        let bytes = try #require(file.secrets[ClusterFile.logSecretName]?.revealed)
        let key = LogKey(LogSecret(bytes.raw), cluster: file.cluster.number, partition: partition)
        let header = FrameHeader(
            version: 200, term: Term(Epoch(1 << 20), Claim(7)), number: 1, time: 0, confirmed: 0, previous: 0)
        return header.frame([UInt8]().raw, in: key)
    }

    @Test("the node that has applied most goes on alone with everything that was acknowledged")
    func halt() throws {
        let cluster = try RunningCluster(nodes: 2, partitions: 2)
        try cluster.keepingLogs {
            let sender = try cluster.addSender(at: 0)
            for node in 0..<2 { try cluster.waitForSender(sender.id, at: node) }
            let device = try TestDevice(cluster.node(0), sender: sender.id)
            device.stop()
            let server = try TestAppServer(cluster.node(0), sender: sender)
            #expect(try server.send("waits", to: device.token) == "ACK")
            server.end()
            for partition in 0..<2 { try cluster.append(newer(cluster, partition), to: partition) }
            try eventually("every partition has halted on every node") {
                try (0..<2).allSatisfy { node in
                    let status = try cluster.node(node).ctl("cluster", "status")
                    let roles = (status["partitions"] as? [Row] ?? []).map { $0["role"] as? String }
                    return roles == ["halted", "halted"]
                }
            }
            let health = try Tool.run("ccsctl", ["--socket", cluster.node(0).controlSocket, "health"])
            #expect(health.code == 19 && health.output.contains("a frame of version 200"), "\(health)")

            // The steps of the page.
            let applied = try (0..<2).map { try cluster.positions("applied", at: $0).reduce(0, +) }
            let best = applied[1] > applied[0] ? 1 : 0
            let scratch = try cluster.node(best).scratch
            #expect(try cluster.end(1 - best, SIGTERM) == 0)
            #expect(try cluster.end(best, SIGTERM) == 0)
            let data = ["--data-directory", scratch.url.appendingPathComponent("data").path]
            let left = try Tool.run("ccsd", ["leave-cluster"] + data)
            #expect(left.code == 0 && left.output.contains("has left the cluster"), "\(left)")
            let alone = try RunningDaemon(continuing: scratch)
            try device.start(alone)
            try device.expectMessage { $0["id"] == "waits" }
            device.stop()
            #expect(try alone.ctl("health")["healthy"] as? Bool == true)
        }
    }
}
