import Basics

/// Messages of devices, as far as their device decides: which registration they are from, and whether they are too many.
extension DeviceHub {
    mutating func upstreamReceived(
        _ upstream: UpstreamSubmission, _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        // The newest registration of the app with the sender is the one it goes by (mcs-device 4.1).
        let found = entry.registrations.last {
            $0.registration.allows(upstream.sender) && $0.registration.category == upstream.category
        }
        if let batch = found?.batch, turn.wait(.device(entry, .upstream(upstream)), for: batch) { return }
        turn.traceUpstream(upstream, .received)
        turn.noteDeviceTime(upstream, entry)
        guard let name = found?.registration.name else {
            return turn.refuse(upstream, .invalidParameters)
        }
        guard entry.waitingUpstream(of: upstream.category) < turn.settings.waitingUpstream else {
            return turn.refuse(upstream, .tooMany)
        }
        guard entry.buckets.takeUpstream(turn.settings.rates, turn.now.monotonic) else {
            return turn.refuse(upstream, .tooMany)
        }
        turn.demand(name.device == entry.device, "a message comes from the app of another device", of: entry)
        entry.countWaiting(name.number, by: 1)
        guard let group = upstream.group else {
            turn.forward(.upstreamResolved(upstream, from: name))
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
                    origin: upstream.origin, sender: upstream.sender, group: group,
                    author: GroupAuthor(own: own), content: content)))
    }
}

extension DeviceEntry {
    /// Upstream messages of an app that are on their way to the store.
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

    /// Counts upstream messages on their way in and out.
    func countWaiting(_ registration: RegistrationNumber, by change: Int) {
        guard let at = waitingUpstream.firstIndex(where: { $0.registration == registration }) else {
            if change > 0 { waitingUpstream.append((registration, change)) }
            return
        }
        waitingUpstream[at].count += change
        if waitingUpstream[at].count <= 0 { waitingUpstream.remove(at: at) }
    }
}
