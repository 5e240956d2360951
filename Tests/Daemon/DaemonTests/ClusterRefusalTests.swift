import Foundation
import NATSServerSupport
import Testing

/// What cannot be a node of a cluster is refused at the start by name, or raises an alarm.
@Suite(
    "Cluster refusals", .serialized,
    .enabled(if: NATSServerProcess.isInstalled, "nats-server: run Scripts/bootstrap --tests"))
struct ClusterRefusalTests {
    /// The exit code for a wrong configuration.
    private static let configuration: Int32 = 78

    @Test("a store of a daemon of no cluster, and one of another cluster, is refused and unchanged")
    func stores() throws {
        let server = try NATSServerProcess()
        let folders = try ClusterFolders(on: server, prefix: "one")
        let other = try ClusterFolders(on: server, prefix: "two")
        let alone = try RunningDaemon(flags: ["--store-partitions", "2"])
        let sender = try alone.firstSender
        alone.signal(SIGTERM)
        #expect(try alone.wait() == 0)
        let data = alone.directory.appendingPathComponent("data")
        let refused = try folders.refusal(1, data: data)
        #expect(refused.code == Self.configuration)
        #expect(
            refused.errors.contains("it has the data of a daemon that belongs to no cluster"), "\(refused)")
        // It still works as before.
        let again = try RunningDaemon(continuing: alone.scratch)
        let listed = try again.ctl("senders", "list")["senders"] as? [[String: Any]] ?? []
        #expect(listed.compactMap { $0["sender_id"] as? String } == [sender.id])
        again.signal(SIGTERM)
        #expect(try again.wait() == 0)

