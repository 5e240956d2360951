import Foundation
import NATSServerSupport
import Testing

/// Three nodes on three nats-servers.
@Suite(
    "Cluster", .serialized,
    .enabled(if: NATSServerProcess.isInstalled, "nats-server: run Scripts/bootstrap --tests"))
struct ClusterTests {
    @Test("a message sent at each node reaches the devices of each node, and their messages the app servers")
    func reach() throws {
        let cluster = try RunningCluster()
        try cluster.keepingLogs {
            // Known at all nodes, wherever it was added.
            let senders = try (0..<3).map { try cluster.addSender(at: $0) }
            for sender in senders { for node in 0..<3 { try cluster.waitForSender(sender.id, at: node) } }
            let sender = senders[0]
            let nodes = try (0..<3).map { try cluster.node($0) }
            let devices = try nodes.map { try TestDevice($0, sender: sender.id) }
            for (from, node) in nodes.enumerated() {
                let server = try TestAppServer(node, sender: sender)
                for (to, device) in devices.enumerated() {
                    let id = "from-\(from)-to-\(to)"
                    #expect(try server.send(id, to: device.token) == "ACK")
                    #expect(try device.expectMessage { _ in true }["id"] == id)
                    device.send(id: "\(id)-back", pairs: [("n", "1")])
                    try device.expectStored("\(id)-back")
                    try server.expectUpstream("\(id)-back")
                }
                server.end()
            }
            // A device moves to another node.
            devices[0].stop()
            try devices[0].start(nodes[1])
            let server = try TestAppServer(nodes[2], sender: sender)
            #expect(try server.send("moved", to: devices[0].token) == "ACK")
            #expect(try devices[0].expectMessage { _ in true }["id"] == "moved")
            try history(cluster, server, devices[2])
        }
    }

    private typealias Row = [String: Any]

    /// Each node answers for all, also on a message whose partition has moved meanwhile, and names the nodes that do not answer.
    private func history(_ cluster: RunningCluster, _ server: TestAppServer, _ device: TestDevice) throws {
        let nodes = try (0..<3).map { try cluster.node($0) }
        device.stop()
        #expect(try server.send("spans", to: device.token) == "ACK")
        let partitions = try nodes[0].ctl("cluster", "status")["partitions"] as? [Row] ?? []
        for partition in partitions {
            let number = try #require(partition["partition"] as? Int)
            let owner = try #require(partition["owner"] as? Int)
            let words = ["cluster", "handover", "\(number)", "--to", "\(owner % 3 + 1)"]
            let result = try Tool.run("ccsctl", ["--socket", nodes[owner - 1].controlSocket] + words)
            // Or the nodes have moved it by themselves, to share what they have.
            #expect(result.code == 0 || result.errors.contains("owns partition"), "\(result)")
        }
        try device.start(nodes[1])
        #expect(try device.expectMessage { _ in true }["id"] == "spans")
        func steps(_ row: Row) -> [String] {
            (row["steps"] as? [Row] ?? []).compactMap { $0["step"] as? String }
        }
        for node in nodes {
            for id in ["from-0-to-2", "from-1-to-0-back", "spans"] {
                try eventually("each node has all steps of \(id)") {
                    let answer = try node.ctl("messages", "find", id)
                    let found = answer["messages"] as? [Row] ?? []
                    return found.count == 1 && steps(found[0]).first == "stored"
                        && steps(found[0]).contains("delivered")
                        && ((answer["history"] as? Row)?["missing"] as? [Int]) == []
                }
            }
            // In pages of one message each is listed once, newest first.
            var (listed, before): ([String], String?) = ([], nil)
            repeat {
                let words = ["--socket", node.controlSocket, "--json", "messages", "history", device.token]
                let more = ["--limit", "1"] + (before.map { ["--before", $0] } ?? [])
                let page = try #require(try Tool.run("ccsctl", words + more).object)
                listed += (page["messages"] as? [Row] ?? []).compactMap { $0["message_id"] as? String }
                before = page["next_before"] as? String
            } while before != nil && listed.count < 20
            let ids = (0..<3).reversed().flatMap { ["from-\($0)-to-2-back", "from-\($0)-to-2"] }
            #expect(listed == ["spans"] + ids)
            for (command, rows) in [("totals", "days"), ("hours", "hours"), ("hours", "days")] {
                let counts = try node.ctl("messages", command)[rows] as? [Row] ?? []
                let delivered = counts.compactMap { ($0["messages"] as? Row)?["delivered"] as? Int }
                #expect(delivered.reduce(0, +) == 11, "\(command): \(counts)")
            }
        }
        try cluster.end(2)
        try eventually("a node that is gone is named") {
            (try nodes[0].ctl("messages", "find", "spans")["history"] as? Row)?["missing"] as? [Int] == [3]
        }
    }

