import Basics
import Catalogue
import Delivery
import Glibc
import Operator
import Store
import Transport

/// The commands for the daemon as a whole.
extension ControlServer {
    func showStatus() -> ShowStatus.Answer {
        let metrics = daemon.metrics
        let registry = daemon.storage.threads.registry
        return ShowStatus.Answer(
            version: Program.version, process: Int(getpid()),
            uptimeSeconds: Int(
                Now.read().monotonic.milliseconds(since: daemon.startedAt.monotonic) / 1_000),
            state: daemon.drainer.state.word.rawValue, clockProblem: daemon.clock.problem,
            listeners: daemon.listeners.map { .init(name: $0.name, address: $0.host, port: $0.port) },
            appServers: metrics.value(.sessionsOpen, 0), devices: metrics.value(.sessionsOpen, 1),
            connections: connections(), downstream: milestones(direction: 0),
            upstream: milestones(direction: 1),
            topics: .init(
                inProgress: metrics.value(.topicMessagesOpen), accepted: metrics.value(.topicMessages),
                recipients: metrics.value(.topicRecipients)),
            store: .init(
                kind: "rocksdb", path: daemon.configuration.storePath,
                isHealthy: daemon.storage.threads.isHealthy, partitions: daemon.storage.store.partitions),
            registry: .init(bytes: registry.bytes, limit: registry.limit, isFull: registry.isFull),
            certificateNotAfter: daemon.certificates.notAfter, cluster: clusterPart(),
            testClock: testClockRow)
    }

    /// Returns the connection counts since the start, in which attacks by unauthenticated peers show first.
    private func connections() -> ShowStatus.Answer.Connections {
        let metrics = daemon.metrics
        let listeners = Link.Kind.allCases.indices
        let closed = CloseReason.allCases.enumerated().map { position, reason in
            WordCount(reason.rawValue, metrics.value(.connectionsClosed, position))
        }
        let refused = ConnectionRefusal.allCases.map { reason in
            WordCount(
                reason.rawValue,
                listeners.reduce(0) { $0 + metrics.value(.connectionsRefused, $1, reason.position) })
        }
        return .init(
            accepted: listeners.reduce(0) { $0 + metrics.value(.connectionsAccepted, $1) },
            open: listeners.reduce(0) { $0 + metrics.value(.connectionsOpen, $1) },
            closed: closed.filter { $0.count > 0 }, refused: refused.filter { $0.count > 0 })
    }

    func audit() throws(OperatorProblem) -> AuditStore.Answer {
        // Forces lazy batches to be committed, so that the audit sees everything reported before it.
        _ = daemon.storage.threads.commitAndWait([])
        let audit = try reading { () throws(StoreError) in try daemon.storage.store.audit() }
        return AuditStore.Answer(
            holds: audit.holds, downstream: counts(audit.downstream, pending: audit.downstreamPending),
            upstream: counts(audit.upstream, pending: audit.upstreamPending), devices: audit.devices,
            registrations: audit.registrations, senders: audit.senders, groups: audit.groups,
            installations: audit.installations, subscriptions: audit.subscriptions,
            topicMessages: audit.topicJobs, partitions: daemon.storage.store.partitions,
            unreadable: audit.unreadable, damaged: audit.damaged.map(\.description))
    }

    private func counts(_ counts: MilestoneCounts, pending: Int) -> AuditStore.Counts {
        AuditStore.Counts(
            accepted: counts[.accepted], delivered: counts[.delivered], replaced: counts[.replaced],
            expired: counts[.expired], discarded: counts[.discarded], removed: counts[.removed],
            forwarded: counts[.forwarded],
            pending: pending)
    }

    func drain(_ command: DrainSessions, _ call: Call) throws(OperatorProblem) -> DrainSessions.Answer {
        let report = sessionReport(call)
        let sessions: Int?
        switch command.action {
        case .drain(.appServers): sessions = daemon.drainer.drainConnections(.appServers, progress: report)
        case .drain(.sender(let sender)):
            try requireSender(sender)
            sessions = daemon.drainer.drainConnections(.sender(sender), progress: report)
        case .drain(.session(let session)):
            sessions = daemon.drainer.drainConnections(.session(session), progress: report)
            guard sessions != 0 else {
                throw OperatorProblem(
                    "unknown session \(session.text)",
                    hint: "ccsctl sessions list shows all sessions")
            }
        case .hold:
            sessions = holdClients(call)
        case .release:
            guard try importedSeal() == nil else {
                throw OperatorProblem(
                    "ccsd uses an imported key only after a restart: until then it would refuse the imported tokens",
                    hint: "restart ccsd, which opens the ports as well")
            }
            sessions = releaseClients() ? 0 : nil
        }
        guard let sessions else {
            throw OperatorProblem("ccsd is stopping", hint: "its ports open when it starts again")
        }
        return DrainSessions.Answer(sessions: sessions, state: daemon.drainer.state.word.rawValue)
    }

    private func sessionReport(_ call: Call) -> (_ done: Int, _ total: Int) -> Void {
        { call.report($0, $1, "sessions drained") }
    }

    /// Closes the ports of clients, and drains who is connected. Returns the number of sessions; `nil` if the daemon is stopping.
    func holdClients(_ call: Call) -> Int? {
        let sessions = daemon.drainer.hold(progress: sessionReport(call))
        if daemon.drainer.state == .drained { daemon.log.notice("clients_drained") }
        return sessions
    }

    /// Opens the ports of clients. Returns false if the daemon is stopping.
    func releaseClients() -> Bool {
        let isReleased = daemon.drainer.release()
        if isReleased { daemon.log.notice("clients_released") }
        return isReleased
    }

    func checkConfiguration() -> CheckConfiguration.Answer { daemon.checkConfiguration().answer }

    func reload(_ command: ReloadConfiguration) throws(OperatorProblem) -> ReloadConfiguration.Answer {
        do {
            let reloaded = try daemon.reload(supplied: command.suppliedCertificate)
            return ReloadConfiguration.Answer(
                isReloaded: true, changed: reloaded.applied.map(\.rawValue),
                needsRestart: reloaded.waiting.map(\.rawValue))
        } catch {
            throw OperatorProblem(
                error.problems.joined(separator: "; "), hint: "the previous settings stay in use")
        }
    }
}

extension ReloadConfiguration {
    /// The certificate and key in the command; `nil` if the configured files are used.
    fileprivate var suppliedCertificate: CertificateContent? {
        guard let certificate, let privateKey else { return nil }
        var names: TLSFileNames?
        if let certificateFile, let privateKeyFile {
            names = TLSFileNames(certificate: certificateFile, key: privateKeyFile)
        }
        return CertificateContent(
            chain: Array(certificate.utf8), key: Redacted(Array(privateKey.revealed.utf8)), names: names)
    }
}
