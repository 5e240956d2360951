import Basics
import Delivery

/// Activity that early seeds do not have.
extension Workload {
    /// Plans the activity during the storm.
    static func prepareLater(_ world: World) {
        let settings = world.settings
        func plan(_ work: @escaping () -> Void) {
            world.at(world.random(1...settings.stormNanoseconds)) { if !world.isCalm { work() } }
        }
        for number in 0..<settings.importedApps {
            let app = AppleApp(world, number: number, sender: anyClient(world).sender)
            world.appleApps.append(app)
            for _ in 0..<world.random(0...3) { plan { app.register() } }
            for _ in 0..<world.random(1...4) {
                let client = anyClient(world)
                plan { client.importToken(of: app) }
            }
        }
        if settings.importedApps > 0 {
            for number in 0..<Int(world.random(0...12)) {
                plan { anyClient(world).sendToImported(850_000 + number) }
            }
        }
        if settings.sendsUpToGroups {
            for number in 0..<Int(world.random(0...15)) { plan { sendUpToGroup(800_000 + number, world) } }
        }
        for number in 0..<settings.topicChanges { plan { changeTopic(number, world) } }
    }

    static func anyClient(_ world: World) -> AppServerClient {
        world.appServers[Int(world.random(0...Int64(world.appServers.count - 1)))]
    }

    /// Has an app send to a group, usually one of which it is a member.
    private static func sendUpToGroup(_ number: Int, _ world: World) {
        let client = anyClient(world)
        guard !client.groups.isEmpty else { return }
        let at = Int(world.random(0...Int64(client.groups.count - 1)))
        let group = client.groups[at].record
        let isStranger = world.chance(1, in: 5)
        let places = world.devices.flatMap { device in
            device.apps.indices.filter { place in
                let app = device.apps[place]
                return app.name != nil
                    && (isStranger || group.members.contains { app.known.contains($0.registration) })
            }.map { (device, $0) }
        }
        guard !places.isEmpty else { return }
        let (device, place) = places[Int(world.random(0...Int64(places.count - 1)))]
        var draft = UpstreamDraft(
            number: number, sender: client.sender, category: device.apps[place].category,
            lifetimeSeconds: 3_600)
        draft.group = group.name
        // Its result may change the members that later messages find.
        client.groups[at].sends += 1
        world.checkers.fanOuts.asked(draft, members: group.members.map(\.registration), author: device, world)
        device.send(draft)
    }

    /// Has an app server subscribe an app to a topic. Where subscription changes are rate limited, each topic is new, so that every
    /// request is a change.
    private static func changeTopic(_ number: Int, _ world: World) {
        let client = anyClient(world)
        let apps = world.devices.flatMap(\.apps).filter { $0.audience[0] == client.sender }
        let names =
            world.settings.subscribesOldTokens
            ? apps.flatMap { app in app.known.count > 1 ? app.known.dropLast() : app.known[...] }
            : apps.compactMap(\.name)
        guard !names.isEmpty else { return }
        let name = names[Int(world.random(0...Int64(names.count - 1)))]
        let isRated = world.settings.rates.topicChanges.isLimited
        let text = isRated ? "x\(number)" : "t\(world.random(1...world.settings.topics))"
        guard let topic = TopicName(Array(text.utf8)) else { return }
        client.changeTopic(name, topic, isEnd: !isRated && world.chance(1, in: 4))
    }
}
