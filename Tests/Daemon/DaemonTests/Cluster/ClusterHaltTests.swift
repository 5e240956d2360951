import Basics
import BasicsSupport
import ClusterLog
import ClusterSetup
import Foundation
import NATSServerSupport
import Testing

/// The ways out for a cluster whose partitions have halted on all nodes, or whose streams have stopped, as docs/cluster.md describes them.
@Suite(
    "A partition that has halted", .serialized,
    .enabled(if: NATSServerProcess.isInstalled, "nats-server: run Scripts/bootstrap --tests"))
struct ClusterHaltTests {
    private typealias Row = [String: Any]

    /// A record with the tag of the cluster that halts every node of this build: its version is far newer, or it is a mark with content.
    private func record(
        _ cluster: RunningCluster, _ partition: Int, version: UInt8 = 200, content: [UInt8] = []
    ) throws -> [UInt8] {
        let text = try Data(contentsOf: cluster.folder(0).appendingPathComponent("cluster.json"))
        let file = try ClusterFile(parsing: [UInt8](text))
        let bytes = try #require(file.secrets[ClusterFile.logSecretName]?.revealed)
        let key = LogKey(LogSecret(bytes.raw), cluster: file.cluster.number, partition: partition)
        let header = FrameHeader(
            version: version, term: Term(Epoch(1 << 20), Claim(7)), number: 1, time: 0, confirmed: 0,
            previous: 0)
        return header.frame(content.raw, in: key)
    }

    private func roles(_ cluster: RunningCluster, at node: Int) throws -> [String?] {
        let status = try cluster.node(node).ctl("cluster", "status")
        return (status["partitions"] as? [Row] ?? []).map { $0["role"] as? String }
    }

    private func areHalted(_ cluster: RunningCluster) throws {
        try eventually("every partition has halted on every node") {
            try (0..<2).allSatisfy { try roles(cluster, at: $0) == ["halted", "halted"] }
        }
    }

    /// The way out if all nodes have halted at one record, and after that the one if a stream has stopped.
    private func remake(_ cluster: RunningCluster, _ sender: (id: String, key: String), _ token: String)
        throws
    {
        for partition in 0..<2 {
            try cluster.append(
                record(cluster, partition, version: FrameHeader.newestVersion, content: [1]), to: partition)
        }
        try areHalted(cluster)
        let health = try Tool.run("ccsctl", ["--socket", cluster.node(0).controlSocket, "health"])
        #expect(health.output.contains("partitions 0-1 have halted"), "\(health)")
        #expect(try cluster.positions("applied", at: 0) == cluster.positions("applied", at: 1))
        for partition in 0..<2 { try cluster.remakeLog(of: partition, like: 1 - partition) }
        #expect(try cluster.end(0, SIGTERM) == 0)
        try cluster.start(0)
        try eventually("the node that was restarted has not halted") {
            try !roles(cluster, at: 0).contains("halted")
        }
        try returnWithoutStore(cluster, 1)
        try sends(cluster, sender, token, "restarted")
        try cluster.stopLog(of: 0)
        try eventually("the stream confirms nothing") { (try? cluster.append([1], to: 0)) == nil }
        let applied = try (0..<2).map { try cluster.positions("applied", at: $0)[0] }.max() ?? 0
        try cluster.remakeLog(of: 0, like: 1)
        try eventually("the owner has filled the new stream") { try cluster.ends()[0] > applied }
        try sends(cluster, sender, token, "remade")
    }

    /// The way out for a node that has halted while another one goes on.
    private func returnWithoutStore(_ cluster: RunningCluster, _ node: Int) throws {
        #expect(try roles(cluster, at: node) == ["halted", "halted"])
        let health = try Tool.run("ccsctl", ["--socket", cluster.node(node).controlSocket, "health"])
        #expect(health.code == 19 && health.output.contains("partitions 0-1 have halted"), "\(health)")
        let store = cluster.data(of: node).appendingPathComponent("store")
        #expect(try cluster.end(node, SIGTERM) == 0)
        try FileManager.default.removeItem(at: store)
        try cluster.start(node)
        // The log has been made again: it has a copy once it ends, which systemd answers by a start.
        #expect(try cluster.ended(node) == 75)
        try cluster.start(node)
        try eventually("the node has what the other one has") {
            try !roles(cluster, at: node).contains("halted")
                && cluster.positions("applied", at: node) == cluster.positions("applied", at: 1 - node)
        }
    }

    private func sends(
        _ cluster: RunningCluster, _ sender: (id: String, key: String), _ token: String, _ id: String
    ) throws {
        var count = 0
        try eventually("the cluster is whole, and \(id) is acknowledged") {
            count += 1
            let roles = try (0..<2).map { try self.roles(cluster, at: $0) }
            guard (0..<2).allSatisfy({ at in roles.count { $0[at] == "owning" } == 1 }) else { return false }
            guard let server = try? TestAppServer(cluster.node(0), sender: sender) else { return false }
            defer { server.end() }
            return try server.sendIfConnected("\(id)-\(count)", to: token) == "ACK"
        }
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
            try remake(cluster, sender, device.token)
            for partition in 0..<2 { try cluster.append(record(cluster, partition), to: partition) }
            try areHalted(cluster)
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
