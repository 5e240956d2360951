import Foundation
import NATSServerSupport
import Testing

/// A node that was away while its records were purged copies the store of another one.
@Suite(
    "Cluster copies", .serialized,
    .enabled(if: NATSServerProcess.isInstalled, "nats-server: run Scripts/bootstrap --tests"))
struct ClusterCopyTests {
    /// The exit code of a node that has a copy and is to be started again.
    private static let restart: Int32 = 75

    /// A cluster with a sender and devices that are not connected.
    private final class World {
        let cluster: RunningCluster
        let sender: (id: String, key: String)
        let devices: [TestDevice]
        /// The IDs of the messages that wait for each device.
        var expected: [[String]]

        init(devices count: Int) throws {
            cluster = try RunningCluster(partitions: 3)
            sender = try cluster.addSender(at: 0)
            for node in 0..<3 { try cluster.waitForSender(sender.id, at: node) }
            let (node, id) = (try cluster.node(0), sender.id)
            devices = try (0..<count).map { _ in
                let device = try TestDevice(node, sender: id)
                device.stop()
                return device
            }
            expected = Array(repeating: [], count: count)
        }

        /// Sends messages to each device that wait for it.
        func send(_ count: Int, _ name: String) throws {
            let server = try TestAppServer(cluster.node(0), sender: sender)
            for (at, device) in devices.enumerated() {
                let ids = (0..<count).map { "\(name)-\(at)-\($0)" }
                try server.fill(ids, to: device.token)
                expected[at] += ids
            }
            server.end()
        }

        /// Kills the third node, and purges what is written afterwards. Returns where the logs begin.
        @discardableResult
        func loseThird(_ count: Int, _ name: String) throws -> [Int] {
            try cluster.end(2)
            // It has applied no more than this.
            let ends = try cluster.ends()
            try eventually("the others serve all partitions") { cluster.isServed }
            try send(count, name)
            return try cluster.purge(beyond: ends, durableAt: [0, 1])
        }

        /// What each node has counted.
        func audits() throws -> [String] {
            try (0..<3).map { node in
                let counts = try JSONSerialization.data(
                    withJSONObject: cluster.node(node).ctl("audit"), options: .sortedKeys)
                return String(decoding: counts, as: UTF8.self)
            }
        }

        func file(_ name: String) -> String { cluster.data(of: 2).appendingPathComponent(name).path }

        /// Waits until a copy is arriving at the third node.
        func waitForCopy() throws {
            let end = Date().addingTimeInterval(Patience.seconds)
            while !FileManager.default.fileExists(atPath: file("store.copying") + "/CURRENT") {
                guard Date() < end else { throw HarnessFailure("no copy: \(cluster.words(2).suffix(2_000))") }
                usleep(200)
            }
        }

        /// The third node has everything, and serves it alone.
        func checkThird() throws {
            try eventually("the third node follows all partitions, and has no alarm") {
                let status = try cluster.node(2).ctl("cluster", "status")
                let roles = (status["partitions"] as? [[String: Any]] ?? []).map { $0["role"] as? String }
                return roles.allSatisfy { $0 == "following" || $0 == "owning" }
                    && (status["alarms"] as? [[String: Any]])?.isEmpty == true
            }
            var last: [String] = []
            try eventually("all nodes have counted the same: \(last)") {
                last = try audits()
                return Set(last).count == 1
            }
            // What it has copied counts, not what the others could send it.
            for node in 0..<2 { try cluster.end(node) }
            try eventually("the third node serves all partitions") { cluster.isServed }
            for (device, ids) in zip(devices, expected) {
                try device.start(cluster.node(2))
                for id in ids { try device.expectMessage { $0["id"] == id } }
                device.stop()
            }
        }
    }

    @Test("a node that was away while the log was purged copies a store and then has everything")
    func away() throws {
        let world = try World(devices: 12)
        let cluster = world.cluster
        try cluster.keepingLogs {
            try world.send(2, "before")
            let begins = try world.loseThird(3, "away")
            try cluster.start(2)
            try eventually("it is absent, with the alarm that names it") {
                // It may have copied the store already, and ended.
                guard let status = try? cluster.node(2).ctl("cluster", "status") else {
                    return cluster.words(2).contains("event=cluster_node_outdated")
                }
                let roles = (status["partitions"] as? [[String: Any]] ?? []).map { $0["role"] as? String }
                let causes = (status["alarms"] as? [[String: Any]] ?? []).map { $0["cause"] as? String }
                return roles.contains("absent") && causes.contains("outdated")
            }
            #expect(try cluster.ended(2) == Self.restart)
            let words = cluster.words(2)
            #expect(
                words.contains("event=cluster_node_outdated") && words.contains("event=cluster_copy_received")
            )
            #expect((0..<2).contains { cluster.words($0).contains("event=cluster_copy_given") })
            #expect(FileManager.default.fileExists(atPath: world.file("store.copied")))
            let identity = try String(contentsOfFile: world.file("ca.pem"), encoding: .utf8)
            try cluster.start(2)
            #expect(cluster.words(2).contains("event=cluster_store_installed"))
            for name in ["store.copied", "store.copying", "store.replaced"] {
                #expect(!FileManager.default.fileExists(atPath: world.file(name)), "\(name) is left")
            }
            // What belongs to the node stays.
            #expect(try String(contentsOfFile: world.file("ca.pem"), encoding: .utf8) == identity)
            #expect(zip(try cluster.positions("applied", at: 2), begins).allSatisfy { $0 >= $1 })
            try world.checkThird()
        }
    }

    @Test("a copy whose taker or giver is killed in the middle leaves the old store, and is made again")
    func killed() throws {
        let world = try World(devices: 40)
        let cluster = world.cluster
        try cluster.keepingLogs {
            try world.loseThird(90, "away")
            // The taker dies: nothing has changed.
            try cluster.start(2)
            try world.waitForCopy()
            try cluster.end(2)
            #expect(FileManager.default.fileExists(atPath: world.file("store.copying")))
            #expect(!FileManager.default.fileExists(atPath: world.file("store.copied")))
            try cluster.start(2)
            #expect(!cluster.words(2).contains("event=cluster_store_installed"))
            // The giver dies: the other node gives a copy.
            try world.waitForCopy()
            try cluster.node(2).signal(SIGSTOP)
            let last = cluster.words(2).split(separator: "\n").last {
                $0.contains("event=cluster_copy_begun")
            }
            let giver = last?.contains("node=1") == true ? 0 : 1
            try cluster.end(giver)
            try cluster.node(2).signal(SIGCONT)
            #expect(try cluster.ended(2) == Self.restart)
            #expect(cluster.words(2).contains("event=cluster_copy_failed"))
            try cluster.start(giver)
            try cluster.start(2)
            #expect(cluster.words(2).contains("event=cluster_store_installed"))
            try world.checkThird()
        }
    }
}