        let member = try RunningDaemon(flags: folders.flags(1))
        member.signal(SIGTERM)
        #expect(try member.wait() == 0)
        let foreign = try other.refusal(1, data: member.directory.appendingPathComponent("data"))
        #expect(foreign.code == Self.configuration)
        #expect(foreign.errors.contains("it belongs to another cluster"), "\(foreign)")
    }

    @Test("a damaged cluster.json is refused with the name of the field")
    func damagedFile() throws {
        let folders = try ClusterFolders(on: NATSServerProcess(), prefix: "one")
        let file = folders.folder(1).appendingPathComponent("cluster.json")
        let whole = try Data(contentsOf: file)
        let scratch = try Scratch()
        func expect(_ words: String, _ change: (inout [String: Any]) -> Void) throws {
            try whole.write(to: file)
            try folders.edit(1, change)
            let refused = try folders.refusal(1, data: scratch.url.appendingPathComponent("data"))
            #expect(refused.code == Self.configuration, "\(words): \(refused)")
            #expect(refused.errors.contains(words), "\(refused)")
        }
        for field in ["format", "cluster", "partitions", "node", "nodes", "listen", "log", "secrets"] {
            try expect("\(field): it is missing") { $0[field] = nil }
        }
        for field in ["format", "partitions", "node"] {
            try expect("\(field): expected a whole number") { $0[field] = "many" }
        }
        try expect("cluster: expected 16 hexadecimal digits") { $0["cluster"] = "zzzzzzzzzzzzzzzz" }
        try expect("node: 9 is not among nodes") { $0["node"] = 9 }
        try expect("nodes: expected a list") { $0["nodes"] = [] }
        try expect("colour: this field is unknown") { $0["colour"] = 1 }
        for field in ["servers", "replicas", "prefix"] {
            try expect("log.\(field): it is missing") { object in
                var log = object["log"] as? [String: Any] ?? [:]
                log[field] = nil
                object["log"] = log
            }
        }
        try expect("secrets.token_secret: expected") { object in
            var secrets = object["secrets"] as? [String: Any] ?? [:]
            secrets["token_secret"] = "00"
            object["secrets"] = secrets
        }
        try Data("nothing".utf8).write(to: file)
        let refused = try folders.refusal(1, data: scratch.url.appendingPathComponent("data"))
        #expect(refused.code == Self.configuration && refused.errors.contains("it is no JSON object"))
        try FileManager.default.removeItem(at: file)
        let missing = try folders.refusal(1, data: scratch.url.appendingPathComponent("data"))
        #expect(missing.code == Self.configuration && missing.errors.contains(file.path), "\(missing)")
    }

    @Test(
        "a node does not start with another's certificate, and with a stranger's it is refused by the others, by name"
    )
    func stranger() throws {
        let server = try NATSServerProcess()
        let folders = try ClusterFolders(on: server, prefix: "one")
        let other = try ClusterFolders(on: server, prefix: "two")
        func file(_ name: String) -> URL { folders.folder(2).appendingPathComponent(name) }
        for name in ["node.pem", "node.key", "ca.pem"] {
            try FileManager.default.removeItem(at: file(name))
            try FileManager.default.copyItem(at: other.folder(2).appendingPathComponent(name), to: file(name))
        }
        let scratch = try Scratch()
        let refused = try folders.refusal(2, data: scratch.url.appendingPathComponent("data"))
        #expect(refused.code == Self.configuration, "\(refused)")
        #expect(refused.errors.contains("node.pem: it is not the certificate of node-2."), "\(refused)")

        // Of the right name, but by its own authority.
        let text = try String(contentsOf: file("cluster.json"), encoding: .utf8)
        let cluster = try #require(text.firstMatch(of: #/"cluster": *"([0-9a-f]{16})"/#)?.1)
        let made = try Tool.run(
            URL(fileURLWithPath: "/usr/bin/openssl"),
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                "-keyout",
                file("node.key").path, "-out", file("node.pem").path, "-subj", "/CN=stranger", "-addext",
                "subjectAltName=DNS:node-2.\(cluster).ccsd",
            ])
        #expect(made.code == 0, "\(made)")
        try FileManager.default.removeItem(at: file("ca.pem"))
        try FileManager.default.copyItem(at: file("node.pem"), to: file("ca.pem"))
        let node = try RunningDaemon(flags: folders.flags(1))
        let stranger = try RunningDaemon(flags: folders.flags(2))
        try eventually("the node refuses the stranger: \(node.words)") {
            node.words.contains("event=cluster_link_refused") || node.words.contains("certificate")
        }
        #expect(!node.words.contains("event=cluster_link_up"))
        #expect(!stranger.words.contains("event=cluster_link_up"))
    }

    @Test("a stream with another configuration than the cluster's raises an alarm with both values")
    func stream() throws {
        let folders = try ClusterFolders(on: NATSServerProcess(), prefix: "one")
        try folders.edit(1) { object in
            var log = object["log"] as? [String: Any] ?? [:]
            log["replicas"] = 3
            object["log"] = log
        }
        let node = try RunningDaemon(flags: folders.flags(1))
        try eventually("the alarm comes: \(node.words)") { node.words.contains("event=cluster_stream_unfit") }
        #expect(node.words.split(separator: "\n").contains { $0.contains("replicas") && $0.contains("3") })
    }

    @Test("a log that does not sync is refused at the founding, and raises an alarm in a cluster that has it")
    func unsynced() throws {
        let storage = try Scratch()
        let server = try NATSServerProcess(
            "jetstream { store_dir: \"\(storage.url.path)\" }", name: "lazy", hasJetStream: false)
        let monitor = "127.0.0.1:\(server.healthPort)"
        let words = [
            "cluster", "found", storage.url.appendingPathComponent("new").path, "--replicas", "1",
            "--log-prefix", "new", "--log-server", "127.0.0.1:\(server.port)", "--node", "127.0.0.1:5240",
        ]
        let refused = try Tool.run("ccsctl", words + ["--log-monitor", monitor])
        #expect(refused.code == 69, "\(refused)")
        #expect(refused.errors.contains("--log-monitor \(monitor): server lazy confirms records before"))
        let wrong = try Tool.run("ccsctl", words + ["--log-monitor", "nowhere"])
        #expect(wrong.code == 64 && wrong.errors.contains("invalid --log-monitor"), "\(wrong)")

        // Without the option it is founded, and the output names what is not checked.
        let folders = try ClusterFolders(on: server, prefix: "one")
        let unchecked = try Tool.run("ccsctl", words + ["--partitions", "2"])
        #expect(unchecked.code == 0 && unchecked.output.contains("NOT CHECKED"), "\(unchecked)")
        try folders.edit(1) { object in
            var log = object["log"] as? [String: Any] ?? [:]
            log["monitors"] = [monitor]
            object["log"] = log
        }
        let node = try RunningDaemon(flags: folders.flags(1))
        try eventually("the alarm comes: \(node.words)") {
            let status = try node.ctl("cluster", "status")
            let alarms = status["alarms"] as? [[String: Any]] ?? []
            return alarms.contains { $0["cause"] as? String == "log_unsynced" }
                && (status["log"] as? [String: Any])?["syncs"] as? Bool == false
        }
    }
}
