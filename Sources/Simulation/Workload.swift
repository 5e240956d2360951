import Basics
import Delivery

/// Who lives in the world and what they want.
enum Workload {
    /// Makes the clients and plans what they send during the storm.
    static func prepare(_ world: World) {
        let settings = world.settings
        var senders: [SenderID] = []
        for number in 0..<settings.senders {
            let sender = SenderID(UInt64(1_000 + number))
            let password = Array("key \(number)".utf8)
            let key = SimulatedHost.digest(password)
            senders.append(sender)
            world.disk.prepare([
                .putSender(
                    SenderRecord(
                        sender: sender, label: "", keys: [ServerKey(digest: key, createdAt: 0)], createdAt: 0)
                )
            ])
            world.appServers.append(
                AppServerClient(
                    world, sender: sender, password: password, connections: settings.connectionsPerSender))
        }
        for number in 0..<settings.devices {
            let apps = (0..<settings.registrationsPerDevice).map { _ in
                senders[Int(world.random(0...Int64(senders.count - 1)))]
            }
            world.devices.append(DeviceClient(world, number: number, senders: apps))
        }
        for client in world.appServers { client.start() }
        for device in world.devices { device.start() }
        for number in 0..<settings.downstreamMessages {
            world.at(world.random(1...settings.stormNanoseconds)) { sendDown(number, world) }
        }
        for number in 0..<settings.upstreamMessages {
            world.at(world.random(1...settings.stormNanoseconds)) { sendUp(number, world) }
        }
        if world.chance(1, in: 3) {
            world.at(world.random(1...settings.stormNanoseconds)) {
                if !world.isCalm { anyDevice(world).unregister(0) }
            }
        }
        if world.chance(1, in: 6) {
            world.at(world.random(1...settings.stormNanoseconds)) {
                if !world.isCalm { anyDevice(world).forget() }
            }
        }
    }

    /// When everything works again, a little more is sent, which must all get through.
    static func planCalm(_ world: World) {
        for round in 0..<3 {
            world.after(Int64(15 + 15 * round) * 1_000_000_000) {
                for (index, device) in world.devices.enumerated() {
                    let number = 1_000_000 + round * 1_000 + index
                    for (app, sender) in device.senders.enumerated() {
                        if let name = device.names[app],
                            let client = world.appServers.first(where: { $0.sender == sender })
                        {
                            client.send(
                                DownstreamDraft(
                                    number: number * 10 + app, target: name, collapseKey: nil,
                                    lifetimeSeconds: 3_600))
                        }
                        if device.names[app] != nil {
                            device.send(
                                UpstreamDraft(
                                    number: number * 10 + app, sender: sender, category: device.category(app),
                                    lifetimeSeconds: 3_600))
                        }
                    }
                }
            }
        }
    }

    private static func anyDevice(_ world: World) -> DeviceClient {
        world.devices[Int(world.random(0...Int64(world.devices.count - 1)))]
    }

    private static func sendDown(_ number: Int, _ world: World) {
        let device = anyDevice(world)
        let app = Int(world.random(0...Int64(device.senders.count - 1)))
        guard let name = device.knownNames[app],
            let client = world.appServers.first(where: { $0.sender == device.senders[app] })
        else { return }
        let lifetimes = [0, 1, 10, 60, 3_600, Limits.lifetimeSeconds, Limits.lifetimeSeconds]
        client.send(
            DownstreamDraft(
                number: number, target: name,
                collapseKey: world.chance(1, in: 3) ? UInt8(world.random(0...5)) : nil,
                lifetimeSeconds: lifetimes[Int(world.random(0...Int64(lifetimes.count - 1)))],
                wantsReceipt: world.chance(1, in: 3), isDryRun: world.chance(1, in: 30)))
    }

    private static func sendUp(_ number: Int, _ world: World) {
        let device = anyDevice(world)
        let app = Int(world.random(0...Int64(device.senders.count - 1)))
        guard device.names[app] != nil else { return }
        let lifetimes = [0, 5, 3_600, Limits.upstreamLifetimeSeconds]
        device.send(
            UpstreamDraft(
                number: number, sender: device.senders[app], category: device.category(app),
                lifetimeSeconds: lifetimes[Int(world.random(0...Int64(lifetimes.count - 1)))]))
    }
}
