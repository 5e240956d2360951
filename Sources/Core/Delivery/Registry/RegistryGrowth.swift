import Basics

/// Growth of the registry: bounded in total, and per minute for unauthenticated peers.
///
/// The admission check of the shell measures the registry, counts requests of unauthenticated peers by address, and decides what
/// each request may add. Only the core can decide which devices are known and which rows exist already.
extension Turn {
    /// Returns why a request may not add rows, or `nil` if it may. If the quota of unauthenticated peers is used up, only a device
    /// that has logged in may; if the registry is full, no request may. `device` is `nil` for a new device.
    func refusalToAdd(for device: DeviceRecord?, _ requester: Requester) -> RegistrationRefusal? {
        switch requester.growth {
        case .unbounded, .counted: nil
        case .knownOnly: device?.hasLoggedIn == true ? nil : .tooManyUnauthenticated
        case .full: .registryFull
        }
    }

    /// Refunds the quota of unauthenticated peers for a request whose peer has proved to be known.
    mutating func refundQuota(of requester: Requester) {
        guard requester.growth == .counted else { return }
        send(.refundQuota, to: requester.connection)
    }
}

extension Event {
    /// What this request may add to the registry. `nil` if it adds nothing. Each endpoint that makes rows needs a line here to
    /// be bounded.
    public var growth: Requester.Growth? {
        get {
            switch self {
            case .device(_, let event): event.growth
            case .group(_, .requested(let request)) where request.operation.addsRows:
                request.requester?.growth
            case .installation(_, .requested(let request)):
                switch request.action {
                case .vouch(for: let event), .claim(for: let event, by: _): event.growth
                default: request.action.addsRows ? request.requester.growth : nil
                }
            case .group, .sender, .topic, .topicLog, .installation, .partition: nil
            }
        }
        set {
            guard let newValue else { return }
            switch consume self {
            case .device(let device, var event):
                event.growth = newValue
                self = .device(device, event)
            case .group(let sender, .requested(var request)):
                request.requester?.growth = newValue
                self = .group(sender, .requested(request))
            case .installation(let id, .requested(let request)):
                self = .installation(id, .requested(request.with(newValue)))
            case let other: self = other
            }
        }
    }

    /// Whether the request needs no sender account, so that it counts against the quota of unauthenticated peers.
    public var needsNoAccount: Bool {
        switch self {
        case .device(_, .checkIn), .device(_, .register), .device(_, .registerWeb), .device(_, .subscribe):
            true
        case .installation(_, .requested(let request)):
            switch request.action {
            case .vouch(for: let event), .claim(for: let event, by: _): event.needsNoAccount
            case .subscribe, .create: true
            // An import comes from an app server, which has authenticated.
            case .apple(let address): !address.isImport
            case .unsubscribe, .address, .send, .remove, .vouched, .refresh, .end, .revoke, .imported: false
            }
        default: false
        }
    }
}

extension DeviceEvent {
    fileprivate var growth: Requester.Growth? {
        get {
            switch self {
            case .checkIn(let checkIn): checkIn.requester.growth
            case .register(let request): request.requester.growth
            case .registerWeb(let request): request.requester.growth
            case .subscribe(let request) where !request.isEnd: request.requester.growth
            case .token(let request) where request.action.addsRows: request.requester.growth
            case .imported(let rows): rows.requester.growth
            default: nil
            }
        }
        set {
            guard let newValue else { return }
            switch consume self {
            case .checkIn(var checkIn):
                checkIn.requester.growth = newValue
                self = .checkIn(checkIn)
            case .register(var request):
                request.requester.growth = newValue
                self = .register(request)
            case .registerWeb(var request):
                request.requester.growth = newValue
                self = .registerWeb(request)
            case .subscribe(var request):
                request.requester.growth = newValue
                self = .subscribe(request)
            case .token(var request):
                request.requester.growth = newValue
                self = .token(request)
            case .imported(var rows):
                rows.requester.growth = newValue
                self = .imported(rows)
            case let other: self = other
            }
        }
    }
}

extension InstallationRequest {
    /// Returns this request, including the request that it wraps, with its growth set.
    fileprivate func with(_ growth: Requester.Growth) -> InstallationRequest {
        var request = self
        request.requester.growth = growth
        switch request.action {
        case .vouch(for: var event):
            event.growth = growth
            request.action = .vouch(for: event)
        case .claim(for: var event, by: let device):
            event.growth = growth
            request.action = .claim(for: event, by: device)
        default: break
        }
        return request
    }
}

extension InstallationRequest.Action {
    /// Whether it adds rows itself, apart from the request that it wraps.
    fileprivate var addsRows: Bool {
        switch self {
        case .subscribe, .create, .apple, .imported: true
        case .address(let action): action.addsRows
        case .unsubscribe, .send, .remove, .vouch, .claim, .vouched, .refresh, .end, .revoke: false
        }
    }
}

extension TokenRequest.Action {
    fileprivate var addsRows: Bool { if case .subscribe = self { true } else { false } }
}

extension GroupRequest.Operation {
    fileprivate var addsRows: Bool {
        switch self {
        case .create, .add, .imported: true
        case .remove, .find, .show, .reconcile: false
        }
    }
}
