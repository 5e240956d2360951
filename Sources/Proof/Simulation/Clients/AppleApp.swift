import Basics
import Delivery

/// An app on a phone that is reached only through Apple: app servers import its Apple token, and it registers by its installation.
/// Its messages go to `SimulatedApple`, or stay waiting in worlds where nothing goes through Apple.
final class AppleApp {
    private let world: World
    let number: Int
    /// The account that it registers with.
    let sender: SenderID
    let bundle: [UInt8]
    let token: [UInt8]
    private let installation: [UInt8]
    /// Its registrations, with the account of each.
    private(set) var registrations: [RegistrationName: SenderID] = [:]
    var names: [RegistrationName] {
        registrations.keys.sorted { ($0.device, $0.number.number) < ($1.device, $1.number.number) }
    }

    init(_ world: World, number: Int, sender: SenderID) {
        self.world = world
        self.number = number
        self.sender = sender
        bundle = Array("ios\(number % 2).x".utf8)
        token = Array("p_0\(number)".utf8)
        installation = Array("installation0000000\(100 + number)".utf8)
    }

    /// Derives store keys from the Apple token and the bundle.
    private var seal: TokenSeal { world.settings.delivery.seal }

    /// The device that an import by a sender creates.
    func importedDevice(of sender: SenderID) -> DeviceID {
        DeviceID(
            seal.deviceNumber(ofIndexKey: seal.indexKey(ofBundle: bundle, token: token), sender: sender) >> 1)
    }

    /// Registers by its installation.
    func register() {
        let fresh = DeviceID(UInt64(world.random(1 << 59...(.max))))
        ask(installation, sender, fresh, isImport: false) { [self] name in
            world.reached(.installationRegistered)
            world.checkers.imports.registered(name, self, world)
        }
    }

    /// Imports its token for an app server; `answered` gets the registration.
    func importToken(_ sender: SenderID, _ answered: @escaping (RegistrationName) -> Void) {
        let request = world.checkers.imports.requested(self, sender)
        let place = seal.indexKey(ofBundle: bundle, token: token)
        ask(place, sender, importedDevice(of: sender), isImport: true) { [self] name in
            world.reached(.tokenImported)
            world.checkers.imports.imported(name, self, sender, request, world)
            answered(name)
        }
    }

    private func ask(
        _ place: [UInt8], _ sender: SenderID, _ fresh: DeviceID, isImport: Bool,
        _ answered: @escaping (RegistrationName) -> Void
    ) {
        let address = AppleRegistration(
            bundle: bundle, token: token, freshDevice: fresh,
            freshDigest: SimulatedHost.digest(UInt64(world.random(1...(.max)))), isImport: isImport)
        world.checkers.truth.tokens.requested(AppName(device: fresh, category: bundle), audience: [sender])
        let requestedAt = world.clock.nanoseconds
        world.request(
            { requester in
                .installation(
                    InstallationRequest(
                        requester: requester, installation: place, sender: sender, action: .apple(address)))
            },
            { [self] answer in
                guard case .reply(_, .registered(let token)) = answer else { return }
                let name = token.registration
                world.checkers.registered(name, requestedAt: requestedAt, world)
                registrations[name] = sender
                answered(name)
            })
    }
}
