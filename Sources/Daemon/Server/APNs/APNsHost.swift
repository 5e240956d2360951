import APNsGateway
import Basics
import Crypto
import Delivery
import Transport
import Wire

/// The thread of the APNs gateway: its reactor, the connections to Apple, and the gateway that decides.
///
/// In a turn, deliveries and what Apple has sent become events of the gateway; then its effects are applied, and every connection
/// with output is written once.
final class APNsHost: ReactorDelegate {
    private struct Open {
        let link: APNsLink
        let endpoint: APNsEndpoint
    }

    let reactor: Reactor
    let dialer: APNsDialer
    private var gateway: APNsGateway
    private var effects = APNsEffects()
    private var connections: [APNsConnectionID: Open] = [:]
    private var materials: [APNsCredentialID: APNsMaterial] = [:]
    /// Self-tests in progress.
    var probes: [UInt64: APNsProbe] = [:]
    var probeCount: UInt64 = 0
    private let mailbox: ThreadMailbox<APNsParcel>
    private let answer: ([GatewayAnswer]) -> Void
    private let tally: APNsTally
    let log: Log
    private let clock: ClockStatus
    private let ticks: EarliestTimer
    private var drained: (() -> Void)?
    private var ended: (() -> Void)?

    /// Creates the gateway without credentials; `answer` gets the answers to deliveries, on the gateway's thread.
    init(
        reactor: Reactor, configuration: Configuration, tally: APNsTally, log: Log,
        clock: ClockStatus = ClockStatus(),
        answer: @escaping ([GatewayAnswer]) -> Void
    ) {
        self.reactor = reactor
        ticks = EarliestTimer(reactor)
        mailbox = ThreadMailbox(waking: reactor.handle)
        self.tally = tally
        self.log = log
        self.clock = clock
        self.answer = answer
        dialer = APNsDialer(reactor: reactor)
        gateway = APNsGateway(settings: APNsSettings(configuration), seed: SecureRandom.number())
        reactor.delegate = self
        apply(configuration)
    }

    /// The gateway as other threads see it.
    var port: APNsPort { APNsPort(mailbox: mailbox) }

    // MARK: Control

    /// Applies a configuration: mapping and limits at once, addresses to later connections.
    func apply(_ configuration: Configuration) {
        dialer.configure(configuration)
        change(APNsSettings(configuration))
    }

    /// Changes the settings of the gateway.
    func change(_ settings: APNsSettings) { handle(.settings(settings)) }

    /// Replaces the credentials.
    func use(_ materials: [APNsMaterial]) {
        self.materials = Dictionary(materials.map { ($0.credential.id, $0) }) { first, _ in first }
        dialer.forgetSettings()
        handle(.credentials(materials.map(\.credential)))
    }

    /// The state of each credential in each of its environments.
    var credentialStates: [APNsCredentialStatus] { gateway.status(now: time(reactor.now)) }

    /// Takes no more deliveries; `then` is called when Apple has answered all requests, or after some seconds.
    func drain(seconds: Int, then: @escaping @Sendable () -> Void) {
        drained = then
        handle(.drain)
        reactor.schedule(at: reactor.now.monotonic.advanced(seconds: seconds)) { [unowned self] _ in
            endDrain()
        }
    }

    private func endDrain() {
        for open in connections.values { open.link.close() }
        drained?()
        drained = nil
    }

    /// Ends `run` after this turn; `then` is called when the host no longer uses any connection.
    func stop(then: @escaping @Sendable () -> Void) {
        ended = then
        reactor.stop()
    }

    /// Runs the reactor on the calling thread until it is stopped.
    func run() {
        armTick(reactor.now)
        reactor.run()
        ended?()
    }

    /// Schedules the next tick, earlier than before if the gateway has become busy.
    private func armTick(_ now: Now) {
        ticks.set(at: gateway.nextTick(now)) { [unowned self] _ in handle(.tick) }
    }

    /// The time that Apple has, as it is believed: a token with the time of a clock that is wrong for a moment would be refused.
    func time(_ reading: Now) -> Now { clock.judgedMachine(reading) }

    // MARK: Turn

    func reactorWoke(_ reactor: Reactor, now: Now) {
        var parcel = mailbox.takeAll()
        tally.took(parcel.deliveries.count)
        parcel.deliveries.drain { handle(.deliver($0)) }
        for job in parcel.jobs { job(self) }
    }

    func reactorTurnEnded(_ reactor: Reactor, now: Now) {
        var hasOutput = true
        while hasOutput {
            hasOutput = applyEffects(now)
            // Writing may fail requests, which gives the gateway further events.
            for open in Array(connections.values) where open.link.needsPump {
                open.link.pump(now)
                hasOutput = true
            }
        }
        for probe in Array(probes.values) { probe.pump(now) }
        var continues = false
        for open in connections.values where open.link.continueIfNeeded() { continues = true }
        if continues { reactor.handle.wake() }
        if drained != nil, gateway.isDrained { endDrain() }
        armTick(now)
    }

    private func handle(_ event: consuming APNsEvent) {
        gateway.handle(event, now: time(reactor.now), effects: &effects)
    }

