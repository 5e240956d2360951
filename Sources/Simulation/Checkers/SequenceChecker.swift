import Basics
import Delivery

/// What a process makes is numbered above all that earlier processes have made, stored or not, whatever became of the clock:
/// persistent ids are never used again, and what is newer comes later.
struct SequenceChecker {
    /// The highest number that earlier processes have made.
    private var floor = Sequence(0)
    private var highest = Sequence(0)

    /// The process before has died.
    mutating func processBegins() { floor = max(floor, highest) }

    mutating func check(_ step: CoreStep, _ world: World) {
        for mutation in step.mutations {
            switch mutation {
            case .putMessage(let message): made(message.sequence, world)
            case .returnUpstream(_, _, _, let report?): made(report.sequence, world)
            case .putUpstream(let message, _): made(message.sequence, world)
            case .putTopicJob(let job): made(job.name.sequence, world)
            default: break
            }
        }
        for case (_, .device(.deliver(let delivery))) in step.commands where !delivery.isStored {
            made(delivery.message.sequence, world)
        }
    }

    private mutating func made(_ sequence: Sequence, _ world: World) {
        highest = max(highest, sequence)
        if sequence <= floor {
            world.fail("sequences", "\(sequence.number) was made, and an earlier process had \(floor.number)")
        }
    }
}
