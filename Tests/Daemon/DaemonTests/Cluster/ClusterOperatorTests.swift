import BasicsSupport
import Foundation
import NATSServerSupport
import Testing

/// What operators see of three nodes, and what they change.
@Suite(
    "Operating a cluster", .serialized,
    .enabled(if: NATSServerProcess.isInstalled, "nats-server: run Scripts/bootstrap --tests"))
struct ClusterOperatorTests {
    private typealias Row = [String: Any]

    private func status(_ cluster: RunningCluster, at node: Int) throws -> Row {
        try cluster.node(node).ctl("cluster", "status")
    }

    private func partitions(_ cluster: RunningCluster, at node: Int) throws -> [Row] {
        try status(cluster, at: node)["partitions"] as? [Row] ?? []
    }

    private func alarms(_ cluster: RunningCluster, at node: Int) throws -> [String] {
        (try status(cluster, at: node)["alarms"] as? [Row] ?? []).compactMap { $0["cause"] as? String }
    }

    private func refusal(_ cluster: RunningCluster, at node: Int, _ words: String...) throws -> String {
        let result = try Tool.run("ccsctl", ["--socket", cluster.node(node).controlSocket] + words)
        #expect(result.code == 1, "\(words): \(result)")
        return result.errors
    }

    private func metrics(_ cluster: RunningCluster, at node: Int) throws -> MetricsTests.Page {
        try MetricsTests.Page(
            PlainHTTP.get("/metrics", port: UInt16(try cluster.node(node).port("admin"))))
    }

    private func readiness(_ cluster: RunningCluster, at node: Int) throws -> String {
        try PlainHTTP.get("/readyz", port: UInt16(try cluster.node(node).port("admin")))
    }

    @Test("nodes agree, hand over, forget a node and replace it, and show that the log is lost")
    func operate() throws {
        let cluster = try RunningCluster()
        try cluster.keepingLogs {
            try agree(cluster)
            try handOver(cluster)
            try lose(cluster)
            try cutOff(cluster)
            try deleteLog(cluster)
        }
    }

    /// Each node names the same owner of each partition, and is healthy.
    private func agree(_ cluster: RunningCluster) throws {
        try eventually("all nodes agree on the owners, and are healthy") {
            let owners = try (0..<3).map { node in
                try partitions(cluster, at: node).map { $0["owner"] as? Int ?? 0 }
            }
            let areHealthy = try (0..<3).allSatisfy {
                try cluster.node($0).ctl("health")["healthy"] as? Bool == true
            }
            return owners[0].count == cluster.partitions && Set(owners).count == 1
                && Set(owners[0]) == [1, 2, 3] && areHealthy
        }
        let members = try status(cluster, at: 0)["members"] as? [Row] ?? []
        #expect(members.map { $0["status"] as? String } == ["this", "alive", "alive"])
        #expect(members.map { $0["linked"] as? Bool } == [nil, true, true])
        let log = try status(cluster, at: 1)["log"] as? Row
        #expect(["n1", "n2", "n3"].contains(log?["server"] as? String) && log?["replicas"] as? Int == 3)
        let part = try cluster.node(1).ctl("status")["cluster"] as? Row
        #expect(part?["node"] as? Int == 2 && part?["partitions"] as? Int == cluster.partitions)
        #expect(try readiness(cluster, at: 2).hasPrefix("HTTP/1.1 200"))
        try eventually("no partition is without an owner") {
            try metrics(cluster, at: 0)["ccs_cluster_partitions_unowned"] == 0
        }
        let page = try metrics(cluster, at: 0)
        #expect(page["ccs_cluster_members{status=\"alive\"}"] == 2 && page["ccs_cluster_links"] == 2)
        #expect(page["ccs_cluster_takeovers_total"] >= 1)
        #expect(page["ccs_cluster_log_disconnected"] == 0)
    }