    /// Applies the effects of the gateway. Returns whether there were any.
    private func applyEffects(_ now: Now) -> Bool {
        var batch = APNsEffects()
        swap(&batch, &effects)
        for credential in batch.mints { mint(credential, now) }
        // First: what was in flight on a closed connection may be sent again on another one.
        for close in batch.closes { connections[close.connection]?.link.close() }
        for wanted in batch.opens { open(wanted.connection, wanted.endpoint, now) }
        for send in batch.sends { self.send(send, now) }
        for notice in batch.notices { write(notice) }
        for judgement in batch.judgements { tally.judged(judgement) }
        if !batch.answers.isEmpty {
            for answer in batch.answers { tally.answered(answer.outcome) }
            answer(batch.answers)
        }
        return !batch.mints.isEmpty || !batch.opens.isEmpty || !batch.sends.isEmpty || !batch.closes.isEmpty
            || !batch.answers.isEmpty
    }

    private func mint(_ id: APNsCredentialID, _ now: Now) {
        let now = time(now)
        guard case .key(let key, let keyID, let teamID)? = materials[id]?.secret,
            let token = ProviderToken.make(keyPEM: key, keyID: keyID, teamID: teamID, issuedAt: now.wall)
        else {
            return log.repeating(
                .error, "apns_token_not_signed", by: id.name, ["credential": .text(id.name)])
        }
        tally.minted(at: now.wall)
        handle(.minted(id, token: token, at: now.wall))
    }

    private func send(_ send: APNsSend, _ now: Now) {
        // The process may have stood still since the turn began.
        if let lease = send.lease, lease.until <= Now.read().monotonic {
            return handle(.unsent(send.connection, requestNumber: send.requestNumber))
        }
        guard let open = connections[send.connection] else {
            return handle(.failed(send.connection, requestNumber: send.requestNumber, .unprocessed))
        }
        tally.sent()
        let call = send.request.call(providerToken: send.providerToken)
        open.link.send(call, number: send.requestNumber, now: now)
    }

    // MARK: Connections

    private func open(_ id: APNsConnectionID, _ endpoint: APNsEndpoint, _ now: Now) {
        guard let material = materials[endpoint.credential] else {
            return handle(.openFailed(id, .credentialRefused))
        }
        do throws(TransportError) {
            let link = try dialer.connect(to: endpoint.environment, with: material) {
                [unowned self] link, report in
                self.report(id, endpoint, report)
            }
            connections[id] = Open(link: link, endpoint: endpoint)
        } catch {
            logFailure("apns_connect_failed", endpoint, error.description)
            tally.connected(endpoint.environment, succeeded: false)
            handle(.openFailed(id, .unreachable))
        }
    }

    private func report(_ id: APNsConnectionID, _ endpoint: APNsEndpoint, _ report: APNsLink.Report) {
        switch report {
        case .opened:
            tally.connected(endpoint.environment, succeeded: true)
            log.notice(
                "apns_connected",
                [
                    "environment": LogValue(endpoint.environment),
                    "server": .text(dialer.place(of: endpoint.environment)),
                    "credential": .text(endpoint.credential.name),
                ])
            handle(.opened(id))
        case .openFailed(let failure, let words):
            connections[id] = nil
            tally.connected(endpoint.environment, succeeded: false)
            logFailure("apns_connect_failed", endpoint, words)
            handle(.openFailed(id, failure))
        case .streams(let available):
            // Those that have not reached the link yet would otherwise be counted as free streams.
            let unsent = effects.sends.count { $0.connection == id }
            handle(.streams(id, available: available - unsent))
        case .answered(let number, let answer, let microseconds):
            tally.answered(endpoint.environment, microseconds: microseconds)
            handle(.answered(id, requestNumber: number, APNsAnswer(answer)))
        case .failed(let number, let failure):
            tally.failed(endpoint.environment, failure)
            handle(.failed(id, requestNumber: number, failure))
        case .leaving(let reason): handle(.leaving(id, reason: reason))
        case .certificateRefused(let words):
            connections[id] = nil
            tally.disconnected(endpoint.environment)
            logFailure("apns_connect_failed", endpoint, "the server refuses the certificate: \(words)")
            handle(.openFailed(id, .credentialRefused))
        case .closed(let words, let isFault):
            connections[id] = nil
            tally.disconnected(endpoint.environment)
            if isFault {
                logFailure("apns_disconnected", endpoint, words)
            } else {
                log.debug(
                    "apns_disconnected",
                    [
                        "environment": LogValue(endpoint.environment),
                        "credential": .text(endpoint.credential.name), "detail": .text(words),
                    ])
            }
            handle(.closed(id))
        }
    }

    private func logFailure(_ event: StaticString, _ endpoint: APNsEndpoint, _ words: String) {
        log.repeating(
            .error, event, by: "\(endpoint.credential.name) \(words)",
            [
                "environment": LogValue(endpoint.environment),
                "server": .text(dialer.place(of: endpoint.environment)),
                "credential": .text(endpoint.credential.name), "problem": .text(words),
            ])
    }
}
