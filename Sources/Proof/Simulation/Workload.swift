import Basics
import Delivery

/// The clients of a world and what they send.
enum Workload {
    /// Creates the clients and plans what they send during the storm.
    static func prepare(_ world: World) {
        let settings = world.settings
        let senders = (0..<settings.senders).map { SenderID(UInt64(1_000 + $0)) }
        for (number, sender) in senders.enumerated() {
            let password = Array("key \(number)".utf8)
            let record = SenderRecord(
                sender: sender, label: "",
                keys: [
                    ServerKey(
                        digest: SimulatedHost.digest(password), createdAt: 0,
                        scram: SimulatedHost.verifier(password))
                ], createdAt: 0)
            world.disk.prepare([.putSender(record)])
            world.appServers.append(
                AppServerClient(
                    world, sender: sender, password: password, connections: settings.connectionsPerSender))
        }
        for number in 0..<settings.devices {
            let audiences = (0..<settings.registrationsPerDevice).map { _ in audience(of: senders, world) }
            world.devices.append(DeviceClient(world, number: number, audiences: audiences))
        }
        for client in world.appServers { client.start() }
        for device in world.devices { device.start() }
        for number in 0..<settings.downstreamMessages {
            world.at(world.random(1...settings.stormNanoseconds)) { sendDown(number, world) }
        }
        for number in 0..<settings.upstreamMessages {
            world.at(world.random(1...settings.stormNanoseconds)) { sendUp(number, world) }
        }
        planChanges(world)
        prepareMany(world)
        prepareLater(world)
        prepareTopics(world)
    }

    /// Draws one sender, or all of them.
    private static func audience(of senders: [SenderID], _ world: World) -> [SenderID] {
        let first = Int(world.random(0...Int64(senders.count - 1)))
        guard world.chance(1, in: 3) else { return [senders[first]] }
        return Array(senders[first...] + senders[..<first])
    }

    /// Plans apps that are removed, register again, or request other tokens.
    private static func planChanges(_ world: World) {
        func plan(_ work: @escaping (DeviceClient, Int) -> Void) {
            world.at(world.random(1...world.settings.stormNanoseconds)) {
                let device = anyDevice(world)
                if !world.isCalm { work(device, Int(world.random(0...Int64(device.apps.count - 1)))) }
            }
        }
        if world.chance(1, in: 3) { plan { device, app in device.unregister(app) } }
        if world.chance(1, in: 6) { plan { device, _ in device.forget() } }
        if world.chance(1, in: 2) {
            for _ in 0..<world.random(1...5) { plan { device, app in device.clear(app) } }
        }
    }

    private static func anyDevice(_ world: World) -> DeviceClient {
        world.devices[Int(world.random(0...Int64(world.devices.count - 1)))]
    }

    private static func client(_ sender: SenderID, _ world: World) -> AppServerClient? {
        world.appServers.first { $0.sender == sender }
    }

    private static func sendDown(_ number: Int, _ world: World) {
        let device = anyDevice(world)
        let app = device.apps[Int(world.random(0...Int64(device.apps.count - 1)))]
        guard let last = app.known.last else { return }
        // Usually the newest token, but also old ones and those of other senders.
        let target =
            world.chance(1, in: 3)
            ? app.known[Int(world.random(0...Int64(app.known.count - 1)))] : last
        let isStranger = world.chance(1, in: 25)
        let senders = world.appServers.filter { isStranger || app.audience.contains($0.sender) }
        let sender = senders[Int(world.random(0...Int64(senders.count - 1)))]
        let lifetimes = [0, 1, 10, 60, 3_600, Limits.Message.lifetimeSeconds, Limits.Message.lifetimeSeconds]
        var draft = DownstreamDraft(
            number: number, target: .registration(target),
            collapseKey: world.chance(1, in: 3) ? UInt8(world.random(0...5)) : nil,
            lifetimeSeconds: lifetimes[Int(world.random(0...Int64(lifetimes.count - 1)))],
            wantsReceipt: world.chance(1, in: 3), isDryRun: world.chance(1, in: 30),
            delaysWhileIdle: world.chance(1, in: 6))
        world.schedules.schedule(&draft, world)
        sender.send(draft)
        let others = world.appServers.filter { app.audience.contains($0.sender) }
        world.replacements.plan(draft, of: sender, others: others, world)
    }

    private static func sendUp(_ number: Int, _ world: World) {
        let device = anyDevice(world)
        let app = device.apps[Int(world.random(0...Int64(device.apps.count - 1)))]
        guard app.name != nil else { return }
        let lifetimes = [0, 1, 5, 3_600, Limits.Message.upstreamLifetimeSeconds]
        device.send(
            UpstreamDraft(
                number: number, sender: app.audience[Int(world.random(0...Int64(app.audience.count - 1)))],
                category: app.category,
                lifetimeSeconds: lifetimes[Int(world.random(0...Int64(lifetimes.count - 1)))]))
    }

    // MARK: Calm

    /// Plans a few messages after the faults have ended, all of which must arrive.
    static func planCalm(_ world: World) {
        planCalmMany(world)
        planCalmTopics(world)
        for round in 0..<3 {
            world.after(Int64(12 + 12 * round) * 1_000_000_000) {
                sendCalm(1_000_000 + round * 1_000, lifetimeSeconds: 3_600, world)
                if round == 0 { replaceSome(world) }
                if round == 1 { endSome(world) }
                if round == 2 { sendCalm(1_000_000 + 3 * 1_000, lifetimeSeconds: 0, world) }
            }
        }
    }

    /// Sends a message to each app and one from each app.
    private static func sendCalm(_ first: Int, lifetimeSeconds: Int, _ world: World) {
        for (index, device) in world.devices.enumerated() {
            for (place, app) in device.apps.enumerated() {
                guard let name = app.name else { continue }
                let number = (first + index) * 10 + place
                client(app.audience[0], world)?.send(
                    DownstreamDraft(
                        number: number, target: .registration(name), collapseKey: nil,
                        lifetimeSeconds: lifetimeSeconds))
                device.send(
                    UpstreamDraft(
                        number: number, sender: app.audience[0], category: app.category,
                        lifetimeSeconds: lifetimeSeconds))
            }
        }
    }

    /// Has devices connect again while their connection is open.
    private static func replaceSome(_ world: World) {
        for device in world.devices where world.chance(1, in: 2) {
            world.after(5_000_000_000) {
                if let port = device.port, device.isOnline { device.replace(port) }
            }
        }
    }

    /// Ends a connection of each sender while it sends, either drained by the server or closed by the client.
    private static func endSome(_ world: World) {
        for client in world.appServers {
            world.after(world.random(0...60_000_000)) {
                guard let link = client.links.first(where: { $0.isReady && !$0.outstanding.isEmpty }) else {
                    return
                }
                if world.chance(1, in: 2) {
                    link.isOwedAll = world.settings.kind == .sessions && !world.settings.managesStreams
                    client.end(link)
                } else {
                    world.drain([link])
                }
            }
        }
    }
}
