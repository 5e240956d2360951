import Basics
import Delivery

/// What was sent of now-or-never topic messages.
struct UnstoredTopics {
    private struct Receipt: Hashable {
        var number: Int
        var device: DeviceID
    }

    /// The app instances that each message was sent to, at once or through Apple.
    private(set) var sent: Set<FanOut.Put> = []
    private var sentTo: [Receipt: Int] = [:]
    private var receivedBy: [Receipt: Int] = [:]

    /// Records what was sent to a device or to Apple. Returns whether it was not sent before.
    mutating func send(_ number: Int, _ put: FanOut.Put) -> Bool {
        sentTo[Receipt(number: number, device: put.name.device), default: 0] += 1
        return sent.insert(put).inserted
    }

    /// Checks what a device received on a connection that it opened at a time.
    mutating func received(
        _ number: Int, _ message: FanOut, _ delivered: DeliveredMessage, _ device: DeviceID?, since: Int64,
        _ world: World
    ) {
        guard let device else { return }
        let receipt = Receipt(number: number, device: device)
        receivedBy[receipt, default: 0] += 1
        if delivered.id != nil || receivedBy[receipt, default: 0] > sentTo[receipt, default: 0] {
            world.fail("topics", "m\(number) is now-or-never, but was received too often or with an ID")
        }
        if message.submissions == 1, let time = message.acknowledgedAt,
            since > time + world.crossingNanoseconds
        {
            world.fail("topics", "m\(number) is now-or-never, but reached a device that connected later")
        }
        world.reached(.topicNowSent)
    }

    /// Returns whether a device has received all that it was sent of a message.
    func isReceived(_ number: Int, by device: DeviceID) -> Bool {
        let receipt = Receipt(number: number, device: device)
        return receivedBy[receipt] == sentTo[receipt]
    }
}

/// A now-or-never topic message is sent to the connected app instances that it is for, once and at once, and to those behind Apple.
extension FanOutChecker {
    mutating func checkUnstored(_ step: CoreStep, _ world: World) {
        for case .topicLog(_, .nowOrNever(let message)) in step.forwards {
            made[message.name] = message
            if let number = Number.of(message.messageID) { messages[number]?.topics.insert(message.name) }
        }
        for case (_, .device(.deliver(let delivery))) in step.commands
        where !delivery.isStored && delivery.message.topicMessage != nil {
            if case .topicLog(_, .nowOrNever(let message)) = step.event,
                message.name == delivery.message.topicMessage
            {
                sendUnstored(delivery.message, mayRepeat: false, world)
            } else {
                world.fail("topics", "a now-or-never topic message was sent late")
            }
        }
        for delivery in step.deliveries where !delivery.isStored && delivery.message.topicMessage != nil {
            // What a failed batch has not recorded may be offered again.
            sendUnstored(delivery.message, mayRepeat: !world.settings.faults.hasCommitsAll, world)
        }
    }

    private mutating func sendUnstored(_ part: StoredMessage, mayRepeat: Bool, _ world: World) {
        guard let number = Number.of(part.messageID), let message = messages[number],
            let name = part.topicMessage
        else { return world.fail("topics", "an unknown now-or-never message was sent") }
        let isNew = unstored.send(number, FanOut.Put(topic: name, name: part.name))
        if !isNew, !mayRepeat { world.fail("topics", "m\(number) was sent twice to one app") }
        let now = world.clock.nanoseconds
        if !outcome(of: message, for: part.name, through: now, world.checkers.truth).may {
            world.fail("topics", "m\(number) was sent to an app that it is not for")
        }
        if message.draft.lifetimeSeconds != 0 {
            world.fail("topics", "m\(number) was sent without being stored")
        }
    }

    /// Checks a message that Apple accepted.
    func reachedApple(_ delivery: GatewayDelivery, _ world: World) {
        guard let number = Number.of(delivery.message.messageID), let message = messages[number] else {
            return
        }
        let path = message.draft.condition?.single.map { Array("/topics/".utf8) + $0.bytes } ?? []
        if delivery.topicPath != path || Number.inBody(delivery.message.body) != number {
            world.fail("identity", "Apple got m\(number) with a wrong sender or other pairs")
        }
        world.reached(.topicForwarded)
    }

    /// Returns the app instances that were left out after the faults had ended: those whose connection has lasted, and those behind Apple.
    func unstoredFindings(_ truth: Truth, _ world: World) -> [String] {
        var found: [String] = []
        // A full log has no room for what iOS apps are looked for.
        let hasRoom = world.settings.hasAppleTopics && !world.settings.discardsTopics
        let apple = hasRoom ? world.appleApps.flatMap(\.names) : []
        for (number, message) in messages
        where message.isCalm && message.isAcknowledged && message.draft.lifetimeSeconds == 0 {
            var names = apple
            for device in world.devices {
                guard let id = device.identity?.device, let since = device.onlineSince,
                    since <= message.submittedNanoseconds
                else { continue }
                names += device.apps.compactMap(\.name)
                if !unstored.isReceived(number, by: id) {
                    found.append("m\(number) was lost to \(id.number)")
                }
            }
            for name in names
            where outcome(of: message, for: name, through: world.clock.nanoseconds, truth).must {
                let isSent = message.topics.contains {
                    unstored.sent.contains(FanOut.Put(topic: $0, name: name))
                }
                if !isSent { found.append("m\(number) was not sent to \(name.device.number) at once") }
            }
        }
        return found
    }
}
