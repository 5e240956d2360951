import Basics
import Delivery
import Store

/// A reference model of the store: its expected content after a number of batches.
struct StoreModel {
    var mailboxes: [DeviceID: [StoredMessage]] = [:]
    var outboxes: [SenderID: [StoredUpstream]] = [:]
    var down = MilestoneCounts()
    var up = MilestoneCounts()

    /// The number of stored messages in both directions.
    var count: Int {
        mailboxes.values.reduce(0) { $0 + $1.count } + outboxes.values.reduce(0) { $0 + $1.count }
    }

    mutating func apply(_ batch: WriteBatch) {
        for mutation in batch.mutations {
            switch mutation {
            case .putMessage(let message):
                mailboxes[message.device, default: []].append(message)
                if message.kind == .message { down.accepted += 1 }
            case .removeMessage(let device, let sequence, _, let reason):
                let box = mailboxes[device] ?? []
                guard let at = box.firstIndex(where: { $0.sequence == sequence }) else { continue }
                mailboxes[device]?.remove(at: at)
                down[reason] += 1
            case .putUpstream(let message, _):
                outboxes[message.sender, default: []].append(message)
                up.accepted += 1
            case .removeUpstream(let sender, let sequence, _, let reason):
                let box = outboxes[sender] ?? []
                guard let at = box.firstIndex(where: { $0.sequence == sequence }) else { continue }
                outboxes[sender]?.remove(at: at)
                up[reason] += 1
            default: break
            }
        }
    }

    /// Returns the batches that a store contains: each one has added a sender's record or a marker.
    static func batchNumbers(in store: any Store) throws(StoreError) -> Set<UInt64> {
        let durable = try store.senders().map(\.sender.number)
        let markers = try store.load(.messages(Load.ledger, after: SequenceNumber(0), limit: 100_000))
        guard case .messages(_, let lazy, _) = markers else { return Set(durable) }
        return Set(durable + lazy.map(\.sequence.number))
    }

    /// Returns the first difference of a store from the model, or `nil` if there is none.
    func difference(from store: any Store) throws(StoreError) -> String? {
        for device in Load.devices + [Load.ledger] {
            guard
                case .messages(_, let found, _) = try store.load(
                    .messages(device, after: SequenceNumber(0), limit: 100_000))
            else { return "mailbox \(device.number) cannot be read" }
            let expected = mailboxes[device] ?? []
            if found != expected {
                return "mailbox \(device.number): "
                    + Self.words(found.map(\.sequence.number), expected.map(\.sequence.number))
            }
        }
        for sender in Load.senders {
            guard
                case .upstream(_, let found, _) = try store.load(
                    .upstream(sender, after: SequenceNumber(0), limit: 100_000))
            else { return "upstream messages to \(sender.number) cannot be read" }
            let expected = outboxes[sender] ?? []
            if found != expected {
                return "upstream to \(sender.number): "
                    + Self.words(found.map(\.sequence.number), expected.map(\.sequence.number))
            }
        }
        let audit = try store.audit()
        if !audit.holds || audit.downstream != down || audit.upstream != up {
            return "counts differ: \(audit)"
        }
        return nil
    }

    private static func words(_ found: [UInt64], _ expected: [UInt64]) -> String {
        let missing = expected.filter { !found.contains($0) }
        let surplus = found.filter { !expected.contains($0) }
        return missing.isEmpty && surplus.isEmpty
            ? "different content or order" : "missing \(missing), unexpected \(surplus)"
    }
}
