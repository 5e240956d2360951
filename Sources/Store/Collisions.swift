import Basics
import Delivery

extension MemoryState {
    private struct Place: Hashable {
        var owner: UInt64
        var sequence: UInt64
    }

    /// The first message of some batches that is put where another one stands; `nil` if there is none.
    ///
    /// An upstream message that a device repeats is not put, wherever its place is.
    func collision(in batches: [WriteBatch]) -> StoreError? {
        // What stands at a place that the batches have touched so far; `nil`: nothing.
        var down: [Place: StoredMessage?] = [:]
        var up: [Place: StoredUpstream?] = [:]
        for batch in batches {
            for mutation in batch.mutations {
                switch mutation {
                case .putMessage(let message):
                    let place = Place(owner: message.device.number, sequence: message.sequence.number)
                    let found = down[place] ?? messages[place.owner, place.sequence]
                    if let found, found != message { return Self.collision("pending", place) }
                    down[place] = .some(message)
                case .removeMessage(let device, let sequence, _, _):
                    down[Place(owner: device.number, sequence: sequence.number)] = .some(nil)
                case .putUpstream(let message, let now):
                    guard !isRepeated(message, at: now) else { continue }
                    let place = Place(owner: message.sender.number, sequence: message.sequence.number)
                    let found = up[place] ?? upstream[place.owner, place.sequence]
                    if let found, found != message { return Self.collision("upstream", place) }
                    up[place] = .some(message)
                case .removeUpstream(let sender, let sequence, _, _):
                    up[Place(owner: sender.number, sequence: sequence.number)] = .some(nil)
                default: break
                }
            }
        }
        return nil
    }

    private static func collision(_ mailboxes: String, _ place: Place) -> StoreError {
        StoreError(
            .occupied, "\(mailboxes)/\(place.owner)/\(place.sequence): another message is there already")
    }
}
