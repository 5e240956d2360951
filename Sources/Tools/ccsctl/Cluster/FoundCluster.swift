import Basics
import Catalogue
import Client
import ClusterSetup
import NATSClient
import Operator
import Transport

/// `ccsctl cluster found`: creates the logs first, so that a folder exists only for a cluster that works.
enum FoundCluster {
    static func run(_ invocation: Invocation) -> ExitCode {
        Output.report(isJSON: invocation.has("--json")) { () throws(Failure) in
            let output = try found(invocation)
            return (output.json, text(of: output))
        }
    }

    private static func found(_ invocation: Invocation) throws(Failure) -> FoundedClusterOutput {
        let directory = invocation.arguments.first ?? "."
        let partitions = invocation.integer("--partitions") ?? Limits.Partition.count
        let addresses = invocation.texts("--node")
        for address in addresses { try check(address, "--node", "10.0.0.1:5240") }
        for address in invocation.texts("--log-monitor") {
            try check(address, "--log-monitor", "10.0.0.1:8222")
        }
        let log = try servers(invocation)
        let kept = try invocation.text("--export").map { path throws(Failure) in
            try ExportSource(path).secrets()
        }
        let founding = ClusterFounding(addresses: addresses, partitions: partitions, log: log)
        if let folder = founding.existingFolder(in: directory) {
            throw Failure(.failure, "\(folder) exists", hint: "give another directory, or remove it")
        }
        try checkSync(log)
        try createStreams(log, partitions, isQuiet: invocation.has("--json"))
        do throws(TransportError) {
            let file = try founding.write(to: directory, keeping: kept ?? [:], now: Now.read().wall)
            return FoundedClusterOutput(
                cluster: file.cluster.text, partitions: partitions,
                folders: founding.nodes.map { ClusterFounding.folder(of: $0.number, in: directory) },
                isSyncChecked: !log.monitors.isEmpty)
        } catch {
            throw Failure(.inputOutput, error.description, hint: "give a directory that can be written")
        }
    }

    /// Throws unless a text is a host and a port.
    static func check(_ address: String, _ option: String, _ example: String) throws(Failure) {
        guard !ClusterFile.isAddress(address) else { return }
        throw Failure(
            .usage, "invalid \(option) \"\(Report.safe(address))\"",
            hint: "give a host and a port, such as \(example)")
    }

    private static func servers(_ invocation: Invocation) throws(Failure) -> ClusterFile.LogServers {
        var logins: [ClusterFile.LogServers.Login] = []
        if let user = invocation.text("--log-user") {
            guard let file = invocation.text("--log-password-file") else {
                throw Failure(.usage, "--log-user without --log-password-file", hint: "give both, or neither")
            }
            logins.append(.password(user: user, file: file))
        }
        if let file = invocation.text("--log-token-file") { logins.append(.token(file: file)) }
        if let file = invocation.text("--log-nkey-file") { logins.append(.key(file: file)) }
        if let file = invocation.text("--log-credentials-file") { logins.append(.credentials(file: file)) }
        guard logins.count <= 1 else {
            throw Failure(
                .usage, "several ways to log in to NATS",
                hint:
                    "give one of --log-user, --log-token-file, --log-nkey-file and --log-credentials-file")
        }
        return ClusterFile.LogServers(
            servers: invocation.texts("--log-server"), monitors: invocation.texts("--log-monitor"),
            replicas: invocation.integer("--replicas") ?? 3,
            prefix: invocation.text("--log-prefix") ?? "ccs", login: logins.first,
            authorities: invocation.text("--log-ca-file"))
    }

    /// Throws if a server of NATS does not sync each record, or cannot be asked.
    private static func checkSync(_ log: ClusterFile.LogServers) throws(Failure) {
        let addresses: [NATSServerAddress]
        do throws(ClusterFileProblem) { addresses = try log.monitorAddresses() } catch {
            throw Failure(.usage, error.description, hint: "see ccsctl cluster found --help")
        }
        guard let problem = LogMonitor.problem(of: addresses) else { return }
        throw Failure(
            .unavailable, "--log-monitor \(Report.safe(problem))",
            hint:
                "set jetstream { sync_interval: always } and http in the configuration of each server, and restart it"
        )
    }

    private static func createStreams(
        _ log: ClusterFile.LogServers, _ partitions: Int, isQuiet: Bool
    ) throws(Failure) {
        let (settings, names): (NATSSettings, LogNames)
        do throws(ClusterFileProblem) {
            settings = try log.settings(name: "ccsctl")
            names = try log.names()
        } catch { throw Failure(.usage, error.description, hint: "see ccsctl cluster found --help") }
        let problem = StreamFounding.run(
            settings, names: names, partitions: partitions, stream: StreamSettings(replicas: log.replicas)
        ) { created in
            if !isQuiet { Output.printError("stream \(created) of \(partitions)") }
        }
        guard let problem else { return }
        throw Failure(
            .unavailable, Report.safe(problem),
            hint: "check that the servers of NATS run with JetStream, and see docs/cluster.md")
    }

    private static func text(of output: FoundedClusterOutput) -> String {
        let folders = output.folders.map { "folder        \(Report.safe($0))\n" }.joined()
        let sync =
            output.isSyncChecked ? "each record" : "NOT CHECKED: give --log-monitor for each server of NATS"
        return "cluster       \(output.cluster)\npartitions    \(output.partitions)\nsync          \(sync)\n"
            + folders
            + "next          copy each folder to its machine, and start ccsd there with --cluster-directory FOLDER\n"
    }
}
