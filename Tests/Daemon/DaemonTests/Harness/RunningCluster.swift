import BasicsSupport
import Foundation
import NATSServerSupport

/// Where the parts of a cluster run, which decides what can be cut.
enum ClusterLayout {
    /// A daemon that belongs to no cluster and needs no log, for comparison.
    case alone
    /// All on loopback.
    case loopback
    /// On loopback, with relays between the servers of the log.
    case relayed
    /// Each node in a network of its own.
    case networks
    /// Each node with a server of the log in a network of its own.
    case machines
}

/// Three nats-servers and three nodes of ccsd on loopback, each of which can be killed, stopped and started again.
///
/// The folders of a cluster whose test fails are kept (`keepIfFailed`).
final class RunningCluster {
    let logs: NATSCluster?
    /// The networks of the nodes, if they can be cut off.
    let network: ClusterNetwork?
    /// The folders that `ccsctl cluster found` has made.
    let founded: Scratch
    private let scratches: [Scratch]
    private var daemons: [RunningDaemon?]
    private var ports: [[String: Int]]
    /// The logs of earlier processes of each node.
    private var earlier: [String]
    /// The nodes that are stopping.
    private var ending: Set<Int> = []
    private let flags: [String]
    let partitions: Int

    /// Founds a cluster, with the secret of an export if there is one, and starts its nodes.
    init(
        nodes: Int = 3, partitions: Int = 6, flags: [String] = [], layout: ClusterLayout = .loopback,
        export: URL? = nil
    ) throws {
        var (count, isAlone) = (nodes, false)
        switch layout {
        case .alone: (count, isAlone, network, logs) = (1, true, nil, nil)
        case .loopback: (network, logs) = (nil, try NATSCluster())
        case .relayed: (network, logs) = (nil, try NATSCluster(.relayed))
        case .networks:
            network = try ClusterNetwork(nodes: count)
            logs = try NATSCluster(.loopback(address: ClusterNetwork.logAddress))
        case .machines:
            let network = try ClusterNetwork(nodes: count)
            self.network = network
            logs = try NATSCluster(
                .machines((0..<count).map { (network.address($0), network.launcher($0)) }))
        }
        founded = try Scratch()
        self.flags = flags
        self.partitions = partitions
        scratches = try (0..<count).map { _ in try Scratch() }
        earlier = Array(repeating: "", count: count)
        daemons = Array(repeating: nil, count: count)
        let free = try FreePorts.take(6 * count).map(Int.init)
        ports = (0..<count).map { node in
            let own = free[(count + 5 * node)...].prefix(5)
            let names = ["app_server", "app_server_preproduction", "device", "https", "admin"]
            return Dictionary(uniqueKeysWithValues: zip(names, own))
        }
        let options = export.map { ["--export", $0.path] } ?? []
        if !isAlone { try found((0..<count).map { "\(address($0)):\(free[$0])" }, options) }
        for node in 0..<count { try start(node) }
        if !isAlone { try serves() }
    }

    /// The servers of the log, in three replicas.
    var servers: [NATSServerProcess] { logs?.servers ?? [] }

    private func found(_ addresses: [String], _ options: [String]) throws {
        let words =
            ["cluster", "found", founded.url.path, "--partitions", "\(partitions)"] + options
            + addresses.flatMap { ["--node", $0] }
            + servers.flatMap { ["--log-server", "\($0.address):\($0.port)"] }
            + (network == nil ? servers.flatMap { ["--log-monitor", "127.0.0.1:\($0.healthPort)"] } : [])
        let result = try Tool.run("ccsctl", words)
        guard result.code == 0 else { throw HarnessFailure("ccsctl cluster found: \(result)") }
    }

    /// The address of a node.
    func address(_ node: Int) -> String { network?.address(node) ?? "127.0.0.1" }

    /// The number of nodes.
    var count: Int { scratches.count }

    /// The folder of a node with its `cluster.json`.
    func folder(_ node: Int) -> URL { founded.url.appendingPathComponent("node-\(node + 1)") }

    /// The data directory of a node.
    func data(of node: Int) -> URL { scratches[node].url.appendingPathComponent("data") }

    // MARK: Nodes

    /// A node that runs.
    func node(_ index: Int) throws -> RunningDaemon {
        guard let daemon = daemons[index] else { throw HarnessFailure("node \(index + 1) does not run") }
        return daemon
    }

    /// The nodes that run.
    var running: [Int] { daemons.indices.filter { daemons[$0] != nil } }

    /// Throws if a node has ended without `end` or a signal of the test that it is expected to end by.
    func requireRunning() throws {
        for (node, daemon) in daemons.enumerated() {
            guard let daemon, !daemon.isRunning, !ending.contains(node) else { continue }
            throw HarnessFailure("node \(node + 1) has ended by itself: \(daemon.words.suffix(2_000))")
        }
    }

    /// Asks a node to stop; `ended` follows.
    func stop(_ node: Int) throws {
        ending.insert(node)
        try self.node(node).signal(SIGTERM)
    }

    /// Starts a node, again with its ports and data.
    func start(_ node: Int) throws { install(try starter(node)(), as: node) }

    /// Returns what starts a node and can run on another thread; `install` follows.
    func starter(
        _ node: Int, environment: [String: String] = [:]
    ) throws -> @Sendable () throws -> RunningDaemon {
        let (scratch, ports, launcher) = (scratches[node], ports[node], network?.launcher(node) ?? [])
        var options = logs == nil ? [] : ["--cluster-directory", folder(node).path]
        options += ["--admin-port", "\(ports["admin"] ?? 0)"]
        if network != nil { options += ["--listen-address", address(node), "--host-names", address(node)] }
        let flags = options + flags
        return {
            try RunningDaemon(
                continuing: scratch, flags: flags, ports: ports, environment: environment, launcher: launcher)
        }
    }

