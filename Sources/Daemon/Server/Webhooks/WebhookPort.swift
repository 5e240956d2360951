import Basics
import Delivery
import Synchronization
import Transport
import Webhooks

/// The webhooks as other threads see them. Their thread starts with the first endpoint.
final class WebhookPort: Sendable {
    /// What waits for the thread.
    struct Parcel: Sendable {
        var events: [WebhookEvent] = []
        /// Work that must run on the thread.
        var jobs: [@Sendable (WebhookHost) -> Void] = []
        var settings: CURLSettings?
        var mustStop = false
    }

    private struct Inbox {
        var parcel = Parcel()
        var isAwake = false
        /// `nil` before the start of the thread.
        var client: CURLClient?
        var settings = CURLSettings()
    }

    private let inbox = Mutex(Inbox())
    private let ended = Latch<Bool>()
    private let makeHost: @Sendable (WebhookPort, CURLClient) -> WebhookHost
    private let log: Log

    /// Creates the port; `makeHost` is called on the thread.
    init(log: Log, makeHost: @escaping @Sendable (WebhookPort, CURLClient) -> WebhookHost) {
        self.log = log
        self.makeHost = makeHost
    }

    /// Replaces the endpoints. The first ones start the thread.
    func use(_ endpoints: [WebhookEndpoint]) {
        if isRunning { return add { $0.events.append(.endpoints(endpoints)) } }
        guard !endpoints.isEmpty else { return }
        do throws(TransportError) {
            let client = try CURLClient()
            inbox.withLock { inbox in
                inbox.client = client
                inbox.parcel.settings = inbox.settings
            }
            add { $0.events.append(.endpoints(endpoints)) }
            try Threads.start(name: "ccsd-webhooks") { [makeHost] in
                makeHost(self, client).run()
                self.ended.fulfil(true)
            }
        } catch {
            inbox.withLock { $0.client = nil }
            log.error("webhooks_not_started", ["problem": .text(error.description)])
        }
    }

    /// Passes the core's orders on, and empties the array.
    func order(_ orders: inout [WebhookOrder]) {
        guard !orders.isEmpty else { return }
        var batch: [WebhookOrder] = []
        swap(&batch, &orders)
        add { $0.events.append(.orders(batch)) }
    }

    /// Has the endpoint of a sender tried at once.
    func retry(_ sender: SenderID) {
        if isRunning { add { $0.events.append(.retry(sender)) } }
    }

    /// Has the thread see that the test clock was moved.
    func clockAdvanced() {
        if isRunning { add { _ in } }
    }

    /// Applies settings to later requests.
    func apply(_ settings: CURLSettings) {
        inbox.withLock { $0.settings = settings }
        if isRunning { add { $0.settings = settings } }
    }

    /// Runs a query on the thread. Returns `nil` if it has not started or does not answer in time.
    func ask<Answer: Sendable>(_ question: @escaping @Sendable (WebhookHost) -> Answer) -> Answer? {
        guard isRunning else { return nil }
        let latch = Latch<Answer>()
        add { $0.jobs.append { latch.fulfil(question($0)) } }
        return latch.wait()
    }

    private var isRunning: Bool { inbox.withLock { $0.client != nil } }

    /// Starts nothing more, and waits for the answers to what is in flight. What has none is sent again after the next start.
    func drain(seconds: Int) {
        guard isRunning else { return }
        let latch = Latch<Bool>()
        add { parcel in
            parcel.events.append(.drain)
            parcel.jobs.append { $0.whenIdle { latch.fulfil(true) } }
        }
        let most = min(Limits.Webhook.drainSeconds, max(1, seconds / 4))
        _ = latch.wait(milliseconds: Int64(most) * 1_000)
    }

    /// Ends the thread. Returns when it uses no connection any more.
    func stop() {
        guard isRunning else { return }
        add { $0.mustStop = true }
        _ = ended.wait()
    }

    private func add(_ body: (inout Parcel) -> Void) {
        let client: CURLClient? = inbox.withLock { inbox in
            body(&inbox.parcel)
            defer { inbox.isAwake = true }
            return inbox.isAwake ? nil : inbox.client
        }
        client?.wake()
    }

    /// Removes and returns all queued work; only on the thread.
    func takeAll() -> Parcel {
        inbox.withLock { inbox in
            var taken = Parcel()
            swap(&taken, &inbox.parcel)
            inbox.isAwake = false
            return taken
        }
    }
}
