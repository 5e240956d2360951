import Basics

/// Subscriptions to topics (mcs-device 5.4), and requests of installations that name no device.
extension Dispatcher {
    /// A device subscribes one of its registrations, or ends that.
    mutating func subscribe(_ request: TopicRequest, _ now: Now, _ effects: inout Effects) {
        guard let entry = ready(request.name.device, orWait: .subscribe(request), &effects) else { return }
        defer { devices.rest(entry) }
        do throws(RegistrationRefusal) {
            // An unknown device takes as long as a wrong token.
            let expected = entry.record?.token ?? SecretDigest(octets: [UInt8](repeating: 0, count: 32))
            guard expected == request.token, entry.record != nil else { throw .authenticationFailed }
            guard let at = publishedTo(request.name.number, entry) else { throw .notRegistered }
            let sender = entry.registrations[at].registration.sender
            guard sender.number != 0 else { throw .invalidSender }
            try change(
                entry, at, sender, request.topic, isEnd: request.isEnd, request.origin, now, &effects)
        } catch {
            effects.commands.append(
                (request.origin.connection, .registrationRefused(ticket: request.origin.ticket, error)))
        }
    }

    /// The registration that topics reach for one that is named: of a web push endpoint, which belongs to no sender, the newest
    /// that was made beside it with the keys of the first; `sender`: one that this account may send to, if there is any.
    func publishedTo(
        _ number: RegistrationNumber, _ entry: DeviceEntry, for sender: SenderID? = nil
    ) -> Int? {
        guard let at = entry.index(of: number) else { return nil }
        let named = entry.registrations[at].registration
        guard named.sender.number == 0 else { return at }
        let beside = entry.registrations.indices.filter {
            let registration = entry.registrations[$0].registration
            return registration.isOfEndpoint(named) && registration.senderText == named.senderText
        }
        // Others may be a stranger's, who knows the endpoint and not the keys.
        let keys = beside.first.map { entry.registrations[$0].registration.web }
        let own = beside.filter { entry.registrations[$0].registration.web == keys }
        let allowed = own.last { at in sender.map { entry.registrations[at].registration.allows($0) } ?? true
        }
        return allowed ?? own.last ?? at
    }

    /// Makes or ends a subscription, and answers when that is on disk.
    private mutating func change(
        _ entry: DeviceEntry, _ at: Int, _ sender: SenderID, _ topic: TopicName, isEnd: Bool,
        _ origin: Origin, _ now: Now, _ effects: inout Effects
    ) throws(RegistrationRefusal) {
        if isEnd {
            _ = endSubscription(entry, at, sender, topic, &effects)
        } else {
            if entry.record?.hasLoggedIn == true { giveBackPlace(of: origin, &effects) }
            let isThere = entry.registrations[at].hasSubscription(sender, topic)
            if !isThere, let refusal = refusalToAdd(for: entry.record, origin) { throw refusal }
            guard makeSubscription(entry, at, sender, topic, now, &effects) != nil else {
                throw .tooManySubscriptions
            }
        }
        answerOnceSettled(.unregistered(ticket: origin.ticket), entry, origin, &effects)
    }

    /// Ends a subscription; nil if there is none.
    mutating func endSubscription(
        _ entry: DeviceEntry, _ at: Int, _ sender: SenderID, _ topic: TopicName, _ effects: inout Effects
    ) -> Subscription? {
        let name = entry.registrations[at].registration.name
        guard let gone = entry.registrations[at].topics.remove(sender, topic, of: name) else { return nil }
        effects.mutations.append(.removeSubscription(gone))
        touch(entry)
        return gone
    }

