import Basics
import Delivery

extension DeviceClient {
    /// An app sends.
    func send(_ draft: UpstreamDraft) {
        var draft = draft
        if draft.lifetimeSeconds > 0 { draft.persistentID = nextPersistentID() }
        unconfirmed.append(draft)
        world.checkers.upstreamSent(draft, identity?.device, world)
        if isOnline, let port { transmit(draft, port) }
    }

    /// Sends it, perhaps again.
    func transmit(_ draft: UpstreamDraft, _ port: any DevicePort) {
        if draft.group != nil { world.checkers.fanOuts.transmitted(draft) }
        port.send(draft)
    }

    func confirmed(_ number: Int) {
        if let at = repeated.firstIndex(where: { $0.number == number }) {
            repeated.remove(at: at)
            return world.met(.duplicateConfirmed)
        }
        guard let at = unconfirmed.firstIndex(where: { $0.number == number }) else { return }
        let draft = unconfirmed.remove(at: at)
        world.checkers.upstreamConfirmed(number, world)
        guard !draft.persistentID.isEmpty, world.chance(1, in: 6) else { return }
        let device = identity?.device
        world.after(world.random(1...2_000_000_000)) { [self] in
            // As another device it would be another message.
            guard isOnline, let port, identity?.device == device else { return }
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
