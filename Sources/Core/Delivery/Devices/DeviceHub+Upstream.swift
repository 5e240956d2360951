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
        let waiting = entry.waitingUpstream.count { number in
            entry.index(of: number).map { entry.registrations[$0].registration.category } == upstream.category
        }
        guard waiting < turn.settings.waitingUpstream else { return turn.refuseUpstream(upstream, .tooMany) }
        guard entry.buckets.countUpstreamIfAllowed(turn.settings.rates, turn.now.monotonic) else {
            return turn.refuseUpstream(upstream, .tooMany)
        }
        let name = token.registration
        turn.demand(name.device == entry.device, "a message comes from another device's app", of: entry)
        entry.waitingUpstream.count(name.number, by: 1)
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

/// The upstream messages of a device that are not stored yet, by registration.
struct WaitingUpstream {
    private var counts: [(registration: RegistrationNumber, count: Int)] = []

    var isEmpty: Bool { counts.isEmpty }

    /// Returns how many messages of some registrations there are.
    func count(where isSelected: (RegistrationNumber) -> Bool) -> Int {
        counts.reduce(0) { isSelected($1.registration) ? $0 + $1.count : $0 }
    }

    /// Changes the count of a registration's messages.
    mutating func count(_ registration: RegistrationNumber, by change: Int) {
        guard let at = counts.firstIndex(where: { $0.registration == registration }) else {
            if change > 0 { counts.append((registration, change)) }
            return
        }
        counts[at].count += change
        if counts[at].count <= 0 { counts.remove(at: at) }
    }
}
