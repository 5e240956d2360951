import Basics

/// The device's part in upstream messages: finds the registration that sent one and applies the device's limits.
extension DeviceHub {
    mutating func upstreamReceived(
        _ upstream: UpstreamSubmission, _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        // The message is attributed to the app's newest registration with the sender (mcs-device 4.1).
        let found = entry.registrations.last {
            $0.registration.allows(upstream.sender) && $0.registration.category == upstream.category
        }
        if let batch = found?.batch, turn.wait(.device(entry, .upstream(upstream)), for: batch) { return }
        turn.traceUpstream(upstream, .received)
        turn.confirmClockIfAgreed(upstream, entry)
        guard let token = found?.registration.tokenName else {
            return turn.refuseUpstream(upstream, .invalidParameters)
        }
        guard entry.waitingUpstream(of: upstream.category) < turn.settings.waitingUpstream else {
            return turn.refuseUpstream(upstream, .tooMany)
        }
        guard entry.buckets.countUpstreamIfAllowed(turn.settings.rates, turn.now.monotonic) else {
            return turn.refuseUpstream(upstream, .tooMany)
        }
        let name = token.registration
        turn.demand(name.device == entry.device, "a message comes from another device's app", of: entry)
        entry.countWaiting(name.number, by: 1)
        guard let group = upstream.group else {
            turn.forward(.upstreamResolved(upstream, from: token))
            return
        }
        let own = entry.registrations.map(\.registration).filter {
            $0.allows(upstream.sender) && $0.category == upstream.category
        }.map(\.name)
        let content = MessageContent(
            messageID: upstream.messageID, lifetimeSeconds: upstream.lifetimeSeconds, body: upstream.body)
        turn.forward(
            .groupUpstream(
                GroupSubmission(
                    requester: upstream.requester, sender: upstream.sender, group: group,
                    author: GroupAuthor(own: own), content: content)))
    }
}

extension DeviceEntry {
    /// Returns how many upstream messages of an app are not stored yet.
    fileprivate func waitingUpstream(of category: [UInt8]) -> Int {
        var total = 0
        for waiting in waitingUpstream {
            guard let at = index(of: waiting.registration),
                registrations[at].registration.category == category
            else { continue }
            total += waiting.count
        }
        return total
    }

    /// Changes the count of upstream messages of a registration that are not stored yet.
    func countWaiting(_ registration: RegistrationNumber, by change: Int) {
        guard let at = waitingUpstream.firstIndex(where: { $0.registration == registration }) else {
            if change > 0 { waitingUpstream.append((registration, change)) }
            return
        }
        waitingUpstream[at].count += change
        if waitingUpstream[at].count <= 0 { waitingUpstream.remove(at: at) }
    }
}
