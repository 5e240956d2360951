import Basics
import Delivery

private struct Place: Hashable {
    var owner: UInt64
    var sequence: SequenceNumber
}

/// What stands at the places of one direction that some batches have touched so far.
private struct TouchedPlaces<Message: Equatable> {
    /// `nil`: nothing stands there.
    private var messages: [Place: Message?] = [:]

    /// What stands at a place where `settled` stood before the batches.
    func message(at place: Place, over settled: Message?) -> Message? { messages[place] ?? settled }

    /// Puts a message where `settled` stands unless the batches have changed that; whether it may stand there.
    mutating func put(_ message: Message, at place: Place, over settled: Message?) -> Bool {
        let found = self.message(at: place, over: settled)
        messages[place] = .some(message)
        return found == nil || found == message
    }

    /// Takes away what stands at a place.
    mutating func remove(at place: Place) { messages[place] = .some(nil) }
}

extension MemoryState {
    /// The first message of some batches that is put where another one stands; `nil` if there is none.
    ///
    /// An upstream message that a device repeats is not put, wherever its place is.
    func collision(in batches: [WriteBatch]) -> StoreError? {
        var down = TouchedPlaces<StoredMessage>()
        var up = TouchedPlaces<StoredUpstream>()
        for mutation in batches.lazy.flatMap(\.mutations) {
            switch mutation {
            case .putMessage(let message):
                if let fault = collision(message, &down) { return fault }
            case .removeMessage(let device, let sequence, _, _):
                down.remove(at: Place(owner: device.number, sequence: sequence))
            case .putUpstream(let message, let now):
                guard !isRepeated(message, at: now) else { continue }
                let place = Place(owner: message.sender.number, sequence: message.sequence)
                guard up.put(message, at: place, over: upstream[place.owner, place.sequence.number]) else {
                    return Self.collision("upstream", place)
                }
            case .removeUpstream(let sender, let sequence, _, _):
                up.remove(at: Place(owner: sender.number, sequence: sequence))
            case .returnUpstream(let sender, let sequence, _, let report):
                let place = Place(owner: sender.number, sequence: sequence)
                guard up.message(at: place, over: upstream[place.owner, place.sequence.number]) != nil else {
                    continue
                }
                up.remove(at: place)
                if let report, let fault = collision(report, &down) { return fault }
            default: break
            }
        }
        return nil
    }

    private func collision(
        _ message: StoredMessage, _ down: inout TouchedPlaces<StoredMessage>
    ) -> StoreError? {
        let place = Place(owner: message.device.number, sequence: message.sequence)
        let isFree = down.put(message, at: place, over: messages[place.owner, place.sequence.number])
        return isFree ? nil : Self.collision("pending", place)
    }

    private static func collision(_ mailboxes: String, _ place: Place) -> StoreError {
        StoreError(
            .occupied,
            "\(mailboxes)/\(place.owner)/\(place.sequence.number): another message is there already")
    }
}