    /// Takes a started process as a node.
    func install(_ daemon: RunningDaemon, as node: Int) { daemons[node] = daemon }

    /// Ends a node with a signal. Returns its exit code, or the negative number of the signal.
    @discardableResult
    func end(_ node: Int, _ signal: Int32 = SIGKILL) throws -> Int32 {
        let daemon = try self.node(node)
        daemon.signal(signal)
        return try ended(node)
    }

    /// Waits for the end of a node that has got a signal.
    @discardableResult
    func ended(_ node: Int) throws -> Int32 {
        let daemon = try self.node(node)
        let code = try daemon.wait()
        ending.remove(node)
        earlier[node] += daemon.words
        daemons[node] = nil
        return code
    }

    /// All that a node has logged.
    func words(_ node: Int) -> String { earlier[node] + (daemons[node]?.words ?? "") }

    /// The CPU time of all nodes that run.
    func cpuSeconds() throws -> Double {
        let ticks = try running.map { node in
            let stat = try String(contentsOfFile: "/proc/\(self.node(node).pid)/stat", encoding: .utf8)
            let fields = stat.split(separator: ")").last?.split(separator: " ") ?? []
            return fields.count > 12 ? (Double(fields[11]) ?? 0) + (Double(fields[12]) ?? 0) : 0
        }
        return ticks.reduce(0, +) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    // MARK: Partitions

    /// The partitions that a running node owns, by its log.
    func owned(by node: Int) -> Set<Int> {
        guard let daemon = daemons[node] else { return [] }
        var owned: Set<Int> = []
        for line in daemon.words.split(separator: "\n") where line.contains("event=cluster_partition_") {
            guard let found = line.firstMatch(of: /partitions="?([0-9, -]+)"?/) else { continue }
            let partitions = found.1.split(separator: ", ").flatMap { range -> [Int] in
                let ends = range.split(separator: "-").compactMap { Int($0) }
                return ends.isEmpty ? [] : Array(ends[0]...ends[ends.count - 1])
            }
            if line.contains("event=cluster_partition_taken") {
                owned.formUnion(partitions)
            } else {
                owned.subtract(partitions)
            }
        }
        return owned
    }

    /// Whether each partition is owned by one running node, by their logs.
    var isServed: Bool {
        let all = running.map { owned(by: $0) }
        return all.reduce(0) { $0 + $1.count } == partitions
            && all.reduce(into: Set()) { $0.formUnion($1) }.count == partitions
    }

    /// Waits until the running nodes own all partitions, each of them some.
    func serves() throws {
        try eventually("every partition has an owner, and every node a partition") {
            isServed && running.allSatisfy { !owned(by: $0).isEmpty }
        }
    }

    /// Whether a server of the log has all that the others have.
    func isHealthy(_ server: NATSServerProcess) -> Bool {
        guard let answer = try? PlainHTTP.get("/healthz", port: server.healthPort) else { return false }
        return answer.contains("\"ok\"")
    }

    /// Adds a sender at a node. A change that was not confirmed, since a busy machine had cut the node off from the log or moved the
    /// partition, is repeated as an operator would: the sender of that attempt may exist too.
    func addSender(at node: Int) throws -> (id: String, key: String) {
        var made: [String: Any] = [:]
        try eventually("node \(node + 1) adds a sender") {
            do { made = try self.node(node).ctl("senders", "add") } catch let failure as HarnessFailure
                where failure.description.contains("the change was not confirmed")
            { return false }
            return true
        }
        guard let id = made["sender_id"] as? String, let key = made["key"] as? String else {
            throw HarnessFailure("no sender in \(made)")
        }
        return (id, key)
    }

    /// Waits until a node has a sender.
    func waitForSender(_ id: String, at node: Int) throws {
        try eventually("node \(node + 1) has the sender \(id)") {
            let listed = try self.node(node).ctl("senders", "list")["senders"] as? [[String: Any]] ?? []
            return listed.contains { $0["sender_id"] as? String == id }
        }
    }

    /// Waits until a node has applied that a topic of a sender has N subscribers: only then a message sent there reaches them all.
    func waitForSubscribers(_ count: Int, of topic: String, sender: String, at node: Int) throws {
        try eventually("node \(node + 1) has \(count) subscribers of the topic \(topic) of \(sender)") {
            let listed = try self.node(node).ctl("topics", "list")["topics"] as? [[String: Any]] ?? []
            return listed.contains {
                $0["sender_id"] as? String == sender && $0["topic"] as? String == topic
                    && $0["subscribers"] as? Int == count
            }
        }
    }

    // MARK: Failures

    /// Runs a test; if it throws or `isWhole` is false afterwards, the logs are copied to a folder that is named in the output.
    func keepingLogs(unless isWhole: () -> Bool = { true }, _ body: () throws -> Void) throws {
        do {
            try body()
            if !isWhole() { keepLogs() }
        } catch {
            keepLogs()
            throw error
        }
    }

    private func keepLogs() {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("ccs-cluster-logs-\(UInt32.random(in: 0...UInt32.max))")
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for node in 0..<count {
            let file = folder.appendingPathComponent("node-\(node + 1).log")
            try? words(node).write(to: file, atomically: true, encoding: .utf8)
        }
        for server in servers {
            let file = folder.appendingPathComponent("nats-\(server.name).log")
            try? server.log.write(to: file, atomically: true, encoding: .utf8)
        }
        print("the logs of the cluster are in \(folder.path)")
    }
}