    private func handOver(_ cluster: RunningCluster) throws {
        let own = try #require(
            try partitions(cluster, at: 0).first { $0["role"] as? String == "owning" }?["partition"] as? Int)
        let answer = try cluster.node(0).ctl("cluster", "handover", "\(own)", "--to", "2")
        #expect(answer["owner"] as? Int == 2 && answer["from"] as? Int == 1)
        try eventually("the third node has the new owner") {
            try partitions(cluster, at: 2)[own]["owner"] as? Int == 2
        }
        #expect(
            try refusal(cluster, at: 2, "cluster", "handover", "\(own)", "--to", "1").contains(
                "node 2 owns partition \(own), not this node (3)"))
        #expect(try refusal(cluster, at: 0, "cluster", "handover", "99").contains("unknown partition 99"))
        #expect(try refusal(cluster, at: 0, "cluster", "remove", "2").contains("is alive"))
        #expect(try refusal(cluster, at: 0, "cluster", "remove", "1").contains("is this node"))
        #expect(try refusal(cluster, at: 0, "cluster", "remove", "9").contains("unknown node 9"))
    }

    /// A node dies, is taken over, and is forgotten.
    private func lose(_ cluster: RunningCluster) throws {
        try cluster.end(2)
        try eventually("the others own what it had") {
            try partitions(cluster, at: 0).allSatisfy { [1, 2].contains($0["owner"] as? Int ?? 0) }
        }
        let members = try status(cluster, at: 0)["members"] as? [Row] ?? []
        #expect(members.last?["status"] as? String == "suspected")
        #expect(try metrics(cluster, at: 0)["ccs_cluster_losses_total"] >= 1)
        try eventually("the dead node is an alarm") { try alarms(cluster, at: 0) == ["node_silent"] }
        let health = try Tool.run("ccsctl", ["--socket", cluster.node(0).controlSocket, "health"])
        #expect(health.code == 22 && health.output.contains("ccsctl cluster remove 3"), "\(health)")
        #expect(try cluster.node(0).ctl("cluster", "remove", "3")["name"] as? String == "node-3")
        #expect(try refusal(cluster, at: 0, "cluster", "remove", "3").contains("node 3 is removed"))
        try eventually("the other node has learned of the removal") {
            try (0..<2).allSatisfy { (try status(cluster, at: $0)["members"] as? [Row])?.count == 2 }
        }
        try refuse(cluster)
        try replace(cluster)
    }

    /// A removed node that starts is refused by name, also by a node that has started again since, until it is admitted.
    private func refuse(_ cluster: RunningCluster) throws {
        try cluster.end(1)
        try cluster.start(1)
        try cluster.start(2)
        try eventually("both sides have the alarm") {
            try (0..<3).allSatisfy { try alarms(cluster, at: $0).contains("removed_node") }
        }
        #expect((try status(cluster, at: 1)["members"] as? [Row])?.count == 2)
        let own = try partitions(cluster, at: 2)
        #expect(!own.contains { ["owning", "claiming"].contains($0["role"] as? String) }, "\(own)")
        #expect(try refusal(cluster, at: 2, "cluster", "admit", "3").contains("run the command on a node"))
        #expect(try refusal(cluster, at: 0, "cluster", "admit", "2").contains("node 2 is not removed"))
        #expect(try cluster.node(1).ctl("cluster", "admit", "3")["name"] as? String == "node-3")
        try eventually("the node is a member again, and gets partitions") {
            let last = (try status(cluster, at: 0)["members"] as? [Row])?.last
            return last?["status"] as? String == "alive" && last?["owned"] as? Int ?? 0 > 0
        }
        try eventually("the alarms are over") {
            try (0..<3).allSatisfy { try !alarms(cluster, at: $0).contains("removed_node") }
        }
        try cluster.end(2)
    }

    /// A new machine begins with a backup of a node that runs.
    private func replace(_ cluster: RunningCluster) throws {
        let sender = try cluster.addSender(at: 0)
        let folder = try Scratch()
        let backup = folder.url.appendingPathComponent("backup").path
        _ = try cluster.node(0).ctl("backup", backup)
        let data = cluster.data(of: 2)
        let restored = try Tool.run("ccsd", ["restore", backup, "--replace", "--data-directory", data.path])
        #expect(restored.code == 0, "\(restored)")
        // Of the servers of the log, only the third one has the host of this node.
        let file = cluster.folder(2).appendingPathComponent("cluster.json")
        var text = try String(contentsOf: file, encoding: .utf8)
        for server in cluster.servers[..<2] {
            text.replace("\"127.0.0.1:\(server.port)\"", with: "\"localhost:\(server.port)\"")
        }
        try text.write(to: file, atomically: false, encoding: .utf8)
        try cluster.start(2)
        try eventually("the new node is a member, and gets partitions") {
            let last = (try status(cluster, at: 0)["members"] as? [Row])?.last
            return last?["status"] as? String == "alive" && last?["owned"] as? Int ?? 0 > 0
        }
        try cluster.waitForSender(sender.id, at: 2)
    }

    /// All servers of the log die: the nodes say so, are not ready, and are again when the servers are back.
    private func cutOff(_ cluster: RunningCluster) throws {
        for server in cluster.servers { server.kill() }
        try eventually("the node is not ready, and names the reason") {
            let answer = try readiness(cluster, at: 0)
            return try answer.hasPrefix("HTTP/1.1 503") && answer.contains("no connection to the log")
                && alarms(cluster, at: 0).contains("log_disconnected")
        }
        let health = try Tool.run("ccsctl", ["--socket", cluster.node(0).controlSocket, "health"])
        // Partitions that got no answer before the connection was lost are an alarm of their own, which may come first.
        #expect([18, 19].contains(health.code) && health.output.contains("log_disconnected"), "\(health)")
        for server in cluster.servers { try server.start() }
        try eventually("the node is ready, and no partition is without owner") {
            try readiness(cluster, at: 0).hasPrefix("HTTP/1.1 200")
                && partitions(cluster, at: 0).allSatisfy { $0["owner"] is Int }
        }
        try eventually("the third node uses the server of its host again") {
            (try status(cluster, at: 2)["log"] as? Row)?["server"] as? String == cluster.servers[2].name
        }
        #expect(try metrics(cluster, at: 0)["ccs_cluster_log_disconnects_total"] >= 1)
    }

    /// The log of a partition is deleted: the nodes name it, and that nothing is acknowledged there.
    private func deleteLog(_ cluster: RunningCluster) throws {
        try cluster.deleteLog(of: 0)
        try eventually("the alarms come") {
            let all = try cluster.running.flatMap { try alarms(cluster, at: $0) }
            return try all.contains("log_stalled") && alarms(cluster, at: 0).contains("stream_unfit")
        }
        let health = try Tool.run("ccsctl", ["--socket", cluster.node(0).controlSocket, "health"])
        #expect(health.code == 19 && health.output.contains("it does not exist"), "\(health)")
    }

    @Test(
        "tokens of another server stay valid in a cluster that has its secret, and are refused by any other")
    func export() throws {
        let alone = try RunningDaemon()
        let sender = try alone.firstSender
        let device = try TestDevice(alone, sender: sender.id)
        device.stop()
        let scratch = try Scratch()
        let file = scratch.url.appendingPathComponent("export.jsonl")
        #expect(try Tool.run("ccsctl", ["--socket", alone.controlSocket, "export", file.path]).code == 0)
        func importing(at node: RunningDaemon) throws -> Tool {
            try Tool.run("ccsctl", ["--socket", node.controlSocket, "import", file.path, "--yes"])
        }
        let other = try RunningCluster(nodes: 1, partitions: 2)
        let refused = try importing(at: other.node(0))
        #expect(refused.code == 1 && refused.errors.contains("ccsctl cluster found --export"), "\(refused)")

        let cluster = try RunningCluster(nodes: 2, partitions: 2, export: file)
        let imported = try importing(at: cluster.node(0))
        #expect(imported.code == 0, "\(imported)")
        for node in 0..<2 {
            try cluster.waitForSender(sender.id, at: node)
            let server = try TestAppServer(cluster.node(node), sender: sender)
            #expect(try server.send("at-\(node)", to: device.token) == "ACK")
            server.end()
        }
        let wrong = try Tool.run(
            "ccsctl",
            [
                "cluster", "found", scratch.url.appendingPathComponent("new").path, "--node", "a:1",
                "--log-server", "127.0.0.1:1", "--export", alone.controlSocket,
            ])
        #expect(wrong.code == 74 && wrong.errors.contains(alone.controlSocket), "\(wrong)")
    }

    @Test("a node that is added after the founding joins the running ones, and gets partitions")
    func add() throws {
        let cluster = try RunningCluster(nodes: 1, partitions: 2)
        let address = "127.0.0.1:\(try FreePorts.take(1)[0])"
        let words = ["cluster", "add", cluster.founded.url.path, "--node"]
        let added = try Tool.run("ccsctl", words + [address, "--json"])
        #expect(added.code == 0 && added.object?["node"] as? Int == 2, "\(added)")
        let again = try Tool.run("ccsctl", words + [address])
        #expect(again.code == 1 && again.errors.contains("node 2 has this address"), "\(again)")
        let wrong = try Tool.run("ccsctl", words + ["nowhere"])
        #expect(wrong.code == 64 && wrong.errors.contains("invalid --node"), "\(wrong)")
        let node = try RunningDaemon(flags: ["--cluster-directory", cluster.folder(1).path])
        try eventually("both own a partition: \(node.words)") {
            let owners = try partitions(cluster, at: 0).compactMap { $0["owner"] as? Int }
            return owners.sorted() == [1, 2]
        }
        let sender = try cluster.addSender(at: 0)
        try eventually("the new node has the sender") {
            let listed = try node.ctl("senders", "list")["senders"] as? [Row] ?? []
            return listed.contains { $0["sender_id"] as? String == sender.id }
        }
    }

    @Test("the store of a node is refused without its cluster, until it leaves the cluster")
    func leave() throws {
        let cluster = try RunningCluster(nodes: 1, partitions: 2)
        let scratch = try cluster.node(0).scratch
        #expect(try cluster.end(0, SIGTERM) == 0)
        let data = ["--data-directory", scratch.url.appendingPathComponent("data").path]
        let alone = try Tool.run("ccsd", data + RunningDaemon.noPorts)
        #expect(alone.code == 78 && alone.errors.contains("belongs to the cluster"), "\(alone)")
        let left = try Tool.run("ccsd", ["leave-cluster"] + data)
        #expect(left.code == 0 && left.output.contains("has left the cluster"), "\(left)")
        let again = try Tool.run("ccsd", ["leave-cluster"] + data)
        #expect(again.code == 0 && again.output.contains("belongs to no cluster"), "\(again)")
        let daemon = try RunningDaemon(continuing: scratch)
        #expect(try daemon.ctl("status")["cluster"] is NSNull)
        #expect(try refusalAlone(daemon).contains("no node of a cluster"))
    }

    private func refusalAlone(_ daemon: RunningDaemon) throws -> String {
        try Tool.run("ccsctl", ["--socket", daemon.controlSocket, "cluster", "status"]).errors
    }
}
