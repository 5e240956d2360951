import Basics
import Delivery
import Store

/// A message that replaces others is put in one batch with their end, is refused only for a valid reason, and none of them is sent after that.
struct ReplacementChecker {
    /// Messages that have ended by the write of another one, and its number.
    private(set) var replaced: [PersistentID: Int] = [:]
    /// When each message was put, in nanoseconds of the clock.
    private var putAt: [PersistentID: Int64] = [:]
    /// The IDs of messages that were sent to a device.
    private var sent: Set<[UInt8]> = []

    // MARK: Disk

    /// Checks a batch before it is applied to the messages on disk.
    mutating func willApply(
        _ batch: WriteBatch, _ messages: [EndingChecker.Key: StoredMessage], _ truth: Truth, _ world: World
    ) {
        let gone = batch.mutations.compactMap { mutation -> StoredMessage? in
            guard case .removeMessage(let device, let sequence, _, .removed) = mutation else { return nil }
            return messages[EndingChecker.Key(owner: device.number, sequence: sequence)]
        }
        for case .putMessage(let message) in batch.mutations where message.kind == .message {
            putAt[message.persistentID] = world.clock.nanoseconds
            guard let number = Number.of(message.messageID),
                let old = truth.downstream[number]?.draft.replaces
            else { continue }
            let ended = gone.filter {
                $0.isMeant(by: old.id) && $0.device == message.device && $0.sender == message.sender
            }
            if ended.isEmpty {
                world.fail("replacements", "m\(number) was stored without the end of what it replaces")
            }
            for old in ended { replaced[old.persistentID] = number }
            world.reached(.replacedByID)
        }
    }

    /// After a crash: what was replaced may be back, unless the message that replaced it was acknowledged.
    mutating func rolledBack(to state: MemoryState, _ truth: Truth, _ world: World) {
        var left: [PersistentID: Int64] = [:]
        state.forEachMessage { message in
            left[message.persistentID] = putAt[message.persistentID]
            guard let number = replaced.removeValue(forKey: message.persistentID) else { return }
            if truth.downstream[number]?.isAcknowledged == true {
                world.fail("replacements", "a message is back whose replacement m\(number) was acknowledged")
            }
        }
        putAt = left
    }

    // MARK: Core

    /// Checks that no message is sent that was replaced.
    mutating func check(_ step: CoreStep, _ world: World) {
        for case (_, .device(.deliver(let delivery))) in step.commands where delivery.isStored {
            let message = delivery.message
            sent.insert(message.messageID)
            sent.insert(Array(message.persistentID.text.utf8))
            if let number = replaced[message.persistentID] {
                world.fail("replacements", "a message was sent that m\(number) has replaced")
            }
        }
    }

    // MARK: App servers

    /// Checks that the message of another sender was not replaced.
    func acknowledged(_ number: Int, _ message: Truth.Downstream, _ world: World) {
        guard let old = message.draft.replaces else { return }
        if old.isOfOther {
            world.fail("replacements", "m\(number) has replaced the message of another sender")
        }
    }

    /// Checks that a message to be replaced had been sent.
    func refusedAsSent(_ number: Int, _ message: Truth.Downstream, _ world: World) {
        world.reached(.replacedTooLate)
        if let old = message.draft.replaces, !sent.contains(old.id) {
            world.fail("replacements", "m\(number) was refused although what it replaces was not sent")
        }
    }

    /// Checks that no message to be replaced has waited all the time. Later, since its end may be on its way to the disk.
    func refusedAsUnknown(_ number: Int, _ message: Truth.Downstream, _ truth: Truth, _ world: World) {
        guard let old = message.draft.replaces else { return }
        if old.isOfOther { world.reached(.replacedByNobody) }
        guard !old.isOfOther, message.submissions == 1, world.settings.faults.hasCommitsAll else { return }
        let boots = world.boots
        let waiting = truth.downstreamWaiting(old.id, of: message, world).filter {
            putAt[$0.persistentID, default: .max] < message.submittedNanoseconds
        }
        guard !waiting.isEmpty else { return }
        world.after(10_000_000_000) {
            guard world.boots == boots, world.server != nil, !truth.mayBeGone(message.target) else { return }
            let left = truth.downstreamWaiting(old.id, of: message, world).map(\.persistentID)
            let known = world.checkers.replacements
            if waiting.contains(where: { left.contains($0.persistentID) && !known.wasSent($0) }) {
                world.fail("replacements", "m\(number) was refused although what it replaces waits")
            }
        }
    }

    private func wasSent(_ message: StoredMessage) -> Bool { sent.contains(message.messageID) }
}

extension Truth {
    /// The messages on disk that another one would replace by an ID.
    fileprivate func downstreamWaiting(_ id: [UInt8], of new: Downstream, _ world: World) -> [StoredMessage] {
        world.checkers.endings.messages.values.filter {
            $0.isMeant(by: id) && $0.device == new.target.device && $0.sender == new.sender
        }
    }
}

extension StoredMessage {
    /// Whether an ID is that of the message, given by its sender or by the server.
    fileprivate func isMeant(by id: [UInt8]) -> Bool {
        isNamed(id) || kind == .message && Array(persistentID.text.utf8) == id
    }
}
