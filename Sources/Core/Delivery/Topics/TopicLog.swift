import Basics

/// A topic of a sender. Equal names of different senders are unrelated.
struct TopicKey: Hashable {
    let sender: SenderID
    let topic: TopicName
}

extension TopicMessage {
    /// Returns one of the topics that it names.
    func key(_ at: Int) -> TopicKey { TopicKey(sender: name.sender, topic: target.topics[at]) }
}

/// The live topic messages for the devices of a partition, oldest first (http 5): those that are stored, and now-or-never messages
/// while iOS apps are looked for.
///
/// A message is here once, however many devices it is for. It is found by the topics that lead to all its recipients
/// (`TopicTarget.passes`), so that what a device has to be sent is found by its subscriptions.
struct TopicLog {
    private var entries: [SequenceNumber: TopicEntry] = [:]
    /// The places of the messages that a topic leads to, ascending.
    private var places: [TopicKey: [SequenceNumber]] = [:]
    /// The places of the messages that also reach app instances without topics, ascending.
    private var placesOfAll: [SenderID: [SequenceNumber]] = [:]
    /// The newest place that ever had a message, as far as is known. A device whose position it is has nothing to be sent.
    private(set) var newest = SequenceNumber(0)
    /// The messages whose pairs are in memory, oldest first, also some that are gone; and the bytes of the pairs.
    private var fresh: [SequenceNumber] = []
    private var freshBytes = 0
    /// What is the same for all recipients of a message, of some that have had one.
    private var shares: [SequenceNumber: TopicShare] = [:]
    /// No message expires earlier.
    private var earliestEnd = UnixMilliseconds.max
    /// Messages whose progress is not in the store yet.
    private var noted: Set<SequenceNumber> = []

    /// Number of live messages.
    var count: Int { entries.count }

    subscript(place: SequenceNumber) -> TopicEntry? { entries[place] }

    // MARK: Changes

    /// Adds a message that is on disk, with the highest place. The newest pairs stay in memory, of up to `bodyBytes` in all.
    mutating func append(_ entry: TopicEntry, bodyBytes: Int) {
        let place = entry.sequence
        entries[place] = entry
        newest = max(newest, place)
        if entry.message.isStored { earliestEnd = min(earliestEnd, entry.message.expiresAt) }
        for pass in entry.message.target.passes {
            switch pass {
            case .topic(let at): places[entry.message.key(at), default: []].append(place)
            case .everyone: placesOfAll[entry.message.name.sender, default: []].append(place)
            }
        }
        guard entry.message.isStored, entry.message.bodyBytes > 0 else { return }
        fresh.append(place)
        freshBytes += entry.message.bodyBytes
        if freshBytes > bodyBytes { dropOldestBodies(to: bodyBytes / 8 * 7) }
        if fresh.count > 2 * entries.count { fresh.removeAll { entries[$0] == nil } }
    }

    /// Gives back the memory of the oldest pairs: of those that are too many, and some more, so that it is not done for each message.
    private mutating func dropOldestBodies(to limit: Int) {
        var dropped = 0
        while freshBytes > limit, dropped < fresh.count {
            let place = fresh[dropped]
            dropped += 1
            guard var message = entries[place]?.message else { continue }
            freshBytes -= message.bodyBytes
            message.body = []
            message.apns = message.apns.map { _ in [] }
            entries[place]?.message = message
            shares[place] = nil
        }
        fresh.removeFirst(dropped)
    }

    /// Returns what is the same for all recipients of a message; `nil` if it is not there.
    mutating func share(of place: SequenceNumber) -> TopicShare? {
        if let share = shares[place] { return share }
        guard let entry = entries[place] else { return nil }
        // The pairs of a message that has none are the same as none.
        let hasBody = entry.message.bodyBytes > 0 || !entry.message.isStored
        let share = TopicShare(entry.message, kind: entry.kind, hasBody: hasBody, at: place)
        if shares.count >= Limits.Topic.sharesKept { shares.removeAll(keepingCapacity: true) }
        shares[place] = share
        return share
    }

