import Basics
import Delivery

extension WebhookGateway {
    /// Starts what can be started. Senders take turns, one request each; who is left out for the limit of all goes first the next time.
    mutating func send(_ now: Now, _ effects: inout WebhookEffects) {
        guard !waiting.isEmpty, !isDraining else { return }
        var queue = waiting
        var next = 0
        var done: [SenderID] = []
        while next < queue.count, flights.count < Limits.Webhook.requests {
            let sender = queue[next]
            next += 1
            if sendNext(to: sender, now, &effects) { queue.append(sender) } else { done.append(sender) }
        }
        waiting = (queue[next...] + done).filter { sender in
            endpoints[sender]?.lanes.values.contains { !$0.items.isEmpty } ?? false
        }
    }

    /// Starts the request for what waits longest of a sender. Returns whether there may be more.
    ///
    /// After a pause, what has failed least often shows whether the endpoint works: a message that it never takes shows nothing.
    private mutating func sendNext(
        to sender: SenderID, _ now: Now, _ effects: inout WebhookEffects
    ) -> Bool {
        guard let endpoint = endpoints[sender], let settings = endpoint.settings, settings.isActive,
            endpoint.inFlight < endpoint.pace.allowed(now.monotonic)
        else { return false }
        let due = endpoint.lanes.filter { $0.value.isDue(now.monotonic) }
        let isProbe = endpoint.pace.state != .open
        let next = due.min { first, second in
            let failures = isProbe ? (first.value.failures, second.value.failures) : (0, 0)
            return (failures.0, first.value.items[0].message.sequence)
                < (failures.1, second.value.items[0].message.sequence)
        }
        guard let key = next?.key, let item = next?.value.items.first else { return false }
        if let lease = item.lease, lease.until <= now.monotonic {
            // It is confirmed again, or the session is forgotten.
            endpoints[sender]?.lanes[key]?.waitForLease(now.monotonic)
            return due.count > 1
        }
        endpoints[sender]?.lanes[key]?.items.removeFirst()
        let number = nextRequest()
        let body = writer.body(of: item.message)
        effects.starts.append(
            WebhookRequest(
                number: number, sender: sender, url: settings.url,
                headers: writer.headers(of: item.message, body: body, keys: settings.keys, now),
                body: body))
        flights[number] = WebhookFlight(sender: sender, lane: key, item: item)
        endpoints[sender]?.lanes[key]?.flight = number
        endpoints[sender]?.inFlight += 1
        endpoints[sender]?.pace.started(number)
        return due.count > 1
    }

    /// Ends messages without a lifetime that could not be sent at once.
    mutating func dropOverdue(
        of sender: SenderID, _ now: Instant, _ effects: inout WebhookEffects
    ) {
        guard let lanes = endpoints[sender]?.lanes else { return }
        for (key, lane) in lanes where lane.items.contains(where: { $0.isOverdue(now) }) {
            var lane = lane
            for item in lane.items where item.isOverdue(now) {
                effects.outcomes.append(item.finished(.expired))
            }
            lane.items.removeAll { $0.isOverdue(now) }
            endpoints[sender]?.lanes[key] = lane.isEmpty ? nil : lane
        }
        forgetIfUnused(sender)
    }
}
