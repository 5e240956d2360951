import BasicsSupport
import Foundation
import NATSServerSupport
import Testing

/// What becomes of a cluster whose log loses servers, or routes between them, under load.
@Suite(
    "The log of a cluster", .serialized,
    .enabled(if: NATSServerProcess.isInstalled, "nats-server: run Scripts/bootstrap --tests"))
struct ClusterLogTests {
    private typealias Row = [String: Any]

    private func world(_ layout: ClusterLayout = .loopback) throws -> (ClusterWorld, seed: UInt64) {
        var generator = SystemRandomNumberGenerator()
        let seed = UInt64.random(in: 0...UInt64.max, using: &generator)
        let world = try ClusterWorld(seed: seed, layout: layout)
        // Few messages: what counts is that they go on.
        (world.serverWindow, world.deviceWindow, world.burstMilliseconds) = (1, 1, 200)
        return (world, seed)
    }

    private func status(_ cluster: RunningCluster, at node: Int) throws -> Row {
        try cluster.node(node).ctl("cluster", "status")
    }

    private func alarms(_ cluster: RunningCluster, at node: Int) throws -> [String] {
        (try status(cluster, at: node)["alarms"] as? [Row] ?? []).compactMap { $0["cause"] as? String }
    }

    @Test("a server that is replaced is an alarm until the new one has its place; then another one may die")
    func replace() throws {
        let (world, seed) = try world()
        let cluster = world.cluster
        try cluster.keepingLogs(unless: { world.lost.isEmpty }) {
            try world.runUntilAllAnswer()
            let old = cluster.servers[2].name
            let new = try #require(try cluster.logs?.replace(2))
            try world.run(until: "each node names the server that is missing", every: 500) {
                try cluster.running.allSatisfy { try alarms(cluster, at: $0).contains("log_degraded") }
            }
            let health = try Tool.run("ccsctl", ["--socket", cluster.node(0).controlSocket, "health"])
            #expect(
                health.code == 22 && health.output.contains("nats server cluster peer-remove \(old)"),
                "\(health)")
            // Without a system account. The group of all servers goes on to count the old one.
            try cluster.removeServerFromStreams(old)
            try world.run(until: "\(new.name) has all streams", every: 500) { cluster.isReplicated }
            try world.run(until: "each node names the server that the group still counts", every: 500) {
                try cluster.running.allSatisfy {
                    try "\(status(cluster, at: $0)["alarms"] ?? "")".contains("and \(old) sends nothing")
                }
            }
            cluster.servers[0].kill()
            try world.runUntilAllAnswer()
            try cluster.servers[0].start()
            try cluster.removeServer(old)
            try world.run(until: "the alarm is over", every: 500) {
                try cluster.running.allSatisfy { try alarms(cluster, at: $0).isEmpty }
            }
            cluster.servers[1].kill()
            try world.runUntilAllAnswer()
            try cluster.servers[1].start()
            try world.finish()
            #expect(world.lost == [], "seed \(seed): \(world.state)")
        }
    }

    @Test("nodes leave a server whose routes are cut for one that works, and never say that records are lost")
    func routes() throws {
        let (world, seed) = try world(.relayed)
        let cluster = world.cluster
        try cluster.keepingLogs(unless: { world.lost.isEmpty }) {
            try world.runUntilAllAnswer()
            let log = try status(cluster, at: 0)["log"] as? Row
            let name = try #require(log?["server"] as? String)
            let cut = try #require(cluster.servers.firstIndex { $0.name == name })
            cluster.logs?.relays?.cut(cut)
            try world.run(
                until: "no node uses \(name), all are ready, and every partition has an owner", every: 200
            ) {
                try cluster.running.allSatisfy { node in
                    let status = try status(cluster, at: node)
                    let server = (status["log"] as? Row)?["server"] as? String
                    let owners = (status["partitions"] as? [Row] ?? []).map { $0["owner"] as? Int }
                    let ready = try PlainHTTP.get(
                        "/readyz", port: UInt16(try cluster.node(node).port("admin")))
                    return server != nil && server != name && !owners.contains(nil)
                        && ready.hasPrefix("HTTP/1.1 200")
                }
            }
            try world.runUntilAllAnswer()
            cluster.logs?.relays?.heal(cut)
            try world.runUntilAllAnswer()
            try world.run(until: "the alarms are over", every: 500) {
                try cluster.running.allSatisfy { try alarms(cluster, at: $0).isEmpty }
            }
            try world.finish()
            #expect(world.lost == [], "seed \(seed): \(world.state)")
            for node in 0..<cluster.count {
                #expect(!cluster.words(node).contains("cluster_records_lost"), "node \(node + 1)")
                #expect(!cluster.words(node).contains("cluster_partition_halted"), "node \(node + 1)")
            }
        }
    }
}
