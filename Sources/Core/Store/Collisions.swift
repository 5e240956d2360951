import Basics
import Delivery

private struct MessageKey: Hashable {
    var owner: UInt64
    var sequence: SequenceNumber
}

/// The messages of one direction at the keys that some batches have touched so far.
private struct TouchedPlaces<Message: Equatable> {
    /// A value of `nil` means that the message was removed.
    private var messages: [MessageKey: Message?] = [:]

    /// Puts a message. Returns whether the key was free or held the same message. `settled` is the message that was there before the
    /// batches.
    mutating func put(_ message: Message, at messageKey: MessageKey, over settled: Message?) -> Bool {
        let found = messages[messageKey] ?? settled
        messages[messageKey] = .some(message)
        return found == nil || found == message
    }

    mutating func remove(at messageKey: MessageKey) { messages[messageKey] = .some(nil) }
}

extension MemoryState {
    /// Returns the failure for the first message of the batches whose key another message has. Returns `nil` if there is none.
    ///
    /// An upstream message that repeats an earlier one is not put, so that it collides with nothing.
    func collision(in batches: [WriteBatch]) -> StoreError? {
        var down = TouchedPlaces<StoredMessage>()
        var up = TouchedPlaces<StoredUpstream>()
        for mutation in batches.lazy.flatMap(\.mutations) {
            switch mutation {
            case .putMessage(let message):
                if let fault = collision(message, &down) { return fault }
            case .removeMessage(let device, let sequence, _, _):
                down.remove(at: MessageKey(owner: device.number, sequence: sequence))
            case .putUpstream(let message, let now):
                guard !isRepeated(message, at: now) else { continue }
                let messageKey = MessageKey(owner: message.sender.number, sequence: message.sequence)
                guard
                    up.put(
                        message, at: messageKey, over: upstream[messageKey.owner, messageKey.sequence.number])
                else {
                    return Self.collision("upstream", messageKey)
                }
            case .removeUpstream(let sender, let sequence, _, _):
                up.remove(at: MessageKey(owner: sender.number, sequence: sequence))
            default: break
            }
        }
        return nil
    }

    private func collision(
        _ message: StoredMessage, _ down: inout TouchedPlaces<StoredMessage>
    ) -> StoreError? {
        let messageKey = MessageKey(owner: message.device.number, sequence: message.sequence)
        let isFree = down.put(
            message.recorded, at: messageKey, over: messages[messageKey.owner, messageKey.sequence.number])
        return isFree ? nil : Self.collision("pending", messageKey)
    }

    private static func collision(_ mailboxes: String, _ messageKey: MessageKey) -> StoreError {
        StoreError(
            .occupied,
            "\(mailboxes)/\(messageKey.owner)/\(messageKey.sequence.number): the key already has another message"
        )
    }
}
