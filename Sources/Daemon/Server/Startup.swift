import Basics
import Catalogue
import Cluster
import ClusterSetup
import Delivery
import Glibc
import RocksStore
import Sessions
import Store
import Transport

/// Why the daemon did not start, with a hint and the exit code.
struct StartupFailure: Error {
    var text: String
    var hint: String
    var exitCode: ExitCode
}

extension StartupFailure {
    /// Creates the failure of a store that cannot be opened.
    init(_ error: StoreError, opening configuration: Configuration) {
        let hint =
            switch error.kind {
            case .locked:
                "another ccsd uses this data directory: stop it, or set another one with --data-directory"
            case .newerFormat:
                "nothing was changed: it was written by a newer version of ccsd; install that version, or restore a backup that this one has made"
            case .olderFormat:
                "nothing was changed: it was written by an older version of ccsd and cannot be migrated; install that version, run ccsctl export there, and import into an empty data directory of this one (--data-directory)"
            case .full: "free space on the file system of \(configuration.dataDirectory)"
            case .corrupt, .damaged:
                "nothing was removed: copy the folder, check the disk, and restore a backup of the reported file or of the whole folder"
            case .lost:
                "nothing was removed: copy the folder and check the disk; then restore a backup, or accept the loss with 'ccsd accept-loss' and the same options"
            case .inputOutput, .occupied, .invariant, .inconsistent:
                "check the disk; restore a backup if it is lost"
            }
        self.init(
            text: "cannot open the store in \(configuration.storePath): \(error.description)", hint: hint,
            exitCode: .inputOutput)
    }
}

extension TransportError {
    /// The exit code of a start that fails with this error: a missing permission, or an I/O failure.
    var exitCode: ExitCode { code == EACCES || code == EPERM || code == EROFS ? .noPermission : .inputOutput }
}

/// Starts the daemon; `run` lists the steps.
struct Startup: ~Copyable {
    let located: LocatedConfiguration
    let source: ConfigurationSource
    let log: Log
    let metrics: Metrics
    let senderFigures = SenderFigures()

    /// The values of the configuration.
    var configuration: Configuration { located.values }

    init(configuration: LocatedConfiguration, source: ConfigurationSource, log: Log) {
        located = configuration
        self.source = source
        self.log = log
        metrics = MetricWriter.metrics(reactors: configuration.values.reactorCount)
    }