    /// Makes a subscription where there is none, and tells whether there was one; nil if the registration has too many.
    mutating func makeSubscription(
        _ entry: DeviceEntry, _ at: Int, _ sender: SenderID, _ topic: TopicName, _ now: Now,
        _ effects: inout Effects
    ) -> (subscription: Subscription, wasThere: Bool)? {
        let name = entry.registrations[at].registration.name
        if let known = entry.registrations[at].topics.find(sender, topic, of: name) { return (known, true) }
        guard entry.registrations[at].topics.count < settings.subscriptionsPerRegistration else {
            return nil
        }
        let made = Subscription(name: name, sender: sender, topic: topic, since: now.wall)
        entry.registrations[at].topics.insert(made)
        effects.mutations.append(.putSubscription(made))
        touch(entry)
        return (made, false)
    }

    /// Answers when all that changed the device so far is on disk.
    mutating func answerOnceSettled(
        _ answer: SessionCommand, orFailed failure: SessionCommand? = nil, _ entry: DeviceEntry,
        _ origin: Origin, _ effects: inout Effects
    ) {
        let waiter = Waiter.request(
            origin.connection, success: answer,
            failure: failure ?? .registrationRefused(ticket: origin.ticket, .serviceNotAvailable))
        if entry.isTouched {
            turn.waiters.append(waiter)
        } else if entry.batchesInFlight == 0 || !ledger.wait(waiter, for: ledger.nextTicket - 1) {
            effects.commands.append((origin.connection, answer))
        }
    }

    /// What goes with a registration: its subscriptions, and the way to it from its installation.
    mutating func removeBelongings(
        of number: RegistrationNumber, _ entry: DeviceEntry, _ effects: inout Effects
    ) {
        guard let at = entry.index(of: number) else { return }
        let registration = entry.registrations[at].registration
        for subscription in entry.registrations[at].topics.all(of: registration.name) {
            effects.mutations.append(.removeSubscription(subscription))
        }
        for place in places(of: registration) {
            effects.mutations.append(.unlinkInstallation(place, registration.name))
        }
    }

    // MARK: Installations

    mutating func installationLoaded(
        _ installation: [UInt8], _ record: InstallationRecord?, _ names: [RegistrationName],
        _ effects: inout Effects
    ) {
        guard var request = waitingInstallations.take(installation) else { return }
        do throws(RegistrationRefusal) { try admit(&request, record) } catch {
            return refuse(request, error, &effects)
        }
        switch request.action {
        case .vouch(let event): return effects.forwards.append(event)
        case .claim(let event, let device):
            guard record == nil, names.allSatisfy({ $0.device == device }) else {
                return refuse(request, .authenticationFailed, &effects)
            }
            return effects.forwards.append(event)
        default: break
        }
        guard let first = names.first else {
            if case .apple(let address) = request.action {
                return effects.forwards.append(.installationFound(request, [], at: address.freshDevice))
            }
            // What is not there need not be removed.
            guard case .remove = request.action else { return refuse(request, .notRegistered, &effects) }
            let answer = SessionCommand.unregistered(ticket: request.origin.ticket)
            effects.commands.append((request.origin.connection, answer))
            return
        }
        effects.forwards.append(
            .installationFound(request, names, at: request.imported(among: names)?.device ?? first.device))
    }

    /// The registrations of an installation are known, and this device has the first of them.
    mutating func installationFound(
        _ request: InstallationRequest, _ names: [RegistrationName], at device: DeviceID, _ now: Now,
        _ effects: inout Effects
    ) {
        let event = Event.installationFound(request, names, at: device)
        guard let entry = ready(device, orWait: event, &effects) else { return }
        defer { devices.rest(entry) }
        switch request.action {
        case .remove: remove(names, of: entry, request, &effects)
        case .apple(let address): note(address, of: names, entry, request, now, &effects)
        case .subscribe(let topic): change(names, of: entry, topic, isEnd: false, request, now, &effects)
        case .unsubscribe(let topic): change(names, of: entry, topic, isEnd: true, request, now, &effects)
        case .address(let action): address(action, names, of: entry, request, now, &effects)
        case .send(let submission): send(submission, names, of: entry, request, &effects)
        case .create(let offer): vouch(offer, entry, request, &effects)
        // These have no business with a device.
        case .vouch, .claim, .vouched, .refresh, .end, .revoke, .expire: break
        }
    }

