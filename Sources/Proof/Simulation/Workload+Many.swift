import Basics
import Delivery

/// Topic and group messages: subscriptions and sends.
extension Workload {
    static func topic(_ number: Int64) -> TopicName? { TopicName(Array("t\(number)".utf8)) }

    /// Plans the activity during the storm.
    static func prepareMany(_ world: World) {
        let settings = world.settings
        func plan(_ work: @escaping () -> Void) {
            world.at(world.random(1...settings.stormNanoseconds)) { if !world.isCalm { work() } }
        }
        if settings.topics > 0 {
            for device in world.devices {
                for app in device.apps.indices {
                    for _ in 0..<2 {
                        plan {
                            let isEnd = world.chance(1, in: 5)
                            guard let topic = topic(world.random(1...settings.topics)) else { return }
                            device.subscribe(app, topic, isEnd: isEnd)
                        }
                    }
                }
            }
            for number in 0..<Int(world.random(2...10)) { plan { sendToTopic(500_000 + number, world) } }
        }
        guard settings.makesGroups else { return }
        for (place, client) in world.appServers.enumerated() {
            for _ in 0..<2 { plan { client.makeGroup() } }
            for number in 0..<6 { plan { client.sendToGroup(700_000 + 100 * place + number) } }
        }
    }

    private static func sendToTopic(_ number: Int, _ world: World) {
        let client = world.appServers[Int(world.random(0...Int64(world.appServers.count - 1)))]
        guard let topic = topic(world.random(1...world.settings.topics)) else { return }
        let collapses = world.settings.collapsesTopics && world.chance(1, in: 2)
        send(
            number, to: topic, collapseKey: collapses ? UInt8(world.random(0...1)) : nil,
            lifetimeSeconds: world.chance(1, in: 4) ? 20 : 3_600, client)
    }

    private static func send(
        _ number: Int, to topic: TopicName, collapseKey: UInt8? = nil, lifetimeSeconds: Int,
        _ client: AppServerClient
    ) {
        client.send(
            DownstreamDraft(
                number: number, target: .topic(.topic(topic)), collapseKey: collapseKey,
                lifetimeSeconds: lifetimeSeconds))
    }

    /// Plans topic messages to all subscribers after the faults have ended.
    static func planCalmMany(_ world: World) {
        guard world.settings.topics > 0, let topic = topic(1) else { return }
        world.after(8_000_000_000) {
            for device in world.devices {
                for app in device.apps.indices where world.chance(2, in: 3) {
                    device.subscribe(app, topic, isEnd: false)
                }
            }
        }
        for round in 0..<2 {
            world.after(Int64(16 + 10 * round) * 1_000_000_000) {
                for (place, client) in world.appServers.enumerated() {
                    send(600_000 + 100 * round + place, to: topic, lifetimeSeconds: 3_600, client)
                }
            }
        }
    }
}
