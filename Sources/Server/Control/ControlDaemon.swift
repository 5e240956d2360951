import Basics
import Catalogue
import Delivery
import Glibc
import Store
import Transport
import Wire

extension ControlServer {
    func status(_ request: Request) throws(Problem) -> JSONValue {
        let metrics = daemon.metrics
        let listeners = daemon.listeners.map { listener in
            JSONValue.object([
                .init("name", .string(listener.name)), .init("address", .string(listener.host)),
                .init("port", .integer(listener.port)),
            ])
        }
        return .object([
            .init("version", .string(Program.version)), .init("pid", .integer(Int(getpid()))),
            .init(
                "uptime_seconds",
                .integer(Int(Now.read().monotonic.milliseconds(since: daemon.startedAt.monotonic) / 1_000))),
            .init("state", .string(daemon.drainer.state.rawValue)),
            .init("clock_problem", daemon.clock.problem.map { .string($0) } ?? .null),
            .init("listeners", .array(listeners)),
            .init("app_servers", .integer(metrics.value(.sessionsOpen, 0))),
            .init("devices", .integer(metrics.value(.sessionsOpen, 1))),
            .init("connections", connections()),
            .init("downstream", milestones(direction: 0)), .init("upstream", milestones(direction: 1)),
            .init(
                "topics",
                .object([
                    .init("under_way", .integer(metrics.value(.topicMessagesOpen))),
                    .init("accepted", .integer(metrics.value(.topicMessages))),
                    .init("recipients", .integer(metrics.value(.topicRecipients))),
                ])),
            .init(
                "store",
                .object([
                    .init("kind", "rocksdb"), .init("path", .string(daemon.configuration.storePath)),
                    .init("healthy", .boolean(daemon.storeThread.isHealthy)),
                    .init("partitions", .integer(daemon.store.partitions)),
                ])),
            .init(
                "registry",
                .object([
                    .init("bytes", .integer(daemon.storeThread.registry.bytes)),
                    .init("limit", .integer(daemon.storeThread.registry.limit)),
                    .init("full", .boolean(daemon.storeThread.registry.isFull)),
                ])),
            .init("certificate_not_after", .string(Timestamp.text(daemon.certificates.notAfter))),
        ])
    }

    /// Connections of all listeners since the start: what strangers try shows here first.
    private func connections() -> JSONValue {
        let metrics = daemon.metrics
        let listeners = Link.Kind.allCases.indices
        let closed = CloseReason.allCases.enumerated().map { position, reason in
            (reason, metrics.value(.connectionsClosed, position))
        }
        let refused = DoorRefusal.allCases.map { reason in
            (reason, listeners.reduce(0) { $0 + metrics.value(.connectionsRefused, $1, reason.position) })
        }
        return .object([
            .init(
                "accepted", .integer(listeners.reduce(0) { $0 + metrics.value(.connectionsAccepted, $1) })),
            .init("open", .integer(listeners.reduce(0) { $0 + metrics.value(.connectionsOpen, $1) })),
            .init(
                "closed",
                .object(closed.filter { $0.1 > 0 }.map { .init($0.0.rawValue, .integer($0.1)) })),
            .init(
                "refused",
                .object(refused.filter { $0.1 > 0 }.map { .init($0.0.rawValue, .integer($0.1)) })),
        ])
    }

    private func milestones(direction: Int) -> JSONValue {
        .object(
            Milestone.allCases.enumerated().map { position, milestone in
                .init(milestone.rawValue, .integer(daemon.metrics.value(.messages, direction, position)))
            })
    }