    /// Runs all steps in order. Throws the failure of the first step that fails.
    mutating func run() throws(StartupFailure) -> (Daemon, StartupGreeting) {
        let descriptors = try raiseDescriptorLimit()
        try makeDataDirectory()
        let cluster = try readCluster()
        let store = try openStore(cluster)
        if let cluster { try join(cluster, store) } else { try requireNoCluster(of: store) }
        let secrets = Daemon.Secrets(
            seal: TokenSeal(secret: try secret("token_secret", bytes: 32, in: store)),
            scram: try secret("scram_secret", bytes: 32, in: store))
        let certificates = try makeCertificates()
        // Encrypts what is stored: the keys for APNs, and the secrets of webhooks.
        let sealing = try secret("sealing_secret", bytes: 32, in: store)
        let credentials = APNsCredentialStore(folder: configuration.apnsPath, secret: sealing, log: log)
        let reactors = try makeReactors(descriptors: descriptors)
        let mailboxes = reactors.map { ReactorMailbox(handle: $0.handle) }
        let map = PartitionMap(partitions: store.partitions, reactors: reactors.count)
        let lease = try reading(store) { store throws(StoreError) in try SequenceLease(store: store) }
        let reports = StoreReports(map: map, mailboxes: mailboxes)
        let node = try cluster.map { settings throws(StartupFailure) in try makeNode(settings, reports) }
        let storage = Daemon.Storage(
            store: store, threads: try startStoreThreads(store, lease, reports, node?.port),
            backups: Backups(store: store, log: log))
        let directory = SenderDirectory(
            try reading(store) { store throws(StoreError) in try store.senders() })
        let senders = Senders(
            store: store, batches: node?.port ?? storage.threads, mailboxes: mailboxes, directory: directory,
            contact: node?.port.contact)
        let clock = ClockStatus()
        let testClock = try makeTestClock(store, clock, isNode: node != nil)
        let bench = try makeBench()
        let delivery = try deliverySettings(store, lease, secrets.seal, clock, bench)
        let poster = EventPoster(map: map, mailboxes: mailboxes)
        let apns = try makeGateway(poster, clock)
        let gateways = Daemon.Gateways(
            apns: apns.port, credentials: credentials,
            webhooks: makeWebhooks(poster, secrets.seal, senders, clock),
            webhookSecrets: WebhookSecrets(secret: sealing))
        let factory = PartitionFactory(
            partitions: store.partitions, settings: delivery, directory: directory, lease: lease,
            clock: clock)
        let core = Daemon.Core(map: map, mailboxes: mailboxes, factory: factory, cluster: node?.port)
        connect(senders, to: factory, gateways)
        if let number = cluster?.membership.node.number { for reactor in reactors { reactor.node = number } }
        let hosts = makeHosts(
            on: reactors, core: core, store: storage.threads, gateways: gateways, clock: clock,
            faults: bench?.daemon.faults)
        let history = configuration.history.map { HistoryPort($0) }
        for host in hosts {
            host.senders = { senders.directory }
            host.history = history.map { HistoryGatherer(port: $0) }
        }
        let sockets = try openSockets()
        let operators = try reading(store) { store throws(StoreError) in
            try OperatorAccounts(store: store, isTLS: configuration.adminTLS)
        }
        let daemon = Daemon(
            self, storage: storage, core: core, gateways: gateways, secrets: secrets,
            certificates: certificates, senders: senders, operators: operators, clock: clock,
            history: history, testClock: testClock, bench: bench?.daemon, listeners: sockets.listeners)
        connect(credentials, to: apns.port)
        try listen(consume sockets, hosts, daemon)
        try startHistory(history, clock, mailboxes)
        try startThreads(hosts, apns)
        if let node { try startCluster(node, of: daemon, try readRoster(store)) }
        if let bench { try startBench(bench, daemon) }
        return (daemon, try makeFirstSender(daemon))
    }

    /// Returns the settings of the partitions, with what the last process has left in the store.
    private func deliverySettings(
        _ store: RocksStore, _ lease: SequenceLease, _ seal: TokenSeal, _ clock: ClockStatus,
        _ bench: OpenBench?
    ) throws(StartupFailure) -> DeliverySettings {
        var delivery = DeliverySettings()
        delivery.clockMark = try reading(store) { store throws(StoreError) in
            try ClockStatus.mark(in: store, now: clock.now().wall)
        }
        delivery.sequenceWatermark = lease.watermark
        delivery.seal = seal
        delivery.running = configuration.running
        delivery.recorderKey = bench?.recorderDigest
        delivery.keepsHistory = configuration.history != nil
        return delivery
    }

    // MARK: Machine

    private func raiseDescriptorLimit() throws(StartupFailure) -> Int {
        let descriptors = DescriptorLimit.raise()
        log.debug("descriptor_limit", ["descriptors": LogValue(descriptors)])
        guard descriptors >= Limits.Connection.leastDescriptors else {
            throw StartupFailure(
                text:
                    "the limit on open files is \(descriptors): ccsd needs at least \(Limits.Connection.leastDescriptors)",
                hint: "raise LimitNOFILE in the unit, or the hard limit of the shell (ulimit -Hn)",
                exitCode: .inputOutput)
        }
        return descriptors
    }

    private func makeDataDirectory() throws(StartupFailure) {
        let path = configuration.dataDirectory
        if unsafe mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        let failure = TransportError(
            "make the data directory \(path)", detail: unsafe String(cString: strerror(errno)), code: errno)
        throw StartupFailure(
            text: failure.description,
            hint: "create it, owned by this user, or set another one with --data-directory",
            exitCode: failure.exitCode)
    }

    // MARK: Store

