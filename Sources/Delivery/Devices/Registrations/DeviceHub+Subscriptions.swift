import Basics

/// Subscriptions to topics (mcs-device 5.4).
extension DeviceHub {
    /// A device subscribes one of its registrations, or ends that.
    mutating func subscribe(_ request: TopicRequest, _ entry: DeviceEntry, _ turn: inout Turn) {
        do throws(RegistrationRefusal) {
            guard entry.record(ofToken: request.token) != nil else { throw .authenticationFailed }
            guard let at = publishedTo(request.name.number, entry) else { throw .notRegistered }
            guard let sender = entry.registrations[at].registration.sender else { throw .invalidSender }
            try changeSubscription(
                entry, at, sender, request.topic, isEnd: request.isEnd, request.origin, &turn)
        } catch {
            turn.refuse(request.origin, error)
        }
    }

    /// The registration that topics reach for one that is named: of a web push endpoint, which belongs to no sender, the newest
    /// that was made beside it with the keys of the first; `sender`: one that this account may send to, if there is any.
    func publishedTo(
        _ number: RegistrationNumber, _ entry: DeviceEntry, for sender: SenderID? = nil
    ) -> Int? {
        guard let at = entry.index(of: number) else { return nil }
        let named = entry.registrations[at].registration
        guard named.sender == nil else { return at }
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
    mutating func changeSubscription(
        _ entry: DeviceEntry, _ at: Int, _ sender: SenderID, _ topic: TopicName, isEnd: Bool,
        _ origin: Origin, _ turn: inout Turn
    ) throws(RegistrationRefusal) {
        if isEnd {
            _ = endSubscription(entry, at, sender, topic, &turn)
        } else {
            if entry.record?.hasLoggedIn == true { turn.giveBackPlace(of: origin) }
            let isThere = entry.registrations[at].hasSubscription(sender, topic)
            if !isThere, let refusal = turn.refusalToAdd(for: entry.record, origin) { throw refusal }
            guard makeSubscription(entry, at, sender, topic, &turn) != nil else {
                throw .tooManySubscriptions
            }
        }
        answerOnceSettled(.unregistered, entry, origin, &turn)
    }

    /// Ends a subscription; nil if there is none.
    mutating func endSubscription(
        _ entry: DeviceEntry, _ at: Int, _ sender: SenderID, _ topic: TopicName, _ turn: inout Turn
    ) -> Subscription? {
        let name = entry.registrations[at].registration.name
        guard let gone = entry.registrations[at].topics.remove(sender, topic, of: name) else { return nil }
        turn.demand(
            entry.registrations[at].topics.count >= 0, "more subscriptions end than there are", of: entry)
        turn.write(.removeSubscription(gone))
        turn.touch(entry)
        return gone
    }

    /// Makes a subscription where there is none, and tells whether there was one; nil if the registration has too many.
    mutating func makeSubscription(
        _ entry: DeviceEntry, _ at: Int, _ sender: SenderID, _ topic: TopicName, _ turn: inout Turn
    ) -> (subscription: Subscription, wasThere: Bool)? {
        let name = entry.registrations[at].registration.name
        if let known = entry.registrations[at].topics.find(sender, topic, of: name) { return (known, true) }
        guard entry.registrations[at].topics.count < turn.settings.subscriptionsPerRegistration else {
            return nil
        }
        let made = Subscription(name: name, sender: sender, topic: topic, since: turn.now.wall)
        let before = entry.registrations[at].topics.count
        entry.registrations[at].topics.insert(made)
        turn.demand(
            entry.registrations[at].topics.count == before + 1, "a subscription was there already", of: entry)
        turn.write(.putSubscription(made))
        turn.touch(entry)
        return (made, false)
    }

    /// Answers when all that changed the device so far is on disk.
    mutating func answerOnceSettled(
        _ answer: RequestReply, orFailed failure: RequestReply = .registrationRefused(.serviceNotAvailable),
        _ entry: DeviceEntry, _ origin: Origin, _ turn: inout Turn
    ) {
        guard waitUntilSettled(.reply(origin, answer, orFailed: failure), entry, &turn) else {
            return turn.reply(answer, to: origin)
        }
    }

    /// Keeps what waits until all that changed the device so far is on disk, or has failed. Returns `false` if nothing is on its way.
    mutating func waitUntilSettled(_ waiter: DeviceWaiter, _ entry: DeviceEntry, _ turn: inout Turn) -> Bool {
        if entry.isTouched {
            turn.wait(.device(entry, waiter))
            return true
        }
        guard entry.batchesInFlight > 0 else { return false }
        let isOpen = entry.lastBatch.map { turn.ledger.wait(.device(entry, waiter), for: $0) } ?? false
        if !turn.demand(isOpen, "the last batch of a device is answered before those before it", of: entry) {
            settle(waiter, of: entry, CommitOutcome(ticket: 0, hasFailed: true), &turn)
        }
        return true
    }

    /// What goes with a registration: its subscriptions, and the way to it from its installation.
    mutating func removeBelongings(_ at: Int, _ entry: DeviceEntry, _ turn: inout Turn) {
        let registration = entry.registrations[at].registration
        for subscription in entry.registrations[at].topics.all(of: registration.name) {
            turn.write(.removeSubscription(subscription))
        }
        for place in turn.settings.places(of: registration) {
            turn.write(.unlinkInstallation(place, registration.name))
        }
    }
}

extension RegistrationState {
    /// Whether it is subscribed to a topic of a sender.
    func hasSubscription(_ sender: SenderID, _ topic: TopicName) -> Bool {
        topics.find(sender, topic, of: registration.name) != nil
    }
}
