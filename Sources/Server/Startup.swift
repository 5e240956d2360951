import Basics
import Catalogue
import Delivery
import Glibc
import RocksStore
import Sessions
import Store
import Transport

/// Why the daemon did not start, with what to do about it and the exit code.
struct StartupFailure: Error {
    var text: String
    var hint: String
    var exitCode: ExitCode
}

extension StartupFailure {
    /// A store that cannot be opened.
    init(_ error: StoreError, opening configuration: Configuration) {
        let hint =
            switch error.kind {
            case .locked:
                "another ccsd uses this data directory: stop it, or name another with --data-directory"
            case .newerFormat: "it was written by a newer ccsd: install that version again"
            case .olderFormat:
                "nothing was changed: it was written by an older ccsd, and cannot be brought forward; run that version on it, or start with an empty data directory (--data-directory), in which devices register anew"
            case .full: "make room on the device of \(configuration.dataDirectory)"
            case .corrupt, .damaged:
                "nothing was removed: copy the folder, check the device, and restore a backup of the file it names, or of all"
            case .lost:
                "nothing was removed: copy the folder and check the device; then restore a backup, or do without what is missing: 'ccsd accept-loss' with the same options"
            case .inputOutput, .occupied, .invariant, .inconsistent:
                "check the device; restore a backup if it is lost"
            }
        self.init(
            text: "cannot open the store in \(configuration.storePath): \(error.description)", hint: hint,
            exitCode: .inputOutput)
    }
}

extension TransportError {
    /// The exit code of a start that it ends: what the user may not do, or what failed.
    var exitCode: ExitCode { code == EACCES || code == EPERM || code == EROFS ? .noPermission : .inputOutput }
}

/// Brings the daemon up: `run` is the table of contents.
struct Startup: ~Copyable {
    let configuration: Configuration
    let source: ConfigurationSource
    let log: Log
    let metrics: Metrics

    init(configuration: Configuration, source: ConfigurationSource, log: Log) {
        self.configuration = configuration
        self.source = source
        self.log = log
        metrics = Metrics(shards: configuration.reactorCount + 2)
    }

    /// Every step in order; the first that fails ends the start.
    mutating func run() throws(StartupFailure) -> (Daemon, FirstRun) {
        let descriptors = raiseDescriptorLimit()
        try makeDataDirectory()
        let store = try openStore()
        let seal = TokenSeal(secret: try secret("token_secret", bytes: 32, in: store))
        let scramSecret = try secret("scram_secret", bytes: 32, in: store)
        let certificates = try makeCertificates()
        let reactors = try makeReactors(descriptors: descriptors)
        let mailboxes = reactors.map { ReactorMailbox(handle: $0.handle) }
        let map = PartitionMap(partitions: store.partitions, reactors: reactors.count)
        let lease = try reading(store) { store throws(StoreError) in try SequenceLease(store: store) }
        let storeThread = try startStoreThread(store, lease, StoreReports(map: map, mailboxes: mailboxes))
        let directory = SenderDirectory(
            try reading(store) { store throws(StoreError) in try store.senders() })
        let senders = Senders(
            store: store, storeThread: storeThread, mailboxes: mailboxes, directory: directory)
        let clock = ClockBoard()
        var delivery = DeliverySettings()
        delivery.clockMark = try reading(store) { store throws(StoreError) in
            try ClockBoard.mark(in: store, now: Now.read().wall)
        }
        delivery.sequenceFloor = lease.floor
        delivery.seal = seal
        delivery.running = configuration.running
        let hosts = makeHosts(reactors, map, mailboxes, storeThread, clock, directory, delivery)
        let sockets = try openSockets()
        let daemon = Daemon(
            log: log, metrics: metrics, store: store, storeThread: storeThread, clock: clock,
            mailboxes: mailboxes, senders: senders, seal: seal, scramSecret: scramSecret,
            certificates: certificates,
            drainer: Drainer(mailboxes: mailboxes, pace: configuration.drainPace), listeners: sockets.facts,
            source: source, configuration: configuration)
        try listen(consume sockets, hosts, daemon)
        try startThreads(hosts)
        let firstRun = try makeFirstSender(daemon)
        return (daemon, firstRun)
    }

    // MARK: Machine

    private func raiseDescriptorLimit() -> Int {
        let descriptors = DescriptorLimit.raise()
        log.debug("descriptor_limit", ["descriptors": LogValue(descriptors)])
        return descriptors
    }

    private func makeDataDirectory() throws(StartupFailure) {
        let path = configuration.dataDirectory
        if unsafe mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        let failure = TransportError(
            "make the data directory \(path)", detail: unsafe String(cString: strerror(errno)), code: errno)
        throw StartupFailure(
            text: failure.description,
            hint: "make it yourself, owned by this user, or name another with --data-directory",
            exitCode: failure.exitCode)
    }

    // MARK: Store

    private func openStore() throws(StartupFailure) -> any Store {
        let store: RocksStore
        do throws(StoreError) {
            store = try RocksStore(
                path: configuration.storePath,
                partitions: configuration.storePartitions ?? Limits.Partition.count)
        } catch { throw StartupFailure(error, opening: configuration) }
        for remark in store.remarks {
            switch remark {
            case .unreadableNote:
                log.warning("sync_note_unreadable", ["path": .text(configuration.storePath)])
            case .tornList(let name):
                log.warning(
                    "store_list_torn", ["path": .text(configuration.storePath), "list": .text(name)])
            }
        }
        try demandPartitions(of: store)
        return store
    }

