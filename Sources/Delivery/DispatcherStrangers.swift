import Basics

/// What those who are not known yet may add to the registry.
///
/// The door counts requests by address and says what each may add; who is known is known here alone.
extension Dispatcher {
    /// Whether a request may add rows: where strangers have had all their places, only for a device that has logged in; nil is
    /// a new one.
    func mayAdd(for device: DeviceRecord?, _ origin: Origin) -> Bool {
        origin.growth != .knownOnly || device?.hasLoggedIn == true
    }

    /// Has the door told that a request was no stranger's.
    func giveBackPlace(of origin: Origin, _ effects: inout Effects) {
        guard origin.growth == .counted else { return }
        effects.commands.append((origin.connection, .placeUnused))
    }
}

extension Event {
    /// What this request may add to the registry, if anybody can ask for it without an account: an endpoint that makes
    /// something for strangers is counted with all others by its line here.
    public var strangersGrowth: Origin.Growth? {
        get {
            switch self {
            case .checkIn(let checkIn): checkIn.origin.growth
            case .register(let request): request.origin.growth
            case .registerWeb(let request): request.origin.growth
            case .subscribe(let request) where !request.isEnd: request.origin.growth
            case .installation(let request):
                switch request.action {
                case .vouch(for: let event), .claim(for: let event, by: _): event.strangersGrowth
                default: request.action.isStrangers ? request.origin.growth : nil
                }
            default: nil
            }
        }
        set {
            guard let newValue else { return }
            switch consume self {
            case .checkIn(var checkIn):
                checkIn.origin.growth = newValue
                self = .checkIn(checkIn)
            case .register(var request):
                request.origin.growth = newValue
                self = .register(request)
            case .registerWeb(var request):
                request.origin.growth = newValue
                self = .registerWeb(request)
            case .subscribe(var request):
                request.origin.growth = newValue
                self = .subscribe(request)
            case .installation(var request):
                request.origin.growth = newValue
                switch request.action {
                case .vouch(for: var event):
                    event.strangersGrowth = newValue
                    request.action = .vouch(for: event)
                case .claim(for: var event, by: let device):
                    event.strangersGrowth = newValue
                    request.action = .claim(for: event, by: device)
                default: break
                }
                self = .installation(request)
            case let other: self = other
            }
        }
    }
}

extension InstallationRequest.Action {
    /// Whether it adds something, and an app asks for it, which may be anybody's; an import is an app server's.
    fileprivate var isStrangers: Bool {
        switch self {
        case .subscribe, .create: true
        case .apple(let address): !address.isImport
        case .unsubscribe, .address, .send, .remove, .vouch, .claim, .vouched, .refresh, .end, .revoke,
            .expire:
            false
        }
    }
}