    @Test("a request with many long messages for devices at another node's partitions succeeds in full")
    func manyRecipients() throws {
        let cluster = try RunningCluster(nodes: 2, partitions: 2)
        try cluster.keepingLogs {
            let sender = try cluster.addSender(at: 0)
            for node in 0..<2 { try cluster.waitForSender(sender.id, at: node) }
            let tokens = try (0..<12).map { _ in
                let device = try TestDevice(cluster.node(0), sender: sender.id)
                device.stop()
                return device.token
            }
            // At one of the nodes, more than half of the 3 MB are for the other one: several parcels' worth in one turn.
            for node in 0..<2 {
                let answer = try HTTPSCaller(cluster.node(node)).ask(
                    "POST", "/fcm/send", ["Authorization": "key=\(sender.key)"],
                    body: [
                        "registration_ids": (0..<720).map { tokens[$0 % tokens.count] },
                        "data": ["text": String(repeating: "x", count: 4_000)],
                    ])
                #expect(
                    answer.status == 200 && answer.json["success"] as? Int == 720,
                    "\(answer.json["failure"] ?? "")")
            }
        }
    }

    @Test(
        "a webhook gets the messages of devices at all nodes, and from another node when the one that sends dies",
        .enabled(if: TestPaths.hasPython, "run Scripts/bootstrap --tests first"))
    func webhook() throws {
        let endpoint = try WebhookEndpoint()
        let cluster = try RunningCluster(flags: endpoint.flags)
        try cluster.keepingLogs {
            let sender = try cluster.addSender(at: 0)
            for node in 0..<3 { try cluster.waitForSender(sender.id, at: node) }
            let words = ["senders", "webhook", "set", sender.id, endpoint.url]
            let arguments =
                ["--socket", try cluster.node(1).controlSocket] + words + [
                    "--secret-file", endpoint.secretFile,
                ]
            var set = try Tool.run("ccsctl", arguments)
            // One that is not confirmed on a busy machine is repeated, as in `addSender`.
            for _ in 0..<10 where set.errors.contains("the change was not confirmed") {
                set = try Tool.run("ccsctl", arguments)
            }
            #expect(set.code == 0, "\(set)")
            for node in 0..<3 {
                let device = try TestDevice(cluster.node(node), sender: sender.id)
                device.send(id: "at-\(node)", pairs: [("k", "v")])
                try device.expectStored("at-\(node)")
                let request = try endpoint.expect("the message at node \(node)") {
                    $0.messageID == "at-\(node)"
                }
                #expect(request.isVerified)
            }
            let senders = try (0..<3).filter { node in
                let shown = try cluster.node(node).ctl("senders", "webhook", "show", sender.id)
                return (shown["delivery"] as? [String: Any])?["acknowledged"] as? Int ?? 0 > 0
            }
            let owner = try #require(senders.count == 1 ? senders[0] : nil, "\(senders) send")
            // Stored and acknowledged, but not taken: the next owner sends it.
            try endpoint.plan(["status": 503])
            let device = try TestDevice(cluster.node((owner + 1) % 3), sender: sender.id)
            device.send(id: "waits", pairs: [("k", "v")])
            try device.expectStored("waits")
            let failed = try endpoint.expect("the refusal") { $0.messageID == "waits" }
            try cluster.end(owner)
            try endpoint.plan([:])
            let taken = try endpoint.expect("the message from the next owner") {
                $0.messageID == "waits" && $0.status == 200
            }
            #expect(taken.id == failed.id && taken.isVerified)
        }
    }

    @Test("nothing acknowledged is lost when nodes and servers of the log are killed, stopped and restarted")
    func faults() throws {
        var seed = SystemRandomNumberGenerator()
        let number = UInt64.random(in: 0...UInt64.max, using: &seed)
        let world = try ClusterWorld(seed: number)
        let cluster = world.cluster
        try cluster.keepingLogs(unless: { world.lost.isEmpty }) {
            for fault in [ClusterFault.ccsd, .stop, .nats] { _ = try world.cycle(fault) }
            // A planned stop hands the partitions over.
            try world.runUntilAllAnswer()
            try cluster.stop(0)
            try world.run(until: "node 1 has stopped", every: 100) { try !cluster.node(0).isRunning }
            #expect(try cluster.ended(0) == 0)
            try world.runUntilAllAnswer()
            try world.restart(0)
            // All nodes at once.
            try world.runUntilAllAnswer()
            for node in 0..<3 { try cluster.end(node) }
            for node in 0..<3 { try cluster.start(node) }
            try world.runUntilAllAnswer()
            try world.finish()
            #expect(try world.discarded() == 0, "the load exceeded the mailbox of a device, seed \(number)")
            #expect(world.lost == [], "seed \(number): \(world.state)")
            #expect(world.wrongs == [], "seed \(number)")
            #expect(world.memberArrivals > 0 && world.members.allSatisfy { $0.changes > 0 })
            // Canary: a message that was recorded as acknowledged and never stored is reported as lost.
            world.pretendAcknowledged("never-sent")
            #expect(world.downstream.lost == ["never-sent"])
        }
    }
}
