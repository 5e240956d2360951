import Basics
import Delivery
import Store

/// Every acknowledged message is on disk, also after a crash.
struct DurabilityChecker {
    func didSync(_ batch: WriteBatch, _ truth: Truth) {
        for mutation in batch.mutations {
            switch mutation {
            case .putMessage(let message) where message.kind == .message:
                if let number = Number.of(message.messageID) { truth.downstream[number]?.isSynced = true }
            case .putUpstream(let upstream, _) where upstream.kind == .message:
                if let number = upstream.draftNumber { truth.upstream[number]?.isSynced = true }
            default: break
            }
        }
    }

    /// Checks the ACK that an app server got.
    func acknowledged(_ number: Int, _ truth: Truth, _ world: World) {
        guard let message = truth.downstream[number], message.draft.lifetimeSeconds > 0,
            !message.draft.isDryRun
        else { return }
        if !message.isSynced { world.fail("durability", "m\(number) was acknowledged but is not on disk") }
    }

    /// Checks the stream ack that a device got.
    func confirmed(_ number: Int, _ truth: Truth, _ world: World) {
        guard let message = truth.upstream[number], message.draft.lifetimeSeconds > 0 else { return }
        if !message.isSynced { world.fail("durability", "u\(number) was confirmed but is not on disk") }
    }

    /// Checks after a crash: what was acknowledged must be on disk, or have ended.
    func rolledBack(to state: MemoryState, _ truth: Truth, _ world: World) {
        let put = state.audit().downstream.accepted
        let acknowledged = truth.downstream.values.count {
            $0.isAcknowledged && $0.draft.lifetimeSeconds > 0 && !$0.draft.isDryRun
        }
        if put < acknowledged { world.fail("durability", "\(acknowledged) acknowledged, \(put) on disk") }
    }
}