    /// Removes a message. Returns `false` if it is not there.
    @discardableResult mutating func remove(_ place: SequenceNumber) -> Bool {
        guard let entry = entries.removeValue(forKey: place) else { return false }
        noted.remove(place)
        shares[place] = nil
        if entry.message.isStored { freshBytes -= entry.message.bodyBytes }
        for pass in entry.message.target.passes {
            switch pass {
            case .topic(let at): Self.remove(place, from: &places, entry.message.key(at))
            case .everyone: Self.remove(place, from: &placesOfAll, entry.message.name.sender)
            }
        }
        return true
    }

    private static func remove<Key>(
        _ place: SequenceNumber, from lists: inout [Key: [SequenceNumber]], _ key: Key
    ) {
        guard let at = lists[key].flatMap({ list in list.firstIndex(of: place) }) else { return }
        lists[key]?.remove(at: at)
        if lists[key]?.isEmpty == true { lists[key] = nil }
    }

    /// A message has entered the mailbox of an app instance.
    mutating func countReached(_ place: SequenceNumber) {
        guard let at = entries.index(forKey: place) else { return }
        entries.values[at].progress.reached += 1
        if entries.values[at].message.isStored { noted.insert(place) }
    }

    /// All iOS apps have been found that a message is for.
    mutating func offered(_ place: SequenceNumber) {
        guard entries[place] != nil else { return }
        entries[place]?.progress.isOffered = true
        noted.insert(place)
    }

    /// Removes and returns the progress that is to be stored.
    mutating func takeNoted() -> [(SequenceNumber, TopicProgress)] {
        guard !noted.isEmpty else { return [] }
        defer { noted.removeAll(keepingCapacity: true) }
        return noted.sorted().compactMap { place in entries[place].map { (place, $0.progress) } }
    }

    /// Returns the messages whose time is over.
    mutating func over(by cutoff: UnixMilliseconds) -> [SequenceNumber] {
        guard earliestEnd <= cutoff else { return [] }
        earliestEnd = .max
        var over: [SequenceNumber] = []
        for (place, entry) in entries where entry.message.isStored {
            if entry.message.expiresAt <= cutoff {
                over.append(place)
            } else {
                earliestEnd = min(earliestEnd, entry.message.expiresAt)
            }
        }
        return over.sorted()
    }

    // MARK: Searches

    /// Returns the messages that a new one ends: of the same collapse key to the same recipients, and those that it stands for.
    /// An empty key is the name of each app, which the mailboxes decide on.
    func ended(by entry: TopicEntry) -> [SequenceNumber] {
        let message = entry.message
        if case .discarded(_, let last) = entry.kind {
            return stored(list(of: message)).filter { $0 <= last }
        }
        guard let key = message.collapseKey, !key.isEmpty else { return [] }
        return list(of: message).filter {
            let known = entries[$0]?.message
            return known?.collapseKey == key && known?.target == message.target
                && known?.restrictedPackage == message.restrictedPackage
        }
    }

    /// Returns what stands for the messages that are discarded because a new one is too many; `nil` if there is room.
    ///
    /// They are the older half of those that lead to the topic of the new one or, if there are too many of all topics, to the one that has
    /// most: a device that has not been sent them has had more to be sent than its mailbox takes.
    func surplus(
        with message: TopicMessage, perTopic: Int, liveTopics: Int
    ) -> (target: TopicMessage, count: Int, through: SequenceNumber)? {
        var list = list(of: message)
        var topic: TopicName? =
            if case .topic(let at) = message.target.passes.first { message.target.topics[at] } else { nil }
        if list.count >= perTopic { list = stored(list) }
        if list.count < perTopic {
            guard count >= liveTopics else { return nil }
            for (key, other) in places where isLonger(other, key.topic, than: list, topic) {
                (list, topic) = (other, key.topic)
            }
            for other in placesOfAll.values where isLonger(other, nil, than: list, topic) {
                (list, topic) = (other, nil)
            }
            list = stored(list)
        }
        guard !list.isEmpty, var target = entries[list[list.count / 2]]?.message else { return nil }
        if let topic { target.target = TopicTarget(topic) }
        // With what stands for the half before, which is in the middle.
        let older = list[...(list.count / 2)]
        let count = older.reduce(0) { total, place in
            if case .discarded(let count, _) = entries[place]?.kind { total + count } else { total + 1 }
        }
        return (target, count, older[older.endIndex - 1])
    }

