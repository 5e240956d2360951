public import Basics
import Delivery

/// Decides which message is sent to which endpoint, and when.
///
/// Pure and deterministic: the shell passes events and the time in, and carries out the effects.
public struct WebhookGateway {
    /// A session of the core.
    struct Session {
        let sender: SenderID
        /// Whether what fails is returned instead of tried again.
        var isRecalled = false
    }

    /// The endpoint of a sender, with what waits for it.
    struct Endpoint {
        /// `nil` if it was removed and the core has not recalled everything.
        var settings: WebhookEndpoint?
        var pace: EndpointPace
        var lanes: [WebhookLaneKey: WebhookLane] = [:]
        var inFlight = 0
        var status = WebhookStatus()
    }

    var endpoints: [SenderID: Endpoint] = [:]
    var sessions: [ConnectionID: Session] = [:]
    var flights: [UInt64: WebhookFlight] = [:]
    /// Senders that may have something to send, in the order in which they take turns.
    var waiting: [SenderID] = []
    var isDraining = false
    private var requestCount: UInt64 = 0
    private var random: SeededRandom
    let writer: WebhookWriter

    /// Creates a gateway without endpoints.
    public init(writer: WebhookWriter, seed: UInt64) {
        self.writer = writer
        random = SeededRandom(seed: seed)
    }

    /// Handles one event, and appends what is to be done.
    public mutating func handle(_ event: WebhookEvent, now: Now, effects: inout WebhookEffects) {
        switch event {
        case .orders(let orders): for order in orders { handle(order, now, &effects) }
        case .endpoints(let all): replace(all)
        case .answered(let request, let answer): answered(request, answer, now, &effects)
        case .retry(let sender): endpoints[sender]?.pace = EndpointPace(seed: random.next())
        case .drain: isDraining = true
        case .tick: tick(now.monotonic, &effects)
        }
        send(now, &effects)
    }

    /// When the next tick is due; `nil` if nothing waits.
    public func nextTick(_ now: Instant) -> Instant? {
        waiting.isEmpty ? nil : now.advanced(milliseconds: Limits.Webhook.tickMilliseconds)
    }

    /// Whether no request is in flight.
    public var isIdle: Bool { flights.isEmpty }

    /// Returns the state of an endpoint. Returns `nil` if the sender has none.
    public func status(of sender: SenderID, now: Instant) -> WebhookStatus? {
        guard let endpoint = endpoints[sender] else { return nil }
        var status = endpoint.status
        status.inFlight = endpoint.inFlight
        status.waiting = endpoint.lanes.values.reduce(0) { $0 + $1.items.count }
        status.failuresInRow = endpoint.pace.failuresInRow
        switch endpoint.pace.state {
        case .paused(let until): status.pausedMilliseconds = max(0, until.milliseconds(since: now))
        case .probing: status.pausedMilliseconds = 0
        case .open, .gone: break
        }
        return status
    }

    /// The number of endpoints that work, that are paused for their failures, and that have answered 410.
    public var counts: (open: Int, paused: Int, gone: Int) {
        var counts = (open: 0, paused: 0, gone: 0)
        for endpoint in endpoints.values {
            guard let settings = endpoint.settings else { continue }
            if settings.isGone { counts.gone += 1 }
            guard settings.isActive else { continue }
            switch endpoint.pace.state {
            case .open: counts.open += 1
            case .paused, .probing: counts.paused += 1
            case .gone: counts.gone += 1
            }
        }
        return counts
    }

    // MARK: Endpoints

    private mutating func replace(_ all: [WebhookEndpoint]) {
        let now = Dictionary(all.map { ($0.sender, $0) }) { first, _ in first }
        for sender in Array(endpoints.keys) where now[sender] == nil {
            endpoints[sender]?.settings = nil
            forgetIfUnused(sender)
        }
        for endpoint in all {
            let before = endpoints[endpoint.sender]?.settings
            var entry = endpoints[endpoint.sender] ?? makeEndpoint()
            // An operator has changed or resumed it: what was wrong before may be right now.
            if before?.url != endpoint.url || before?.isActive != endpoint.isActive {
                entry.pace = EndpointPace(seed: random.next())
            }
            entry.settings = endpoint
            endpoints[endpoint.sender] = entry
            wake(endpoint.sender)
        }
    }

    private mutating func makeEndpoint() -> Endpoint {
        Endpoint(settings: nil, pace: EndpointPace(seed: random.next()))
    }

