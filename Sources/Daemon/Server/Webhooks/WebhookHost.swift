import Basics
import Delivery
import Webhooks

/// The thread of the webhooks: the gateway that decides, and the client that carries its requests.
final class WebhookHost {
    /// What the thread passes on to others.
    struct Outlets: Sendable {
        /// Takes events for the core.
        var report: @Sendable ([Event]) -> Void
        /// Records that an endpoint has answered 410.
        var recordGone: @Sendable (SenderID) -> Void
    }

    private var gateway: WebhookGateway
    private var effects = WebhookEffects()
    private let port: WebhookPort
    private let client: CURLClient
    private var settings = CURLSettings()
    private let outlets: Outlets
    private let clock: ClockStatus
    private let tally: WebhookTally
    private let log: Log
    private var tickAt: Instant?
    private var idle: (() -> Void)?
    /// Whether the states of endpoints may have changed.
    private var countsEndpoints = false

    init(
        port: WebhookPort, client: CURLClient, gateway: WebhookGateway, outlets: Outlets,
        clock: ClockStatus, tally: WebhookTally, log: Log
    ) {
        self.port = port
        self.client = client
        self.gateway = gateway
        self.outlets = outlets
        self.clock = clock
        self.tally = tally
        self.log = log
    }

    /// Returns the state of a sender's endpoint.
    func status(of sender: SenderID) -> WebhookStatus? {
        gateway.status(of: sender, now: clock.now().monotonic)
    }

    /// Calls a closure once no request is in flight.
    func whenIdle(_ then: @escaping @Sendable () -> Void) { idle = then }

    /// Runs until the port stops it.
    func run() {
        while turn() {}
    }

    /// Handles what has happened, and waits for more. Returns whether to go on.
    private func turn() -> Bool {
        let parcel = port.takeAll()
        if parcel.mustStop { return false }
        let machine = Now.read()
        let now = clock.judged(machine)
        if let settings = parcel.settings, settings != self.settings {
            self.settings = settings
            client.apply(settings)
        }
        for event in parcel.events {
            gateway.handle(event, now: now, effects: &effects)
            if case .orders = event { continue }
            countsEndpoints = true
        }
        for job in parcel.jobs { job(self) }
        for (request, answer) in client.perform() {
            tally.ended(
                answer, microseconds: machine.monotonic.milliseconds(since: request.startedAt) * 1_000)
            gateway.handle(.answered(request: request.number, answer), now: now, effects: &effects)
        }
        if now.hasReached(tickAt) {
            gateway.handle(.tick, now: now, effects: &effects)
            tickAt = nil
        }
        apply(now, machine.monotonic)
        if gateway.isIdle {
            idle?()
            idle = nil
        }
        if let next = gateway.nextTick(now.monotonic) { tickAt = next.orEarlier(tickAt) }
        let wait = tickAt.map { $0.milliseconds(since: clock.now().monotonic) + 1 } ?? 60_000
        client.wait(milliseconds: wait)
        return true
    }

    /// Carries out the effects of the gateway; `instant` is that of the machine, by which requests are measured.
    private func apply(_ now: Now, _ instant: Instant) {
        while !effects.aborts.isEmpty || !effects.starts.isEmpty || !effects.outcomes.isEmpty
            || !effects.gone.isEmpty || !effects.notices.isEmpty
        {
            var batch = WebhookEffects()
            swap(&batch, &effects)
            for request in batch.aborts {
                tally.aborted()
                client.abort(request)
            }
            for request in batch.starts {
                tally.started()
                if client.start(request, settings, at: instant) { continue }
                let answer = WebhookAnswer.failed(.broken, detail: "out of memory")
                tally.ended(answer, microseconds: 0)
                gateway.handle(.answered(request: request.number, answer), now: now, effects: &effects)
            }
            if !batch.outcomes.isEmpty { outlets.report(batch.outcomes) }
            for sender in batch.gone { outlets.recordGone(sender) }
            for notice in batch.notices {
                countsEndpoints = true
                write(notice)
            }
        }
        if countsEndpoints { tally.count(gateway.counts) }
        countsEndpoints = false
    }

    private func write(_ notice: WebhookNotice) {
        switch notice {
        case .paused(let sender, let milliseconds, let reason):
            log.warning(
                "webhook_paused",
                [
                    "sender": LogValue(sender.number), "milliseconds": LogValue(milliseconds),
                    "reason": .text(reason),
                ])
        case .resumed(let sender): log.notice("webhook_resumed", ["sender": LogValue(sender.number)])
        case .gone(let sender): log.error("webhook_gone", ["sender": LogValue(sender.number)])
        }
    }
}
