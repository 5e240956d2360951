import Basics
import Catalogue
import Cluster
import ClusterSetup
import Delivery
import Store
import Transport

/// The start of a node of a cluster.
extension Startup {
    /// A node of a cluster, with the reactor of its thread.
    struct OpenNode {
        let settings: ClusterSettings
        let reactor: Reactor
        let port: ClusterPort
    }

    /// Reads the folder of the cluster. Returns `nil` for a daemon that belongs to none.
    func readCluster() throws(StartupFailure) -> ClusterSettings? {
        guard let folder = configuration.clusterDirectory else { return nil }
        do throws(ClusterSettingsProblem) {
            let settings = try ClusterSettings(
                folder: folder, software: Program.version, clientAddress: configuration.listenAddress)
            for warning in settings.certificateWarnings {
                log.warning(
                    "cluster_certificate",
                    [
                        "file": .text("\(folder)/\(ClusterFounding.Files.certificate)"),
                        "problem": .text(warning),
                    ])
            }
            return settings
        } catch {
            throw StartupFailure(
                text: error.text,
                hint:
                    "cluster_directory must be a folder that ccsctl cluster found has made; leave it out for a daemon that belongs to no cluster",
                exitCode: .configuration)
        }
    }

    /// Makes a new store part of the cluster. Throws if it belongs to another cluster or to none.
    func join(_ cluster: ClusterSettings, _ store: any Store) throws(StartupFailure) {
        guard store.partitions == cluster.file.partitions else {
            throw refusal(
                of: store, "it has \(store.partitions) partitions, the cluster \(cluster.file.partitions)")
        }
        let id = Array(cluster.file.cluster.text.utf8)
        let kept = try reading(store) { store throws(StoreError) in try store.setting(Self.clusterSetting) }
        if let kept {
            guard kept == id else {
                throw refusal(
                    of: store, kept.isEmpty ? "it has left a cluster" : "it belongs to another cluster")
            }
            return
        }
        let isEmpty = try reading(store) { store throws(StoreError) in
            let (senders, devices) = (try store.senders(), try store.devices(after: nil, limit: 1))
            return senders.isEmpty && devices.isEmpty
        }
        guard isEmpty else {
            throw refusal(of: store, "it has the data of a daemon that belongs to no cluster")
        }
        try reading(store) { store throws(StoreError) in
            for name in ClusterFile.settingNames {
                if let secret = cluster.file.secrets[name] { try store.setSetting(name, secret.revealed) }
            }
            try store.setSetting(Self.clusterSetting, id)
        }
    }

    /// Throws if the store belongs to a cluster: what a daemon of its own changed there, the other nodes would never know.
    func requireNoCluster(of store: any Store) throws(StartupFailure) {
        let kept = try reading(store) { store throws(StoreError) in try store.setting(Self.clusterSetting) }
        guard let kept, !kept.isEmpty else { return }
        try? store.close()
        throw StartupFailure(
            text:
                "the store in \(configuration.storePath) belongs to the cluster \(String(decoding: kept, as: UTF8.self)), but cluster_directory is not set",
            hint:
                "nothing was changed: set cluster_directory to the folder of this node; if the cluster is given up for good, run 'ccsd leave-cluster' with the same options",
            exitCode: .configuration)
    }

    /// The setting with the ID of the cluster that a store belongs to; empty if it has left one.
    static let clusterSetting = "cluster_id"
    /// The setting with the nodes that were seen and those that were removed.
    static let rosterSetting = "cluster_roster"

    /// Reads the nodes that the last process has seen, and those that were removed.
    func readRoster(_ store: any Store) throws(StartupFailure) -> Roster {
        let kept = try reading(store) { store throws(StoreError) in try store.setting(Self.rosterSetting) }
        guard let kept else { return Roster() }
        guard let roster = Roster(decoding: kept) else {
            throw StartupFailure(
                text:
                    "the store in \(configuration.storePath) has a damaged list of the nodes of the cluster",
                hint: "restore a backup of a running node", exitCode: .inputOutput)
        }
        return roster
    }

    private func refusal(of store: any Store, _ reason: String) -> StartupFailure {
        try? store.close()
        return StartupFailure(
            text: "the store in \(configuration.storePath) cannot join the cluster: \(reason)",
            hint:
                "nothing was changed: set another data directory with --data-directory; ccsctl export and import move senders and devices",
            exitCode: .configuration)
    }

    /// Puts a copied store in the place of the node's own, which was behind a purged log.
    func installCopiedStore() throws(StartupFailure) {
        do throws(BackupFailure) {
            guard try CopiedStore(dataDirectory: configuration.dataDirectory).install() else { return }
            log.notice("cluster_store_installed", ["path": .text(configuration.storePath)])
        } catch { throw StartupFailure(text: error.text, hint: error.hint, exitCode: error.exitCode) }
    }

    /// Makes the node, whose thread starts later.
    func makeNode(_ settings: ClusterSettings, _ reports: StoreReports) throws(StartupFailure) -> OpenNode {
        do throws(TransportError) {
            let reactor = try Reactor(index: configuration.reactorCount + 1)
            let port = ClusterPort(reactor.handle, settings.membership, reports)
            return OpenNode(settings: settings, reactor: reactor, port: port)
        } catch {
            throw StartupFailure(
                text: error.description, hint: "raise the limit on open files", exitCode: error.exitCode)
        }
    }

    /// Reads the senders that another node has changed. If that fails it is tried again soon: until then a revoked key is accepted.
    private static func read(_ senders: Senders, _ mailbox: ClusterMailbox, _ log: Log) {
        do throws(StoreError) { try senders.read() } catch {
            log.repeating(
                .error, "store_failed", by: "senders",
                ["kind": .text(error.kind.rawValue), "problem": .text(error.description)])
            mailbox.post { host in
                let soon = Int64(Limits.Store.retryMilliseconds)
                host.reactor.schedule(at: host.reactor.now.monotonic.advanced(milliseconds: soon)) { _ in
                    read(senders, mailbox, log)
                }
            }
        }
    }

    /// Starts the thread of the cluster.
    func startCluster(_ node: OpenNode, of daemon: Daemon, _ roster: Roster) throws(StartupFailure) {
        let (port, senders) = (node.port, daemon.senders)
        let surroundings = ClusterHost.Surroundings(
            log: log, map: daemon.core.map, reactors: daemon.core.mailboxes, store: daemon.storage.threads,
            factory: daemon.core.factory,
            tally: ClusterTally(shard: metrics[.cluster]),
            contact: port.contact, roster: roster, backups: daemon.storage.backups, history: daemon.history,
            dataDirectory: configuration.dataDirectory, restart: { port.restart.make() },
            sendersChanged: { [log] in Self.read(senders, port.mailbox, log) })
        let progress = try reading(surroundings.store.contents) { store throws(StoreError) in
            try store.logProgress()
        }
        let host = ClusterHost(
            reactor: node.reactor, settings: node.settings, mailbox: port.mailbox, progress: progress,
            surroundings: surroundings)
        do throws(TransportError) { try host.listen() } catch {
            throw StartupFailure(
                text: "cannot listen for other nodes on \(node.settings.file.listen): \(error.description)",
                hint: "set listen in \(ClusterFounding.Files.cluster) to an address of this machine",
                exitCode: error.exitCode)
        }
        // Transferred to the new thread: this one does not use it again.
        nonisolated(unsafe) let transferred = host
        try start("ccsd-cluster") { unsafe transferred.run() }
    }
}
