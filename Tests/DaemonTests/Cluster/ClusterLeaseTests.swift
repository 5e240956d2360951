import Foundation
import NATSServerSupport
import Testing

/// Nodes whose log has no majority: what they have may be out of date.
@Suite(
    "Cluster without a majority", .serialized,
    .enabled(if: NATSServerProcess.isInstalled, "nats-server: run Scripts/bootstrap --tests"))
struct ClusterLeaseTests {
    @Test("while the log has no majority no node refuses a token or a key for good; afterwards all do again")
    func noMajority() throws {
        let cluster = try RunningCluster()
        try cluster.keepingLogs {
            let sender = try cluster.addSender(at: 0)
            for node in 0..<3 { try cluster.waitForSender(sender.id, at: node) }
            let gone = try TestDevice(cluster.node(0), sender: sender.id)
            try gone.unregister(cluster.node(0))
            let servers = try (0..<3).map { try TestAppServer(cluster.node($0), sender: sender) }
            for (node, server) in servers.enumerated() {
                #expect(try server.send("before-\(node)", to: gone.token) == "DEVICE_UNREGISTERED")
                #expect(try status(ofWrongKeyAt: node, cluster) == 401)
            }
            for server in cluster.servers.dropFirst() { server.send(SIGSTOP) }
            // A lease that was confirmed just before lasts a second.
            var count = 0
            try eventually("the nodes decide nothing any more") {
                count += 1
                for (node, server) in servers.enumerated() {
                    try server.post("during-\(count)-\(node)", to: gone.token)
                }
                return try servers.enumerated().allSatisfy { node, server in
                    try server.answer(to: "during-\(count)-\(node)") == "SERVICE_UNAVAILABLE"
                }
            }
            for (node, server) in servers.enumerated() {
                #expect(try server.send("undecided-\(node)", to: gone.token) == "SERVICE_UNAVAILABLE")
                #expect(try status(ofWrongKeyAt: node, cluster) == 503)
            }
            for server in cluster.servers { server.send(SIGCONT) }
            try eventually("the nodes decide again") {
                try (0..<3).allSatisfy { node in
                    guard let server = try? TestAppServer(cluster.node(node), sender: sender) else {
                        return false
                    }
                    defer { server.end() }
                    return try server.send("after", to: gone.token) == "DEVICE_UNREGISTERED"
                        && status(ofWrongKeyAt: node, cluster) == 401
                }
            }
        }
    }

    private func status(ofWrongKeyAt node: Int, _ cluster: RunningCluster) throws -> Int {
        try HTTPSCaller(cluster.node(node)).ask(
            "POST", "/fcm/send", ["Authorization": "key=wrong"], body: ["to": "x"]
        ).status
    }
}