    private func openStore(_ cluster: ClusterSettings?) throws(StartupFailure) -> RocksStore {
        if let failure = Restore.interruption(of: configuration.dataDirectory) {
            throw StartupFailure(text: failure.text, hint: failure.hint, exitCode: failure.exitCode)
        }
        if cluster != nil { try installCopiedStore() }
        let store: RocksStore
        do throws(StoreError) {
            store = try RocksStore(
                path: configuration.storePath,
                partitions: cluster?.file.partitions ?? configuration.storePartitions
                    ?? Limits.Partition.count)
        } catch { throw StartupFailure(error, opening: configuration) }
        for remark in store.remarks {
            switch remark {
            case .unreadableSyncMark:
                log.warning("sync_mark_unreadable", ["path": .text(configuration.storePath)])
            case .tornManifest(let name):
                log.warning(
                    "store_manifest_torn", ["path": .text(configuration.storePath), "manifest": .text(name)])
            }
        }
        try requirePartitions(of: store)
        if cluster != nil {
            CopiedStore(dataDirectory: configuration.dataDirectory).removeReplaced()
            // What the log has confirmed is synced once a second.
            store.whenCommitsAreLost { [log] in StoreThreads.endProcess($0, log) }
        }
        return store
    }

    /// Throws if another number of partitions is configured, since the number is fixed when a store is created.
    private func requirePartitions(of store: any Store) throws(StartupFailure) {
        guard let wanted = configuration.storePartitions, wanted != store.partitions else { return }
        try? store.close()
        throw StartupFailure(
            text:
                "the store in \(configuration.storePath) has \(store.partitions) partitions, but store_partitions is \(wanted)",
            hint:
                "the number is fixed when a store is created: remove store_partitions or set it to \(store.partitions), or set another data directory with --data-directory",
            exitCode: .configuration)
    }

    /// Returns a secret of the server, which is generated at the first start and kept in the store.
    private func secret(_ name: String, bytes: Int, in store: any Store) throws(StartupFailure) -> [UInt8] {
        try reading(store) { store throws(StoreError) in
            if let kept = try store.setting(name), kept.count == bytes { return kept }
            let fresh = SecureRandom.bytes(bytes)
            try store.setSetting(name, fresh)
            return fresh
        }
    }

    func reading<Value>(_ store: any Store, _ body: (any Store) throws(StoreError) -> Value)
        throws(StartupFailure) -> Value
    {
        do { return try body(store) } catch {
            throw StartupFailure(
                text: "cannot read the store in \(configuration.storePath): \(error.description)",
                hint: "check the disk; restore a backup if it is lost", exitCode: .inputOutput)
        }
    }

    private func startStoreThreads(
        _ store: any Store, _ lease: SequenceLease, _ reports: StoreReports, _ cluster: ClusterPort?
    ) throws(StartupFailure) -> StoreThreads {
        do {
            return try StoreThreads(
                store: store, metrics: metrics[.store], log: log, lease: lease,
                registry: RegistryQuota(limit: configuration.registryLimit),
                measured: ProcessFigures.measuring(
                    configuration.dataDirectory, in: metrics[.store]),
                applied: { reports in cluster?.mailbox.add { $0.applied += reports } },
                report: { reports.post($0) })
        } catch {
            throw StartupFailure(
                text: error.description, hint: "raise the limit on processes", exitCode: error.exitCode)
        }
    }

    // MARK: TLS

    private func makeCertificates() throws(StartupFailure) -> Certificates {
        do {
            return try Certificates(configuration: configuration, log: log)
        } catch {
            throw StartupFailure(
                text: "cannot use the certificate: \(error.description)",
                hint:
                    "certificate_file and key_file must be PEM files and match; without both ccsd creates its own",
                // With our own authority no setting is wrong: its files or its folder failed.
                exitCode: configuration.certificateFile == nil ? error.exitCode : .configuration)
        }
    }

    // MARK: Reactors

