import Basics
import Delivery
import Synchronization
import Transport
import Webhooks

/// The webhooks as other threads see them. Their thread starts with the first endpoint.
final class WebhookPort: Sendable {
    /// What waits for the thread.
    struct Parcel: ThreadParcel {
        var events: [WebhookEvent] = []
        var jobs: [@Sendable (WebhookHost) -> Void] = []
        var settings: CURLSettings?
        var mustStop = false
    }

    private final class Start: Sendable {
        /// `nil` before the start of the thread.
        let client = Mutex<CURLClient?>(nil)
        /// The settings with which it starts.
        let settings = Mutex(CURLSettings())
    }

    private let start: Start
    private let mailbox: ThreadMailbox<Parcel>
    private let ended = Latch<Bool>()
    private let makeHost: @Sendable (WebhookPort, CURLClient) -> WebhookHost
    private let log: Log

    /// Creates the port; `makeHost` is called on the thread.
    init(log: Log, makeHost: @escaping @Sendable (WebhookPort, CURLClient) -> WebhookHost) {
        let start = Start()
        self.start = start
        mailbox = ThreadMailbox { start.client.withLock { $0 }?.wake() }
        self.log = log
        self.makeHost = makeHost
    }

    /// Replaces the endpoints. The first ones start the thread.
    func use(_ endpoints: [WebhookEndpoint]) {
        guard !isRunning else {
            mailbox.add { $0.events.append(.endpoints(endpoints)) }
            return
        }
        guard !endpoints.isEmpty else { return }
        do throws(TransportError) {
            let client = try CURLClient()
            start.client.withLock { $0 = client }
            let settings = start.settings.withLock { $0 }
            mailbox.add {
                $0.settings = settings
                $0.events.append(.endpoints(endpoints))
            }
            try Threads.start(name: "ccsd-webhooks") { [makeHost] in
                makeHost(self, client).run()
                self.ended.fulfil(true)
            }
        } catch {
            start.client.withLock { $0 = nil }
            log.error("webhooks_not_started", ["problem": .text(error.description)])
        }
    }

    /// Passes the core's orders on, and empties the array.
    func order(_ orders: inout [WebhookOrder]) {
        guard !orders.isEmpty else { return }
        var batch: [WebhookOrder] = []
        swap(&batch, &orders)
        mailbox.add { $0.events.append(.orders(batch)) }
    }

    /// Has the endpoint of a sender tried at once.
    func retry(_ sender: SenderID) {
        if isRunning { mailbox.add { $0.events.append(.retry(sender)) } }
    }

    /// Has the thread see that the test clock was moved.
    func clockAdvanced() {
        if isRunning { mailbox.add { _ in } }
    }

    /// Applies settings to later requests.
    func apply(_ settings: CURLSettings) {
        start.settings.withLock { $0 = settings }
        if isRunning { mailbox.add { $0.settings = settings } }
    }

    /// Runs a query on the thread. Returns `nil` if it has not started or does not answer in time.
    func ask<Answer: Sendable>(_ question: @escaping @Sendable (WebhookHost) -> Answer) -> Answer? {
        guard isRunning else { return nil }
        return mailbox.ask(question).wait()
    }

    private var isRunning: Bool { start.client.withLock { $0 != nil } }

    /// Starts nothing more, and waits for the answers to what is in flight. What has none is sent again after the next start.
    func drain(seconds: Int) {
        guard isRunning else { return }
        let latch = Latch<Bool>()
        mailbox.add { parcel in
            parcel.events.append(.drain)
            parcel.jobs.append { $0.whenIdle { latch.fulfil(true) } }
        }
        let most = min(Limits.Webhook.drainSeconds, max(1, seconds / 4))
        _ = latch.wait(milliseconds: Int64(most) * 1_000)
    }

    /// Ends the thread. Returns when it uses no connection any more.
    func stop() {
        guard isRunning else { return }
        mailbox.add { $0.mustStop = true }
        _ = ended.wait()
    }

    /// Removes and returns all queued work; only on the thread.
    func takeAll() -> Parcel { mailbox.takeAll() }
}
