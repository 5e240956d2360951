import Basics

/// The search for the iOS apps that topic messages are for: they never log in, so that their devices are read page by page.
///
/// One search of a topic is for all messages to it so far: a device that is read is sent all that is new to it.
struct TopicWalk {
    /// Where iOS apps are looked for.
    struct Key: Hashable {
        let sender: SenderID
        /// `nil` for all apps that the sender may address.
        let topic: TopicName?
    }

    /// What comes next.
    enum Step {
        case none
        /// Ask the store for a page.
        case ask(Key, after: DeviceID?)
        /// These messages have been offered to all iOS apps.
        case offered([SequenceNumber])
    }

    private enum State {
        case idle
        /// A page is being read.
        case asking
        /// The devices of a page are sent what is new to them; `next` is the device after which the search continues.
        case visiting(pending: Int, hasFailed: Bool, next: DeviceID?)
        /// A page is read again then.
        case waiting(until: Instant)
    }

    private var state = State.idle
    /// The topics that are searched, in order; the first one is under way unless the walk is idle.
    private var keys: [Key] = []
    /// The messages that are searched for, by topic; those that come while it is under way need another search.
    private var places: [Key: [SequenceNumber]] = [:]
    private var current: [SequenceNumber] = []
    private var after: DeviceID?
    /// How many searches each message still needs.
    private var searches: [SequenceNumber: Int] = [:]

    /// Adds a message that iOS apps may be sent.
    mutating func add(_ message: TopicMessage, at place: SequenceNumber) {
        for pass in message.target.passes {
            let topic: TopicName? = if case .topic(let at) = pass { message.target.topics[at] } else { nil }
            let key = Key(sender: message.name.sender, topic: topic)
            if places[key] == nil { keys.append(key) }
            places[key, default: []].append(place)
            searches[place, default: 0] += 1
        }
    }

    /// Starts what can be started.
    mutating func next(now: Instant) -> Step {
        switch state {
        case .asking, .visiting: return .none
        case .waiting(let until) where until > now: return .none
        case .waiting:
            guard let key = keys.first else { return .none }
            state = .asking
            return .ask(key, after: after)
        case .idle:
            guard let key = keys.first else { return .none }
            current = places[key] ?? []
            places[key] = []
            after = nil
            state = .asking
            return .ask(key, after: nil)
        }
    }

    /// A page was read. Returns `false` if none was asked for.
    mutating func found(_ count: Int, next: DeviceID?) -> Bool {
        guard case .asking = state else { return false }
        state = .visiting(pending: count, hasFailed: false, next: next)
        return true
    }

    /// A page could not be read.
    mutating func failed(until retry: Instant) {
        if case .asking = state { state = .waiting(until: retry) }
    }

    /// A device of the page has been sent what is new to it, or could not be read.
    mutating func visited(hasFailed: Bool) {
        guard case .visiting(let pending, let hadFailed, let next) = state else { return }
        state = .visiting(pending: pending - 1, hasFailed: hadFailed || hasFailed, next: next)
    }

    /// Ends a page whose devices have all been visited. Returns `.none` while others are pending.
    mutating func endPage(retryAt: Instant) -> Step {
        guard case .visiting(let pending, let hasFailed, let next) = state, pending <= 0 else { return .none }
        guard !hasFailed else {
            state = .waiting(until: retryAt)
            return .none
        }
        if let next, let key = keys.first {
            after = next
            state = .asking
            return .ask(key, after: next)
        }
        state = .idle
        return .offered(endSearch())
    }

    /// Ends the search of the first topic. Returns the messages that need no other one.
    private mutating func endSearch() -> [SequenceNumber] {
        let key = keys.removeFirst()
        if places[key]?.isEmpty == true { places[key] = nil } else { keys.append(key) }
        return current.filter { place in
            let left = (searches[place] ?? 1) - 1
            searches[place] = left > 0 ? left : nil
            return left <= 0
        }
    }
}
