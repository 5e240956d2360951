import Foundation

/// A large registry beside the clients of the load.
extension ClusterWorld {
    private static let topic = "stored"

    /// Imports devices that never connect, with numbers that no other device has, and stores messages for each of them.
    func fill(devices count: Int, messages: Int) throws {
        let sender = devices[0].sender
        let scratch = try Scratch()
        let file = scratch.url.appendingPathComponent("registry.jsonl")
        try RegistryExport(sender: sender.id, hasSender: false, topic: Self.topic).write(1...count, to: file)
        let socket = try cluster.node(0).controlSocket
        let result = try Tool.run("ccsctl", ["--socket", socket, "--json", "import", file.path])
        guard result.code == 0 else { throw HarnessFailure("import: \(result)") }
        for number in 0..<messages { try store(number, for: count, sender) }
        let audit = try cluster.node(0).ctl("audit")["downstream"] as? [String: Any]
        let pending = audit?["pending"] as? Int ?? 0
        guard pending >= count * messages else {
            throw HarnessFailure("\(pending) of \(count * messages) messages are stored")
        }
    }

    /// Sends a message to the topic, and waits until it is stored for all.
    private func store(_ number: Int, for count: Int, _ sender: Sender) throws {
        let server = try TestAppServer(cluster.node(0), sender: (sender.id, sender.key))
        defer { server.end() }
        let answer = try server.send("stored-\(number)", to: "/topics/\(Self.topic)")
        guard answer == "ACK" else { throw HarnessFailure("a message to \(count) devices: \(answer)") }
        let node = try cluster.node(0)
        try eventually("message \(number) is stored for \(count) devices", seconds: 600) {
            (try node.ctl("topics", "running")["messages"] as? [Any])?.isEmpty == true
        }
    }
}