    /// Subscribes the newest registration that the installation has with the sender. An id that several devices have was
    /// copied with the app's data: each of them shows the same token, so all are meant, one after the other.
    private mutating func change(
        _ names: [RegistrationName], of entry: DeviceEntry, _ topic: TopicName, isEnd: Bool,
        _ request: InstallationRequest, _ now: Now, _ effects: inout Effects
    ) {
        let at = entry.registrations.lastIndex {
            serves($0.registration, request)
                && (request.sender.number == 0 || $0.registration.allows(request.sender))
        }
        let others = names.filter { $0.device != entry.device }
        do throws(RegistrationRefusal) {
            guard let at else {
                guard let next = others.first else { throw .notRegistered }
                effects.forwards.append(.installationFound(request, others, at: next.device))
                return
            }
            let sender =
                request.sender.number == 0 ? entry.registrations[at].registration.sender : request.sender
            guard sender.number != 0 else { throw .invalidSender }
            try change(entry, at, sender, topic, isEnd: isEnd, request.origin, now, &effects)
        } catch {
            refuse(request, error, &effects)
        }
    }

    private mutating func remove(
        _ names: [RegistrationName], of entry: DeviceEntry, _ request: InstallationRequest,
        _ effects: inout Effects
    ) {
        for registration in entry.registrations.map(\.registration)
        where serves(registration, request) {
            _ = removeRegistration(registration.name.number, entry, &effects)
        }
        let others = names.filter { $0.device != entry.device }
        guard let next = others.first else {
            let answer = SessionCommand.unregistered(ticket: request.origin.ticket)
            return answerOnceSettled(answer, entry, request.origin, &effects)
        }
        let event = Event.installationFound(request, others, at: next.device)
        guard entry.isTouched else { return effects.forwards.append(event) }
        turn.waiters.append(.next(event, request.origin))
    }

    func refuse(
        _ request: InstallationRequest, _ refusal: RegistrationRefusal, _ effects: inout Effects
    ) {
        switch request.action {
        case .send:
            return refuseSend(request, refusal == .notRegistered ? .notRegistered : .unavailable, &effects)
        // Nobody waits for it.
        case .expire: return
        default: break
        }
        effects.commands.append(
            (request.origin.connection, .registrationRefused(ticket: request.origin.ticket, refusal)))
    }
}

extension RegistrationState {
    /// Whether it is subscribed to a topic of a sender.
    func hasSubscription(_ sender: SenderID, _ topic: TopicName) -> Bool {
        topics.find(sender, topic, of: registration.name) != nil
    }
}

extension InstallationRequest {
    /// The registration that an earlier import has made, which is answered again whatever the app has registered since.
    fileprivate func imported(among names: [RegistrationName]) -> RegistrationName? {
        guard case .apple(let address) = action, address.isImport else { return nil }
        return names.first { $0.device == address.freshDevice }
    }
}

/// Requests of installations whose registrations the store has been asked for.
struct WaitingInstallations {
    /// By installation, oldest first.
    private var requests: [[UInt8]: [InstallationRequest]] = [:]
    /// How many there are.
    private(set) var count = 0

    mutating func append(_ request: InstallationRequest) {
        requests[request.installation, default: []].append(request)
        count += 1
    }

    /// The oldest one of an installation.
    mutating func take(_ installation: [UInt8]) -> InstallationRequest? {
        guard let first = requests[installation]?.first else { return nil }
        if requests[installation]?.count == 1 {
            requests[installation] = nil
        } else {
            requests[installation]?.removeFirst()
        }
        count -= 1
        return first
    }
}

extension Registration {
    /// The Firebase installation that it was made for: where the instance has the form of one.
    public var installation: [UInt8]? {
        guard instance.count == InstallationToken.idLength,
            instance.allSatisfy({ octet in
                switch octet {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
                default: false
                }
            })
        else { return nil }
        return instance
    }
}