    func audit(_ request: Request) throws(Problem) -> JSONValue {
        // What is lazy rides with this: the audit sees all that was told before it was asked for.
        _ = daemon.storeThread.commitAndWait([])
        let audit = try reading { () throws(StoreError) in try daemon.store.audit() }
        return .object([
            .init("holds", .boolean(audit.holds)),
            .init("downstream", law(audit.downstream, pending: audit.downstreamPending)),
            .init("upstream", law(audit.upstream, pending: audit.upstreamPending)),
            .init("devices", .integer(audit.devices)), .init("registrations", .integer(audit.registrations)),
            .init("senders", .integer(audit.senders)), .init("groups", .integer(audit.groups)),
            .init("installations", .integer(audit.installations)),
            .init("subscriptions", .integer(audit.subscriptions)),
            .init("topic_messages", .integer(audit.topicJobs)),
            .init("partitions", .integer(daemon.store.partitions)),
            .init("unreadable", .array(audit.unreadable.map { .string($0) })),
        ])
    }

    private func law(_ counts: MilestoneCounts, pending: Int) -> JSONValue {
        let terms: [Milestone] = [.accepted, .delivered, .replaced, .expired, .discarded, .removed]
        return .object(
            terms.map { .init($0.rawValue, .integer(counts[$0])) } + [.init("pending", .integer(pending))])
    }

    func drain(_ request: Request) throws(Problem) -> JSONValue {
        let selection = try drainSelection(request)
        let total = daemon.drainer.drainConnections(selection) { done, total in
            request.progress(done, total, "sessions drained")
        }
        if case .session = selection, total == 0 {
            throw Problem(
                text: "there is no session \(request.arguments["session"]?.text ?? "")",
                hint: "ccsctl sessions list shows those there are")
        }
        return .object([.init("sessions", .integer(total))])
    }

    private func drainSelection(_ request: Request) throws(Problem) -> Drainer.Selection {
        let session = request.arguments["session"]
        guard request.arguments["sender_id"] == nil || session == nil else {
            throw Problem(text: "session and sender_id exclude each other", hint: "give one of them")
        }
        if request.arguments["sender_id"] != nil {
            let sender = try requiredSender(request)
            guard daemon.senders.directory[sender] != nil else {
                throw Problem(
                    text: "there is no sender \(sender.number)",
                    hint: "ccsctl senders list shows those there are")
            }
            return .sender(sender)
        }
        guard let session else { return .appServers }
        let parts = (session.text ?? "").split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let reactor = UInt16(parts[0]), let slot = UInt32(parts[1]),
            let generation = UInt32(parts[2])
        else {
            throw Problem(
                text: "session is an ID such as 0-12-345", hint: "ccsctl sessions list shows those there are")
        }
        return .session(ConnectionID(reactor: reactor, slot: slot, generation: generation))
    }

    func check(_ request: Request) -> JSONValue {
        daemon.checkConfiguration().json
    }

    private static func names(_ keys: [ConfigKey]) -> JSONValue {
        .array(keys.map { .string($0.rawValue) })
    }

    private func handedCertificate(_ request: Request) throws(Problem) -> CertificateContent? {
        switch (request.arguments["certificate"]?.text, request.arguments["private_key"]?.text) {
        case (nil, nil): return nil
        case (let chain?, let key?):
            var names: TLSFileNames?
            if let certificate = request.arguments["certificate_file"]?.text,
                let keyFile = request.arguments["private_key_file"]?.text
            {
                names = TLSFileNames(certificate: certificate, key: keyFile)
            }
            return CertificateContent(
                chain: Array(chain.utf8), key: Redacted(Array(key.utf8)), names: names)
        default:
            throw Problem(
                text: "certificate and private_key belong together", hint: "give both as PEM, or neither")
        }
    }

    func reload(_ request: Request) throws(Problem) -> JSONValue {
        let handed = try handedCertificate(request)
        do {
            let reloaded = try daemon.reload(handed: handed)
            return .object([
                .init("reloaded", true), .init("changed", Self.names(reloaded.applied)),
                .init("needs_restart", Self.names(reloaded.waiting)),
            ])
        } catch {
            throw Problem(
                text: error.problems.joined(separator: "; "), hint: "the settings of before stay in force")
        }
    }
}
