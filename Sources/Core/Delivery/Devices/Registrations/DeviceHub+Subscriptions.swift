import Basics

/// Subscriptions to topics (mcs-device 5.4).
extension DeviceHub {
    /// Subscribes one of the device's registrations to a topic, or ends the subscription.
    mutating func subscribe(_ request: TopicRequest, _ entry: DeviceEntry, _ turn: inout Turn) {
        do throws(RegistrationRefusal) {
            guard entry.record(ofToken: request.token) != nil else { throw .authenticationFailed }
            guard let at = subscriber(to: request.name.number, entry, &turn) else { throw .notRegistered }
            guard let sender = entry.registrations[at].registration.sender else { throw .invalidSender }
            try changeSubscription(
                to: request.topic, of: sender, isEnd: request.isEnd, at: at, entry, for: request.requester,
                &turn)
        } catch {
            turn.refuseRequest(request.requester, error)
        }
    }

    /// Returns the index of the registration that has the subscriptions made with a token: the registration itself, one that was made from it,
    /// or one that has replaced either. Returns `nil` if the token does not exist, or no longer works.
    func subscriber(
        to number: RegistrationNumber, _ entry: DeviceEntry, for sender: SenderID? = nil, _ turn: inout Turn
    ) -> Int? {
        publishedTo(number, entry, for: sender).flatMap { canonical(of: $0, entry, &turn) }
    }

    /// Returns the index of the registration that receives topic messages for the named one.
    ///
    /// For a web push endpoint, which belongs to no sender, that is the newest registration made from it with the same keys as the
    /// first, preferably one that `sender` may send to.
    private func publishedTo(
        _ number: RegistrationNumber, _ entry: DeviceEntry, for sender: SenderID? = nil
    ) -> Int? {
        guard let at = entry.index(of: number) else { return nil }
        let named = entry.registrations[at].registration
        guard named.sender == nil else { return at }
        let beside = entry.registrations.indices.filter {
            let registration = entry.registrations[$0].registration
            return registration.isOfEndpoint(named) && registration.senderText == named.senderText
        }
        // Other registrations may come from an attacker, who has the endpoint but not the keys.
        let keys = beside.first.map { entry.registrations[$0].registration.web }
        let own = beside.filter { entry.registrations[$0].registration.web == keys }
        let allowed = own.last { at in sender.map { entry.registrations[at].registration.allows($0) } ?? true
        }
        return allowed ?? own.last ?? at
    }

    /// Makes or ends a subscription, and answers when the change is on disk.
    mutating func changeSubscription(
        to topic: TopicName, of sender: SenderID, isEnd: Bool, at: Int, _ entry: DeviceEntry,
        for requester: Requester, _ turn: inout Turn
    ) throws(RegistrationRefusal) {
        if isEnd {
            _ = endSubscription(to: topic, of: sender, at: at, entry, &turn)
        } else {
            if entry.record?.hasLoggedIn == true { turn.refundQuota(of: requester) }
            let isThere = entry.registrations[at].topics.contains(sender, topic)
            if !isThere, let refusal = turn.refusalToAdd(for: entry.record, requester) { throw refusal }
            guard makeSubscription(to: topic, of: sender, at: at, entry, &turn) != nil else {
                throw .tooManySubscriptions
            }
        }
        answerOnceCommitted(.unregistered, entry, to: requester, &turn)
    }

    /// Ends a subscription. Returns `nil` if there is none.
    mutating func endSubscription(
        to topic: TopicName, of sender: SenderID, at: Int, _ entry: DeviceEntry, _ turn: inout Turn
    ) -> Subscription? {
        guard let gone = entry.update(at, { $0.topics.remove(sender, topic, of: $0.registration.name) })
        else { return nil }
        entry.storeTopicPosition(&turn)
        turn.write(.removeSubscription(gone), of: entry)
        if entry.registrations[at].registration.usesAPNs { turn.write(.unlistForGateway(gone)) }
        listTopics(entry)
        return gone
    }

    /// Adds a subscription that is not there.
    mutating func add(_ subscription: Subscription, at: Int, _ entry: DeviceEntry, _ turn: inout Turn) {
        entry.update(at) { $0.topics.insert(subscription) }
        entry.storeTopicPosition(&turn)
        turn.write(.putSubscription(subscription), of: entry)
        if entry.registrations[at].registration.usesAPNs { turn.write(.listForGateway(subscription)) }
        listTopics(entry)
    }

    /// Makes a subscription if there is none. Returns it, and whether it existed; `nil` if the registration has too many.
    mutating func makeSubscription(
        to topic: TopicName, of sender: SenderID, at: Int, _ entry: DeviceEntry, _ turn: inout Turn
    ) -> (subscription: Subscription, wasThere: Bool)? {
        let name = entry.registrations[at].registration.name
        if let known = entry.registrations[at].topics.find(sender, topic, of: name) { return (known, true) }
        guard entry.registrations[at].topics.count < turn.settings.subscriptionsPerRegistration else {
            return nil
        }
        let made = Subscription(name: name, sender: sender, topic: topic, since: turn.now.wall)
        add(made, at: at, entry, &turn)
        return (made, false)
    }

    /// Answers when all previous changes of the device are on disk.
    mutating func answerOnceCommitted(
        _ answer: RequestReply, orFailed failure: RequestReply = .registrationRefused(.serviceNotAvailable),
        _ entry: DeviceEntry, to requester: Requester, _ turn: inout Turn
    ) {
        let waiter = DeviceWaiter.reply(requester, answer, orFailed: failure)
        if !waitUntilCommitted(waiter, entry, &turn) { turn.reply(answer, to: requester) }
    }

    /// Queues a waiter until all previous changes of the device are committed or have failed. Returns `false` if there are none.
    mutating func waitUntilCommitted(_ waiter: DeviceWaiter, _ entry: DeviceEntry, _ turn: inout Turn) -> Bool
    {
        if entry.batches.isTouched {
            turn.wait(.device(entry, waiter))
            return true
        }
        guard entry.batches.inFlight > 0 else { return false }
        let isOpen = entry.batches.last.map { turn.ledger.wait(.device(entry, waiter), for: $0) } ?? false
        if !turn.demand(isOpen, "the last batch of a device is committed before earlier ones", of: entry) {
            finish(waiter, of: entry, CommitOutcome(batchNumber: 0, hasFailed: true), &turn)
        }
        return true
    }

    /// Removes the subscriptions and lookup keys of a registration from the store.
    mutating func removeBelongings(_ at: Int, _ entry: DeviceEntry, _ turn: inout Turn) {
        let registration = entry.registrations[at].registration
        for subscription in entry.registrations[at].topics.all(of: registration.name) {
            turn.write(.removeSubscription(subscription))
            if registration.usesAPNs { turn.write(.unlistForGateway(subscription)) }
        }
        for place in registration.lookupKeys(turn.settings.seal) {
            turn.write(.unlinkInstallation(place, registration.name))
        }
        if let feedback = APNsFeedback(registration) { turn.write(.removeFeedback(feedback)) }
    }
}