    /// The number of partitions is fixed when a store is created: another one that is configured is a mistake.
    private func demandPartitions(of store: any Store) throws(StartupFailure) {
        guard let wanted = configuration.storePartitions, wanted != store.partitions else { return }
        try? store.close()
        throw StartupFailure(
            text:
                "the store in \(configuration.storePath) has \(store.partitions) partitions, and store_partitions is \(wanted)",
            hint:
                "the number is fixed when a store is created: remove store_partitions or set it to \(store.partitions), or name another data directory with --data-directory",
            exitCode: .configuration)
    }

    /// A secret of the server, made at the first start and kept in the store.
    private func secret(_ name: String, bytes: Int, in store: any Store) throws(StartupFailure) -> [UInt8] {
        try reading(store) { store throws(StoreError) in
            if let kept = try store.setting(name), kept.count == bytes { return kept }
            let fresh = SecureRandom.bytes(bytes)
            try store.setSetting(name, fresh)
            return fresh
        }
    }

    private func reading<Value>(_ store: any Store, _ body: (any Store) throws(StoreError) -> Value)
        throws(StartupFailure) -> Value
    {
        do { return try body(store) } catch {
            throw StartupFailure(
                text: "cannot read the store in \(configuration.storePath): \(error.description)",
                hint: "check the device; restore a backup if it is lost", exitCode: .inputOutput)
        }
    }

    private func startStoreThread(
        _ store: any Store, _ lease: SequenceLease, _ reports: StoreReports
    ) throws(StartupFailure) -> StoreThread {
        do {
            return try StoreThread(
                store: store, metrics: metrics.shards[configuration.reactorCount], log: log, lease: lease,
                registry: RegistryRoom(limit: configuration.registryLimit),
                report: { reports.post($0) })
        } catch {
            throw StartupFailure(
                text: error.description, hint: "raise the limit of processes", exitCode: error.exitCode)
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
                    "certificate_file and key_file must be PEM and belong together; without both ccsd makes its own",
                // Our own authority is no setting: its files or its folder failed.
                exitCode: configuration.certificateFile == nil ? error.exitCode : .configuration)
        }
    }

    // MARK: Reactors

    private func makeReactors(descriptors: Int) throws(StartupFailure) -> [Reactor] {
        let forConnections = descriptors - min(Limits.Connection.descriptorsKept, descriptors / 2)
        var reactors: [Reactor] = []
        for index in 0..<configuration.reactorCount {
            do {
                let reactor = try Reactor(index: index)
                reactor.connectionLimit = max(1, forConnections / configuration.reactorCount)
                reactor.descriptorCeiling = { DescriptorLimit.ceiling }
                reactors.append(reactor)
            } catch {
                throw StartupFailure(
                    text: error.description, hint: "raise the limit of open files", exitCode: error.exitCode)
            }
        }
        return reactors
    }

    private func makeHosts(
        _ reactors: [Reactor], _ map: PartitionMap, _ mailboxes: [ReactorMailbox], _ storeThread: StoreThread,
        _ clock: ClockBoard, _ directory: SenderDirectory, _ settings: DeliverySettings
    ) -> [ReactorHost] {
        let hashKey = (SecureRandom.number(), SecureRandom.number())
        let door = Door(configuration.door, registry: storeThread.registry)
        return reactors.enumerated().map { index, reactor in
            let partitions = ReactorPartitions(map.partitions(of: index)) { partition in
                var core = Partition(
                    partition: partition, of: map.partitions, seed: SecureRandom.number(), hashKey: hashKey,
                    settings: settings)
                var effects = Effects()
                core.handle(.senders(directory), now: Now.read(), effects: &effects)
                return core
            }
            let host = ReactorHost(
                index: index, reactor: reactor, map: map, partitions: partitions, mailboxes: mailboxes,
                store: storeThread, clock: clock, door: door,
                tally: ReactorTally(shard: metrics.shards[index]), log: log)
            reactor.delegate = host
            // Before any connection: those without partitions go by this.
            host.noteClock()
            return host
        }
    }

    /// From here on each host belongs to its thread.
    private func startThreads(_ hosts: [ReactorHost]) throws(StartupFailure) {
        for host in hosts {
            // Handed over as a whole: this thread does not touch it again.
            nonisolated(unsafe) let host = host
            do { try Threads.start(name: "ccsd-reactor") { unsafe host.run() } } catch {
                throw StartupFailure(
                    text: error.description, hint: "raise the limit of processes", exitCode: error.exitCode)
            }
        }
    }

    // MARK: First sender

    private func makeFirstSender(_ daemon: Daemon) throws(StartupFailure) -> FirstRun {
        guard daemon.senders.directory.all.isEmpty, source.file == nil else { return FirstRun(sender: nil) }
        do {
            let made = try daemon.senders.add(nil, label: "first", key: nil, now: Now.read().wall)
            return FirstRun(sender: made)
        } catch {
            throw StartupFailure(text: error.text, hint: error.hint, exitCode: .inputOutput)
        }
    }
}
