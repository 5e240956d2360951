import Basics
import Catalogue
import Delivery
import Glibc
import Store
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
            .init("state", .string(daemon.drainer.state.rawValue)), .init("listeners", .array(listeners)),
            .init("app_servers", .integer(metrics.value(.sessionsOpen, 0))),
            .init("devices", .integer(metrics.value(.sessionsOpen, 1))),
            .init("downstream", milestones(direction: 0)), .init("upstream", milestones(direction: 1)),
            .init(
                "store",
                .object([
                    .init("kind", "rocksdb"), .init("path", .string(daemon.configuration.storePath)),
                    .init("healthy", .boolean(daemon.storeThread.isHealthy)),
                ])),
            .init("certificate_not_after", .string(Timestamp.text(daemon.certificates.notAfter))),
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
        let latch = Latch<CommitOutcome>()
        daemon.storeThread.submit(WriteBatch(ticket: 0, mutations: [], isDurable: true)) { latch.fulfil($0) }
        _ = latch.wait()
        let audit = try reading { () throws(StoreError) in try daemon.store.audit() }
        return .object([
            .init("holds", .boolean(audit.holds)),
            .init("downstream", law(audit.downstream, pending: audit.downstreamPending)),
            .init("upstream", law(audit.upstream, pending: audit.upstreamPending)),
            .init("devices", .integer(audit.devices)), .init("registrations", .integer(audit.registrations)),
            .init("senders", .integer(audit.senders)),
            .init("unreadable", .array(audit.unreadable.map { .string($0) })),
        ])
    }

    private func law(_ counts: MilestoneCounts, pending: Int) -> JSONValue {
        let terms: [Milestone] = [.accepted, .delivered, .replaced, .expired, .discarded, .removed]
        return .object(
            terms.map { .init($0.rawValue, .integer(counts[$0])) } + [.init("pending", .integer(pending))])
    }

    func drain(_ request: Request) throws(Problem) -> JSONValue {
        let total = daemon.drainer.drainConnections { done, total in
            request.progress(done, total, "sessions drained")
        }
        return .object([.init("sessions", .integer(total))])
    }

    func check(_ request: Request) throws(Problem) -> JSONValue {
        let findings = daemon.checkConfiguration()
        return .object([
            .init("ok", .boolean(findings.isEmpty)), .init("findings", .array(findings.map { .string($0) })),
        ])
    }

    func reload(_ request: Request) throws(Problem) -> JSONValue {
        let problems = daemon.reload()
        guard problems.isEmpty else {
            throw Problem(
                text: problems.joined(separator: "; "), hint: "the settings of before stay in force")
        }
        return .object([.init("reloaded", true)])
    }
}
