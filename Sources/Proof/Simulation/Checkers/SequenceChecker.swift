import Basics
import Delivery

/// A process assigns sequence numbers above all of earlier processes, stored or not, whatever happened to the clock: persistent IDs
/// are never reused, and newer messages have higher ones.
struct SequenceChecker {
    /// The highest number of earlier processes.
    private var floor = SequenceNumber(0)
    private var highest = SequenceNumber(0)

    /// Starts a new process.
    mutating func processBegins() { floor = max(floor, highest) }

    mutating func check(_ step: CoreStep, _ world: World) {
        for mutation in step.mutations {
            switch mutation {
            case .putMessage(let message): made(message.sequence, world)
            case .putUpstream(let message, _): made(message.sequence, world)
            case .putTopicMessage(let message): made(message.name.sequence, world)
            case .putTopicEntry(let entry, _): made(entry.sequence, world)
            default: break
            }
        }
        for case (_, .device(.deliver(let delivery))) in step.commands where !delivery.isStored {
            made(delivery.message.sequence, world)
        }
    }

    private mutating func made(_ sequence: SequenceNumber, _ world: World) {
        highest = max(highest, sequence)
        if sequence <= floor {
            world.fail(
                "sequences",
                "\(sequence.number) was assigned after an earlier process had assigned \(floor.number)")
        }
    }
}
