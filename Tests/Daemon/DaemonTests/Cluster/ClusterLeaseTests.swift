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
            // A lease that was confirmed just before lasts a second. Then answers come late, or the connection ends.
            for (node, server) in servers.enumerated() {
                var count = 0
                try eventually("node \(node + 1) decides nothing any more") {
                    count += 1
                    let answer = try server.sendIfConnected("during-\(count)", to: gone.token)
                    return answer != "DEVICE_UNREGISTERED"
                }
            }
            for (node, server) in servers.enumerated() {
                let answer = try server.sendIfConnected("undecided", to: gone.token)
                #expect(answer == nil || answer == "SERVICE_UNAVAILABLE")
                #expect(try status(ofWrongKeyAt: node, cluster) == 503)
                let send = try HTTPSCaller(cluster.node(node)).ask(
                    "POST", "/fcm/send", ["Authorization": "key=\(sender.key)"], body: ["to": gone.token])
                #expect(send.status == 503 || "\(send.json)".contains("Unavailable"), "\(send)")
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
