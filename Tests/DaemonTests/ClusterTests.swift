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
            // Canary: a message that was recorded as acknowledged and never stored is reported as lost.
            world.pretendAcknowledged("never-sent")
            #expect(world.downstream.lost == ["never-sent"])
        }
    }
}
