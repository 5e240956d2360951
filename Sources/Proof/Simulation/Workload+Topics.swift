import Basics
import Delivery

/// Topic messages of all kinds: now or never, to conditions, many at once, and to iOS apps.
extension Workload {
    /// Plans the activity during the storm.
    static func prepareTopics(_ world: World) {
        let settings = world.settings
        func plan(_ work: @escaping () -> Void) {
            world.at(world.random(1...settings.stormNanoseconds)) { if !world.isCalm { work() } }
        }
        for number in 0..<settings.topicSends {
            plan { sendSome(520_000 + 100 * number, world) }
            plan { changeAny(world) }
        }
        if settings.hasAppleTopics {
            for _ in 0..<settings.topicSends { plan { changeApple(world, isCalm: false) } }
        }
    }

    /// Sends a message, often several at about the same time, while subscriptions change and devices connect.
    private static func sendSome(_ first: Int, _ world: World) {
        let client = anyClient(world)
        let most: Int64 = world.settings.discardsTopics ? 8 : 3
        guard let condition = anyCondition(world) else { return }
        for place in 0..<Int(world.random(1...most)) {
            let lifetimes = [0, 0, 20, 3_600, 3_600, 3_600]
            let draft = DownstreamDraft(
                number: first + place,
                target: .topic(
                    anyCondition(world).flatMap { world.chance(1, in: 3) ? $0 : nil } ?? condition),
                collapseKey: world.chance(1, in: 4) ? UInt8(world.random(0...1)) : nil,
                lifetimeSeconds: lifetimes[Int(world.random(0...Int64(lifetimes.count - 1)))])
            world.after(world.random(0...100_000_000)) { client.send(draft) }
        }
        for _ in 0..<2 where world.chance(1, in: 3) {
            world.after(world.random(0...200_000_000)) { changeAny(world) }
        }
        for device in world.devices where world.chance(1, in: 6) {
            world.after(world.random(0...200_000_000)) {
                if !world.isCalm, let port = device.port { device.leave(port) }
            }
        }
    }

    /// Draws a topic, or a condition on up to three of them.
    private static func anyCondition(_ world: World) -> TopicCondition? {
        func topic() -> TopicName? {
            Self.topic(world.chance(1, in: 6) ? 9 : world.random(1...world.settings.topics))
        }
        func test() -> TopicCondition? {
            topic().map { world.chance(1, in: 3) ? .not($0) : .topic($0) }
        }
        guard let plain = Self.topic(world.random(1...world.settings.topics)), let a = test(), let b = test(),
            let c = test()
        else { return nil }
        let kind = world.random(0...9)
        switch kind {
        case 0...4: return .topic(plain)
        case 5: return .not(plain)
        case 6, 7: return .both(.topic(plain), a)
        case 8: return .either(a, b)
        default: return .either(.both(a, b), c)
        }
    }

    /// Has any app subscribe to a topic or unsubscribe.
    private static func changeAny(_ world: World) {
        let device = world.devices[Int(world.random(0...Int64(world.devices.count - 1)))]
        guard !world.isCalm, let topic = topic(world.random(1...world.settings.topics)) else { return }
        let app = Int(world.random(0...Int64(device.apps.count - 1)))
        device.subscribe(app, topic, isEnd: world.chance(1, in: 3))
    }

    /// Has an app server subscribe its iOS apps to a topic: one of them, or all in the calm.
    private static func changeApple(_ world: World, isCalm: Bool) {
        for app in world.appleApps {
            for name in app.names where isCalm || world.chance(1, in: 2) {
                guard let topic = topic(isCalm ? 1 : world.random(1...world.settings.topics)) else { return }
                let client = world.appServers.first { $0.sender == app.registrations[name] }
                client?.changeTopic(name, topic, isEnd: !isCalm && world.chance(1, in: 4))
            }
        }
    }

    /// Plans messages after the faults have ended.
    static func planCalmTopics(_ world: World) {
        guard world.settings.topicSends > 0, let topic = topic(1), let other = self.topic(9) else { return }
        if world.settings.hasAppleTopics { world.after(9_000_000_000) { changeApple(world, isCalm: true) } }
        let conditions: [TopicCondition] = [
            .topic(topic), .not(topic), .both(.topic(topic), .not(other)),
            .either(.topic(other), .topic(topic)),
        ]
        for (round, condition) in conditions.enumerated() {
            world.after(Int64(18 + 5 * round) * 1_000_000_000) {
                for (place, client) in world.appServers.enumerated() {
                    for (kind, lifetime) in [0, 3_600].enumerated() {
                        client.send(
                            DownstreamDraft(
                                number: 620_000 + 100 * round + 10 * kind + place, target: .topic(condition),
                                collapseKey: nil, lifetimeSeconds: lifetime))
                    }
                }
            }
        }
    }
}
