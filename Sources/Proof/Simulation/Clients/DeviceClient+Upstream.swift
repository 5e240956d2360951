import Basics
import Delivery

extension DeviceClient {
    /// Sends a message of an app.
    func send(_ draft: UpstreamDraft) {
        var draft = draft
        if draft.lifetimeSeconds > 0 { draft.persistentID = nextPersistentID() }
        reuseID(in: &draft)
        unconfirmed.append(draft)
        world.checkers.upstreamSent(draft, identity?.device, world)
        if isOnline, let port { transmit(draft, port) }
    }

    /// Gives a message the IDs of an earlier one, as an app does that restarts its counter or writes to another sender.
    ///
    /// Never those of a message in progress: a refusal identifies a message only by its ID.
    private func reuseID(in draft: inout UpstreamDraft) {
        guard world.settings.reusesIDs, draft.group == nil, draft.lifetimeSeconds > 0 else { return }
        defer { sentDrafts.append(draft) }
        guard !sentDrafts.isEmpty, world.chance(1, in: 3) else { return }
        let old = sentDrafts[Int(world.random(0...Int64(sentDrafts.count - 1)))]
        guard !(unconfirmed + repeated).contains(where: { $0.messageID == old.messageID }) else { return }
        draft.reused = old.reused ?? old.number
        draft.persistentID = old.persistentID
        world.checkers.truth.sharedIDs.insert(draft.messageID)
        world.reached(.idReused)
    }

    /// Transmits a message, perhaps repeatedly.
    func transmit(_ draft: UpstreamDraft, _ port: any DevicePort) {
        if draft.group != nil { world.checkers.fanOuts.transmitted(draft) }
        port.send(draft)
    }

    func confirmed(_ number: Int) {
        if let at = repeated.firstIndex(where: { $0.number == number }) {
            repeated.remove(at: at)
            return world.reached(.duplicateConfirmed)
        }
        guard let at = unconfirmed.firstIndex(where: { $0.number == number }) else { return }
        let draft = unconfirmed.remove(at: at)
        world.checkers.upstreamConfirmed(number, world)
        guard !draft.persistentID.isEmpty, world.chance(1, in: 6) else { return }
        let device = identity?.device
        world.after(world.random(1...2_000_000_000)) { [self] in
            // From another device it would be another message.
            guard isOnline, let port, identity?.device == device,
                !unconfirmed.contains(where: { $0.messageID == draft.messageID })
            else { return }
            repeated.append(draft)
            transmit(draft, port)
        }
    }

    func refused(_ number: Int, _ refusal: UpstreamRefusal, mayRetry: Bool) {
        repeated.removeAll { $0.number == number }
        guard let at = unconfirmed.firstIndex(where: { $0.number == number }) else { return }
        let draft = unconfirmed[at]
        guard mayRetry, draft.lifetimeSeconds > 0 else {
            unconfirmed.remove(at: at)
            world.checkers.upstreamRefused(number, refusal, world)
            return
        }
        world.after(world.random(100_000_000...2_000_000_000)) { [self] in
            if isOnline, let port, unconfirmed.contains(where: { $0.number == number }) {
                transmit(draft, port)
            }
        }
    }
}
