import Basics
import Delivery

/// What goes between the partitions and to Apple.
extension SimulatedServer {
    /// Loses topic messages between partitions, and their answers, as between the nodes of a cluster: then the answer is that they
    /// could not be stored, whether they arrive or not. Returns what arrives.
    func passOn(_ given: TopicLogEvent, to partition: Int) -> TopicLogEvent? {
        guard let event = world.canaries.alter(partition, given, world) else { return nil }
        if case .nowOrNever = event, let wait = world.canaries.repeatsAfter(world) {
            world.after(wait) { [self] in
                if isAlive { sendOn(.topicLog(partition, event), from: map.reactor(of: partition)) }
            }
            if world.canary == .delaysTopicsNow { return nil }
        }
        guard world.chance(world.faults.lostCopies, in: 100) else { return event }
        world.countFault()
        switch event {
        case .published(_, let source):
            world.after(crossingTime) { [self] in
                guard isAlive else { return }
                sendOn(
                    .topicLog(source, .copied(by: partition, through: nil)), from: map.reactor(of: source))
            }
            return world.chance(1, in: 2) ? event : nil
        case .copied(let copier, _): return .copied(by: copier, through: nil)
        case .nowOrNever: return event
        }
    }

    /// Passes a message on to Apple, and the answer back while the process lives.
    func deliver(_ delivery: GatewayDelivery) {
        world.apple.deliver(delivery) { [self] answer in
            if isAlive { sendOn(.gatewayAnswered(answer), from: 0) }
        }
    }
}