    private func makeReactors(descriptors: Int) throws(StartupFailure) -> [Reactor] {
        let forConnections = descriptors - min(Limits.Connection.reservedDescriptors, descriptors / 2)
        var reactors: [Reactor] = []
        for index in 0..<configuration.reactorCount {
            do {
                let reactor = try Reactor(index: index)
                reactor.connectionLimit = max(1, forConnections / configuration.reactorCount)
                reactor.descriptorCeiling = { DescriptorLimit.ceiling }
                reactors.append(reactor)
            } catch {
                throw StartupFailure(
                    text: error.description, hint: "raise the limit on open files", exitCode: error.exitCode)
            }
        }
        return reactors
    }

    private func makeHosts(
        on reactors: [Reactor], core: Daemon.Core, store: StoreThreads, gateways: Daemon.Gateways,
        clock: ClockStatus, faults: FaultGate?
    ) -> [ReactorHost] {
        let admission = Admission(configuration.admission, registry: store.registry)
        return reactors.enumerated().map { index, reactor in
            // A node of a cluster takes partitions later.
            let turns = TurnLoop(
                reactor: index, of: core.map, node: reactor.node,
                leaseTime: core.cluster.map { _ in { Now.read().monotonic } }
            ) { partition in
                if core.cluster == nil { core.factory.make(partition) } else { nil }
            }
            let host = ReactorHost(
                reactor: reactor, turns: turns, core: core, store: store, gateways: gateways, clock: clock,
                admission: admission, tally: ReactorTally(shard: metrics[.reactor(index)]),
                meter: TurnMeter(shard: metrics[.reactor(index)], senders: senderFigures), faults: faults,
                log: log)
            reactor.delegate = host
            // Before any connection: reactors without partitions depend on this.
            host.publishClock()
            return host
        }
    }

    /// Makes the APNs gateway with a reactor of its own.
    private func makeGateway(
        _ poster: EventPoster, _ clock: ClockStatus
    ) throws(StartupFailure) -> APNsHost {
        do {
            let reactor = try Reactor(index: configuration.reactorCount)
            return APNsHost(
                reactor: reactor, configuration: configuration,
                tally: APNsTally(shard: metrics[.gateway]), log: log,
                clock: clock
            ) { answers in poster.post(answers.map { .gatewayAnswered(clock.movedToServer($0)) }) }
        } catch {
            throw StartupFailure(
                text: error.description, hint: "raise the limit on open files", exitCode: error.exitCode)
        }
    }

    /// Passes the credentials to the gateway, now and after each change.
    private func connect(_ credentials: APNsCredentialStore, to apns: APNsPort) {
        credentials.observe { credentials in apns.use(credentials.map { APNsMaterial($0) }) }
        credentials.selfTester = GatewaySelfTester(port: apns)
    }

    /// Starts the thread of each reactor, which owns its host from then on.
    private func startThreads(_ hosts: [ReactorHost], _ gateway: APNsHost) throws(StartupFailure) {
        for host in hosts {
            // Transferred to the new thread: this one does not use it again.
            nonisolated(unsafe) let host = host
            try start("ccsd-reactor") { unsafe host.run() }
        }
        nonisolated(unsafe) let gateway = gateway
        try start("ccsd-apns") { unsafe gateway.run() }
    }

    func start(_ name: String, _ body: sending @escaping () -> Void) throws(StartupFailure) {
        do { try Threads.start(name: name, body) } catch {
            throw StartupFailure(
                text: error.description, hint: "raise the limit on processes", exitCode: error.exitCode)
        }
    }

    // MARK: First sender

    private func makeFirstSender(_ daemon: Daemon) throws(StartupFailure) -> StartupGreeting {
        guard daemon.senders.directory.all.isEmpty, source.file == nil, daemon.core.cluster == nil else {
            return StartupGreeting(sender: nil)
        }
        do {
            let made = try daemon.senders.add(nil, label: "first", key: nil, now: daemon.clock.now().wall)
            return StartupGreeting(sender: made)
        } catch {
            throw StartupFailure(text: error.text, hint: error.hint, exitCode: .inputOutput)
        }
    }
}
