import Basics

/// Topic messages and one device: what is new to it enters its mailbox (http 5).
///
/// A device is sent all messages up to its position in the log, and the position moves in the batch with which the messages enter the
/// mailbox. That happens before anything else is done with the device: so they are in order with its other messages, and its subscriptions
/// are still those of the time of each message, since the position is stored whenever they change.
extension DeviceHub {
    /// Lets the topic messages that are new to a device enter its mailbox.
    mutating func takeTopics(_ entry: DeviceEntry, _ turn: inout Turn) {
        guard entry.topicPosition < feed.log.newest else { return }
        let position = entry.topicPosition
        let places = feed.log.places(after: position, for: entry.registrations)
        entry.moveTopicPosition(to: feed.log.newest)
        var hasTaken = false
        for place in places {
            guard let topic = feed.log[place], !topic.message.isOver(turn), !topic.isSent(by: position)
            else { continue }
            for at in entry.registrations.indices
            // Those who are connected were sent a now-or-never message at once.
            where (topic.message.isStored || entry.registrations[at].registration.usesAPNs)
                && entry.registrations.isMeant(topic.message, at: at)
            {
                hasTaken = true
                take(topic, at: at, entry, &turn)
            }
        }
        if hasTaken { entry.storeTopicPosition(&turn) }
    }

    private mutating func take(_ topic: TopicEntry, at: Int, _ entry: DeviceEntry, _ turn: inout Turn) {
        switch topic.kind {
        case .message: submit(topic.message, at: at, place: topic.sequence, entry, &turn)
        case .discarded(let count, _):
            guard !entry.registrations[at].registration.usesAPNs else { return }
            addMarker(of: count, isDelayed: false, registrationAt: at, entry, &turn)
        }
    }

    private mutating func submit(
        _ message: TopicMessage, at: Int, place: SequenceNumber?, _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        let hasBody = place.map { feed.log.hasBody($0) } ?? true
        var submission = Submission(
            replyTo: .nobody, submitter: nil, sender: message.name.sender,
            target: entry.registrations[at].registration.name, content: message.content(hasBody: hasBody))
        submission.topic = TopicShare(message, hasBody: hasBody, at: place)
        submit(submission, entry, &turn)
    }

    /// A topic message has entered the mailbox of an app instance, or was sent to it at once.
    mutating func countTopic(_ share: TopicShare, _ turn: inout Turn) {
        turn.effects.topicMembers += 1
        if let place = share.sequence { feed.log.countReached(place) }
    }

    // MARK: Connected devices

    /// Lists a device among the connected ones by its subscriptions, or no longer.
    mutating func listTopics(_ entry: DeviceEntry) {
        let keys = entry.link == nil ? [] : entry.topicKeys
        feed.audience.change(entry.device, from: entry.listedTopics, to: keys)
        entry.listedTopics = keys
    }

    /// Returns the connected devices that a message may be for, in order.
    func audience(of message: TopicMessage) -> [DeviceID] {
        feed.audience.devices(for: message)
            ?? table.all.filter { $0.link != nil }.map(\.device).sorted()
    }

    /// Has a connected device sent what is new to it.
    mutating func makeDue(_ device: DeviceID) {
        guard let entry = table[device], !entry.isTopicDue else { return }
        entry.isTopicDue = true
        feed.makeDue(device)
    }

    /// Has connected devices sent what is new to them: some in each batch, so that other messages are not delayed.
    mutating func feedDevices(_ turn: inout Turn) {
        guard !feed.isPaced else { return }
        let before = turn.effects.mutations.count
        var left = turn.shares.topicDevices
        while left > 0 || turn.effects.mutations.count == before, let device = feed.popDue() {
            left -= 1
            guard let entry = table[device] else { continue }
            entry.isTopicDue = false
            // One that is being read takes them afterwards.
            guard entry.state.isReady else { continue }
            whileAwake(entry, &turn) { $0.takeTopics(entry, &$1) }
        }
        guard turn.effects.mutations.count > before else { return feed.log.dropBodies() }
        feed.isPaced = true
        turn.effects.topicJobsOpen += 1
        turn.wait(.topicsDue)
    }

    /// The batch of the last ones is on disk, or has failed.
    mutating func topicsFed(_ turn: inout Turn) {
        feed.isPaced = false
        turn.effects.topicJobsOpen -= 1
        feedDevices(&turn)
    }

    /// Sends a now-or-never message to the connected devices that it is for.
    mutating func deliverNow(_ message: TopicMessage, _ turn: inout Turn) {
        for device in audience(of: message) {
            guard let entry = table[device], entry.state.isReady else { continue }
            whileAwake(entry, &turn) { hub, turn in
                for at in entry.registrations.indices
                where !entry.registrations[at].registration.usesAPNs
                    && entry.registrations.isMeant(message, at: at)
                {
                    hub.submit(message, at: at, place: nil, entry, &turn)
                }
            }
        }
    }
}

extension TopicEntry {
    /// Whether a device at a position has been sent all that the entry stands for.
    func isSent(by position: SequenceNumber) -> Bool {
        if case .discarded(_, let last) = kind { last <= position } else { sequence <= position }
    }
}

extension TopicMessage {
    /// Whether its time is over; a now-or-never message has none.
    fileprivate func isOver(_ turn: borrowing Turn) -> Bool {
        isStored && expiresAt <= turn.now.expiryCutoff
    }
}

extension [RegistrationState] {
    /// Whether a topic message is for one of a device's registrations: its topics meet the condition, and no other instance of the app
    /// has replaced it, which does not inherit its subscriptions.
    func isMeant(_ message: TopicMessage, at: Int) -> Bool {
        let state = self[at]
        guard message.target.holds({ state.topics.contains(message.name.sender, $0) }) else { return false }
        // A condition that holds without topics is for all apps of the sender, and no others.
        guard message.target.truth & 1 == 0 || state.registration.allows(message.name.sender) else {
            return false
        }
        return !self[(at + 1)...].contains {
            !$0.registration.instance.isEmpty && $0.registration.isSameApp(as: state.registration)
        }
    }
}

extension DeviceEntry {
    /// The topics that its registrations subscribe to.
    var topicKeys: [TopicKey] {
        var keys: [TopicKey] = []
        for state in registrations { state.topics.forEachKey { keys.append($0) } }
        return keys
    }
}
