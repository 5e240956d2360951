import Basics
import Delivery

extension DeviceClient {
    /// Checks in and registers until both are done, then connects and disconnects.
    func start() {
        world.after(world.random(1_000_000...2_000_000_000)) { [self] in enrol() }
    }

    private func enrol() {
        guard let identity else { return checkIn() }
        guard let app = apps.firstIndex(where: { $0.name == nil }) else {
            if port == nil, manner != .away || world.isCalm { planConnect() }
            return
        }
        world.checkers.truth.tokens.requested(appName(app, identity), audience: apps[app].audience)
        let senderText = apps[app].senderText
        let requestedAt = world.clock.nanoseconds
        world.request(
            { [self] in .register(request($0, app, identity, senderText: senderText)) },
            { [self] answer in
                if case .reply(_, .registrationRefused(.authenticationFailed)) = answer,
                    world.settings.expiresDevices,
                    self.identity?.device == identity.device
                {
                    return vanish()
                }
                if case .reply(_, .registered(let token)) = answer,
                    self.identity?.device == token.registration.device
                {
                    let name = token.registration
                    world.checkers.registered(name, requestedAt: requestedAt, world)
                    if apps[app].name == nil { apps[app].name = name }
                    if !apps[app].known.contains(name) { apps[app].known.append(name) }
                }
                start()
            })
    }

    private func appName(_ app: Int, _ identity: DeviceIdentity) -> AppName {
        AppName(device: identity.device, category: apps[app].category)
    }

    private func request(
        _ requester: Requester, _ app: Int, _ identity: DeviceIdentity, senderText: [UInt8]
    ) -> RegistrationRequest {
        RegistrationRequest(
            requester: requester, device: identity.device, token: SimulatedHost.digest(identity.token),
            category: apps[app].category, subtype: [], senderText: senderText,
            instance: Array("i\(apps[app].instance)".utf8))
    }

    private func checkIn() {
        let fresh = DeviceIdentity(
            device: DeviceID(UInt64(world.random(1 << 59...(.max)))), token: UInt64(world.random(1...(.max))))
        world.request(
            { requester in
                .checkIn(
                    CheckIn(
                        requester: requester, claimed: nil, freshDevice: fresh.device,
                        freshToken: fresh.token,
                        freshDigest: SimulatedHost.digest(fresh.token), refusesWrongToken: false))
            },
            { [self] answer in
                // Two requests may be in progress; the first answer determines the device.
                if identity == nil, case .reply(_, .checkedIn(fresh.device, fresh.token)) = answer {
                    identity = fresh
                }
                start()
            })
    }

    /// Clears the data of an app: it requests another token, and app servers keep the old one.
    func clear(_ app: Int) {
        guard identity != nil, apps[app].name != nil else { return }
        apps[app].instance += 1
        world.checkers.fanOuts.subscriptions.cleared(apps[app].known, world)
        apps[app].name = nil
        start()
    }

    /// Removes an app from the device and installs it again later.
    func unregister(_ app: Int) {
        guard let identity, apps[app].name != nil else { return }
        apps[app].name = nil
        let names = world.checkers.unregistering(appName(app, identity))
        let texts = [[], apps[app].senderText, Array("*".utf8)]
        let senderText = texts[Int(world.random(0...2))]
        world.request(
            { [self] in .unregister(request($0, app, identity, senderText: senderText)) },
            { [self] answer in
                if case .reply(_, .unregistered) = answer { world.checkers.unregistered(names, world) }
                start()
            })
    }

    /// Has an operator remove the device: it must check in again.
    func forget() {
        guard let identity else { return }
        for app in apps.indices { _ = world.checkers.unregistering(appName(app, identity)) }
        world.checkers.truth.forgotten.insert(identity.device)
        self.identity = nil
        for app in apps.indices { apps[app].name = nil }
        received = []
        unconfirmed = []
        world.request(
            { .forgetDevice(identity.device, $0) },
            { [self] _ in
                isDisturbed = true
                port?.close()
                receive(.lost, port)
                start()
            })
    }
}
