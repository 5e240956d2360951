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
            guard let share = feed.log.share(of: place), !share.isOver(turn),
                !share.kind.isSent(place, by: position)
            else { continue }
            for at in entry.registrations.indices
            // Those who are connected were sent a now-or-never message at once.
            where (share.isStored || entry.registrations[at].registration.usesAPNs)
                && entry.registrations.isMeant(share.target, of: share.sender, at: at)
            {
                hasTaken = true
                take(share, at: at, entry, &turn)
            }
        }
        if hasTaken { entry.storeTopicPosition(&turn) }
    }

    private mutating func take(_ share: TopicShare, at: Int, _ entry: DeviceEntry, _ turn: inout Turn) {
        switch share.kind {
        case .message: submit(share, at: at, entry, &turn)
        case .discarded(let count, _):
            guard !entry.registrations[at].registration.usesAPNs else { return }
            addMarker(of: count, isDelayed: false, registrationAt: at, entry, &turn)
        }
    }

    private mutating func submit(
        _ share: TopicShare, at: Int, _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        var submission = Submission(
            replyTo: .nobody, submitter: nil, sender: share.sender,
            target: entry.registrations[at].registration.name,
            content: entry.registrations[at].registration.usesAPNs ? share.apple : share.plain)
        submission.topic = share
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
    mutating func makeDue(_ device: DeviceID, _ turn: inout Turn) {
        guard let entry = table[device], !entry.isTopicDue else { return }
        entry.isTopicDue = true
        if feed.makeDue(device) { turn.effects.topicJobsOpen += 1 }
    }

    /// Has connected devices sent what is new to them, when it is the partition's turn: some in each batch, so that other messages are not
    /// delayed.
    mutating func feedDevices(_ turn: inout Turn) {
        guard feed.sending == .due else { return }
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
        let isStored = turn.effects.mutations.count == before
        if !isStored { turn.wait(.topicsDue) }
        topicsFed(isStored: isStored, &turn)
    }

    /// Some have been sent it; `isStored`: their batch is on disk, or has failed, or there is none.
    mutating func topicsFed(isStored: Bool = true, _ turn: inout Turn) {
        if feed.sent(isStored: isStored) { turn.effects.topicJobsOpen -= 1 }
    }

    /// Sends a now-or-never message to the connected devices that it is for.
    mutating func deliverNow(_ message: TopicMessage, _ turn: inout Turn) {
        let share = TopicShare(message, hasBody: true, at: nil)
        var reached: UInt64 = 0
        for device in audience(of: message) {
            guard let entry = table[device], entry.state.isReady else { continue }
            whileAwake(entry, &turn) { hub, turn in
                for at in entry.registrations.indices
                where !entry.registrations[at].registration.usesAPNs
                    && entry.registrations.isMeant(share.target, of: share.sender, at: at)
                {
                    hub.submit(share, at: at, entry, &turn)
                    reached += 1
                }
            }
        }
        turn.recordReach(message, reached, .sent, .now)
    }
}

extension TopicEntry.Kind {
    /// Whether a device at a position has been sent all that an entry at a place stands for.
    func isSent(_ place: SequenceNumber, by position: SequenceNumber) -> Bool {
        if case .discarded(_, let last) = self { last <= position } else { place <= position }
    }
}

extension TopicShare {
    /// Whether its time is over; a now-or-never message has none.
    fileprivate func isOver(_ turn: borrowing Turn) -> Bool {
        isStored && expiresAt <= turn.now.expiryCutoff
    }
}

extension [RegistrationState] {
    /// Whether a topic message is for one of a device's registrations: its topics meet the condition, and no other instance of the app
    /// has replaced it. One that is replaced has no topics.
    func isMeant(_ target: TopicTarget, of sender: SenderID, at: Int) -> Bool {
        // Read field by field, since a copy of the state would count a dozen references.
        guard target.holds({ self[at].topics.contains(sender, $0) }) else { return false }
        // A condition that holds without topics is for all apps of the sender, and no others.
        guard target.truth & 1 == 1 else { return true }
        guard self[at].registration.allows(sender) else { return false }
        return !self[(at + 1)...].contains { $0.registration.replaces(self[at].registration) }
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