    /// Whether one list is longer than another. Of two equally long ones, one is always the longer one.
    private func isLonger(
        _ list: [SequenceNumber], _ topic: TopicName?, than other: [SequenceNumber], _ otherTopic: TopicName?
    ) -> Bool {
        guard (list.count, list.first) == (other.count, other.first) else {
            return (list.count, list.first ?? newest) > (other.count, other.first ?? newest)
        }
        return topic?.bytes.lexicographicallyPrecedes(otherTopic?.bytes ?? []) ?? (otherTopic != nil)
    }

    /// Now-or-never messages leave the log when iOS apps have been looked for.
    private func stored(_ list: [SequenceNumber]) -> [SequenceNumber] {
        list.filter { entries[$0]?.message.isStored == true }
    }

    /// The messages that the first pass of a message finds.
    private func list(of message: TopicMessage) -> [SequenceNumber] {
        switch message.target.passes.first {
        case .topic(let at): places[message.key(at)] ?? []
        case .everyone: placesOfAll[message.name.sender] ?? []
        case nil: []
        }
    }

    /// Returns the places after a position of all messages that may be for one of the registrations, ascending.
    func places(after position: SequenceNumber, for registrations: [RegistrationState]) -> [SequenceNumber] {
        guard position < newest, !entries.isEmpty else { return [] }
        var found: [SequenceNumber] = []
        for state in registrations {
            if !places.isEmpty {
                state.topics.forEachKey { key in Self.add(places[key], after: position, to: &found) }
            }
            for (sender, list) in placesOfAll where state.registration.allows(sender) {
                Self.add(list, after: position, to: &found)
            }
        }
        guard found.count > 1 else { return found }
        found.sort()
        var last: SequenceNumber?
        found.removeAll { place in
            defer { last = place }
            return place == last
        }
        return found
    }

    private static func add(
        _ list: [SequenceNumber]?, after position: SequenceNumber, to found: inout [SequenceNumber]
    ) {
        guard let list, let last = list.last, last > position else { return }
        found += list.reversed().prefix { $0 > position }
    }

    /// All messages, oldest first, without those that stand for others.
    var messages: [TopicEntry] {
        entries.values.filter { $0.kind == .message }.sorted { $0.sequence < $1.sequence }
    }

    /// Returns up to `limit` live messages, the newest first.
    func list(limit: Int) -> [LiveTopicMessage] {
        entries.values.filter { $0.kind == .message && $0.message.isStored }.sorted {
            $0.sequence > $1.sequence
        }.prefix(limit).map {
            LiveTopicMessage(message: $0.message, reached: $0.progress.reached)
        }
    }

    /// What is wrong with the state; `nil` if nothing is wrong.
    var violation: String? {
        let listed = Set(places.values.joined()).union(placesOfAll.values.joined())
        if listed != Set(entries.keys) { return "a topic message is not listed, or is listed and gone" }
        let held = entries.values.filter { $0.message.isStored && $0.message.bodyBytes > 0 }
        if held.reduce(0, { $0 + $1.message.bodyBytes }) != freshBytes
            || !Set(held.map(\.sequence)).isSubset(of: fresh)
        {
            return "the pairs in memory are not those that are listed"
        }
        return noted.isSubset(of: listed) ? nil : "progress of a topic message that is gone"
    }
}
