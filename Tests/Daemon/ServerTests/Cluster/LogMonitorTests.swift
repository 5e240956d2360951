import Basics
import ClusterSetup
import NATSClient
import NATSServerSupport
import Testing
import Transport
import Wire

/// The question to a server of the log, whether it syncs.
@Suite("Monitoring ports of the log") struct LogMonitorTests {
    private func read(_ text: String) -> Result<LogServerReport, LogMonitorProblem> {
        Result { () throws(LogMonitorProblem) in try LogServerReport(parsing: Array(text.utf8)) }
    }

    private func report(_ config: String) -> LogServerReport? {
        try? read("{\"server_name\":\"n\\u001b1\",\"jetstream\":{\"config\":{\(config)}},\"mem\":1.5e3}")
            .get()
    }

    @Test("a server syncs if it reports sync_always; it leaves the member out when it does not")
    func reports() {
        #expect(report("\"sync_always\":true")?.syncsAlways == true)
        #expect(report("\"sync_always\":false")?.syncsAlways == false)
        #expect(report("\"sync_interval\":120000000000")?.syncsAlways == false)
        #expect(report("")?.name.contains("\u{1B}") == false)
    }

    @Test("the group of all servers is that of the report; its leader has news of the others")
    func group() {
        func group(_ leader: String, _ replicas: String) -> LogServerGroup? {
            let text =
                "{\"config\":{},\"meta\":{\"leader\":\"\(leader)\",\"cluster_size\":4,\"replicas\":[\(replicas)]}}"
            return try? read("{\"server_name\":\"n1\",\"jetstream\":\(text)}").get().group
        }
        func replica(_ name: String, _ isCurrent: Bool, _ active: Int, _ more: String = "") -> String {
            "{\"name\":\"\(name)\",\"current\":\(isCurrent),\"active\":\(active),\"peer\":\"P\"\(more)}"
        }
        let others = [
            replica("n2", true, 900_000_000), replica("n3", false, 0), replica("n4", false, 900_000_000),
            replica("n5", false, 5_000_000_000),
        ].joined(separator: ",")
        #expect(group("n1", others) == LogServerGroup(leader: "n1", size: 4, silent: ["n3", "n5"]))
        #expect(group("n2", others) == LogServerGroup(leader: "n2", size: 4), "it is not the leader")
        let unknown = replica("Server name unknown at this time (peerID: P)", false, 0, ",\"offline\":true")
        #expect(group("n2", unknown)?.silent == ["P"] && group("", "")?.leader == nil)
        #expect(report("")?.group == nil)
    }

    @Test(
        "an answer that is not that of a nats-server is no report",
        arguments: [
            "", "[]", "{}", "{\"server_name\":\"n\"}", "{\"server_name\":1,\"jetstream\":{\"config\":{}}}",
            "{\"server_name\":\"n\",\"jetstream\":{\"config\":{\"sync_always\":\"yes\"}}}",
        ])
    func strange(_ text: String) {
        guard case .failure(.unreadable) = read(text) else {
            Issue.record("\(text) was taken as a report")
            return
        }
    }

    @Test(
        "a server without JetStream, as each is for a moment after its start, is another problem than a strange answer"
    )
    func starting() {
        for jetstream in ["{}", "{\"config\":1}"] {
            let found = read("{\"server_name\":\"n\",\"jetstream\":\(jetstream)}")
            guard case .failure(.withoutJetStream) = found else {
                Issue.record("\(jetstream): \(found)")
                continue
            }
        }
    }

    @Test(
        "real servers: one that syncs passes; one with the default of NATS, without JetStream or without a port does not",
        .enabled(if: NATSServerProcess.isInstalled, "run Scripts/bootstrap --tests"))
    func realServers() throws {
        let synced = try NATSServerProcess()
        let folder = NATSServerProcess.temporaryFolder()
        defer { NATSServerProcess.remove(folder) }
        let lazy = try NATSServerProcess(
            "jetstream { store_dir: \"\(folder)\" }", name: "lazy", hasJetStream: false)
        let plain = try NATSServerProcess(name: "plain", hasJetStream: false)
        func address(_ server: NATSServerProcess) -> NATSServerAddress {
            NATSServerAddress(host: "127.0.0.1", port: server.healthPort)
        }
        #expect(LogMonitor.problem(of: [address(synced), address(synced)]) == nil)
        let problem = try #require(LogMonitor.problem(of: [address(synced), address(lazy)]))
        #expect(
            problem.contains("127.0.0.1:\(lazy.healthPort)") && problem.contains("lazy")
                && problem.contains("expected sync_interval: always"))
        #expect(LogMonitor.problem(of: [address(plain)])?.contains("without JetStream") == true)
        // The port for clients of NATS greets with INFO, which is no HTTP.
        let wrong = NATSServerAddress(host: "127.0.0.1", port: synced.port)
        #expect(LogMonitor.problem(of: [wrong])?.contains("127.0.0.1:\(synced.port)") == true)
        synced.kill()
        #expect(LogMonitor.problem(of: [address(synced)]) != nil)
    }

    @Test("the file of a node keeps the ports, refuses what is no address, and prefers servers on its host")
    func file() throws {
        var log = ClusterFile.LogServers(
            servers: ["127.0.0.1:4222"], monitors: ["127.0.0.1:8222", "[::1]:8222"], replicas: 1,
            prefix: "ccs")
        #expect(try log.monitorAddresses().map(\.description) == log.monitors)
        let folder = try ServerFolder()
        let founding = ClusterFounding(addresses: ["a:5240"], partitions: 4, log: log)
        let file = try founding.write(to: "\(folder.path)/cluster", now: Now.read().wall)
        #expect(try ClusterFile(parsing: Array(file.json.pretty.utf8)).log == log)
        func preferred(_ address: String?) throws -> [String] {
            try log.settings(name: "test", of: address).preferred.map(\.description).sorted()
        }
        log.servers = ["N1:4222", "n2:4222", "[FD00::1]:4222", "n1:4223"]
        #expect(try preferred("n1:5240") == ["N1:4222", "n1:4223"])
        #expect(try preferred("[fd00::1]:5240") == ["[FD00::1]:4222"])
        #expect(try preferred("n3:5240") == [] && preferred(nil) == [])
        log.monitors = ["nats://user@127.0.0.1:8222"]
        #expect(throws: ClusterFileProblem.self) { try log.monitorAddresses() }
    }
}