    func isUnused(_ endpoint: Endpoint) -> Bool { endpoint.settings == nil && endpoint.lanes.isEmpty }

    mutating func forgetIfUnused(_ sender: SenderID) {
        if let endpoint = endpoints[sender], isUnused(endpoint) { endpoints[sender] = nil }
    }

    /// Has a sender take part in sending.
    mutating func wake(_ sender: SenderID) {
        guard let endpoint = endpoints[sender], endpoint.lanes.values.contains(where: { !$0.items.isEmpty }),
            !waiting.contains(sender)
        else { return }
        waiting.append(sender)
    }

    // MARK: Orders

    private mutating func handle(_ order: WebhookOrder, _ now: Now, _ effects: inout WebhookEffects) {
        switch order {
        case .deliver(let connection, let message, let lease):
            let sender = message.sender
            if sessions[connection] == nil { sessions[connection] = Session(sender: sender) }
            let key = WebhookLaneKey(message)
            let item = WebhookItem(
                session: connection, message: message, since: now.monotonic, lease: lease)
            var endpoint = endpoints[sender] ?? makeEndpoint()
            endpoint.lanes[key, default: WebhookLane(seed: random.next())].items.append(item)
            endpoints[sender] = endpoint
            wake(sender)
        case .withdraw(let connection, let sender, let sequence):
            withdraw(sequence, of: sender, from: connection)
        case .recall(let connection): recall(connection, &effects)
        case .forget(let connection): forget(connection, now.monotonic, &effects)
        }
    }

    private mutating func withdraw(
        _ sequence: SequenceNumber, of sender: SenderID, from session: ConnectionID
    ) {
        for (request, flight) in flights
        where flight.item.session == session && flight.item.message.sequence == sequence {
            flights[request]?.isWithdrawn = true
            return
        }
        removeItems(of: sender) { $0.session == session && $0.message.sequence == sequence }
    }

    /// Removes what waits, and returns it in order.
    @discardableResult
    private mutating func removeItems(
        of sender: SenderID, where isRemoved: (WebhookItem) -> Bool
    ) -> [WebhookItem] {
        guard let endpoint = endpoints[sender] else { return [] }
        var removed: [WebhookItem] = []
        for (key, lane) in endpoint.lanes where lane.items.contains(where: isRemoved) {
            var lane = lane
            // The attempts were those of the first one.
            if isRemoved(lane.items[0]) { lane.advance() }
            removed += lane.items.filter(isRemoved)
            lane.items.removeAll(where: isRemoved)
            endpoints[sender]?.lanes[key] = lane.isEmpty ? nil : lane
        }
        forgetIfUnused(sender)
        return removed.sorted { $0.message.sequence < $1.message.sequence }
    }

    private mutating func recall(_ connection: ConnectionID, _ effects: inout WebhookEffects) {
        guard let sender = sessions[connection]?.sender else { return }
        sessions[connection]?.isRecalled = true
        for item in removeItems(of: sender, where: { $0.session == connection }) {
            effects.outcomes.append(item.finished(item.isPrompt ? .expired : .returned))
        }
    }

    private mutating func forget(
        _ connection: ConnectionID, _ now: Instant, _ effects: inout WebhookEffects
    ) {
        guard let sender = sessions.removeValue(forKey: connection)?.sender else { return }
        for (request, flight) in flights where flight.item.session == connection {
            effects.aborts.append(request)
            endpoints[sender]?.pace.aborted(request, now)
            land(request, flight)
        }
        removeItems(of: sender) { $0.session == connection }
    }

    // MARK: Requests

    mutating func nextRequest() -> UInt64 {
        requestCount += 1
        return requestCount
    }

    /// Takes a request that has ended out of its lane.
    mutating func land(_ request: UInt64, _ flight: WebhookFlight) {
        flights[request] = nil
        endpoints[flight.sender]?.inFlight -= 1
        endpoints[flight.sender]?.lanes[flight.lane]?.flight = nil
        if endpoints[flight.sender]?.lanes[flight.lane]?.isEmpty == true {
            endpoints[flight.sender]?.lanes[flight.lane] = nil
        }
        wake(flight.sender)
        forgetIfUnused(flight.sender)
    }

    private mutating func tick(_ now: Instant, _ effects: inout WebhookEffects) {
        for sender in waiting { dropOverdue(of: sender, now, &effects) }
        for sender in waiting where endpoints[sender]?.settings?.isActive == true {
            if endpoints[sender]?.pace.reportsAgain(now) == true { effects.gone.append(sender) }
        }
    }
}
