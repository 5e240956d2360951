import Basics

/// A registration with what is counted for it.
struct RegistrationState {
    var registration: Registration
    /// The topics that it subscribes to.
    var topics = SubscriptionSet()
    /// Whether the app named several senders.
    private let isList: Bool
    /// Messages without collapse key that wait for a connection to take them.
    var plainWaiting = 0
    /// Messages without collapse key that wait until the device is active.
    var plainDelayed = 0
    /// Messages with collapse key, waiting or sent.
    var keyed = 0
    /// The batch that stores it, while it is on its way.
    var batch: UInt64?
    /// What is left of the rate of messages with collapse key.
    var bucket = TokenBucket()
    /// Whether it waits to be told that it may have one more.
    var isDue = false

    init(_ registration: Registration, batch: UInt64? = nil) {
        self.registration = registration
        self.batch = batch
        isList = registration.senderText.contains(UInt8(ascii: ",")) && registration.sender != nil
    }

    /// A message without collapse key enters a state, or leaves it (-1).
    mutating func countPlain(_ state: MailboxSlot.State, by change: Int = 1) {
        switch state {
        case .waiting: plainWaiting += change
        case .delayed: plainDelayed += change
        case .throttled, .sent, .owingReceipt: break
        }
    }

    /// Whether no message is counted out that was not counted in.
    var isCounted: Bool { plainWaiting >= 0 && plainDelayed >= 0 && keyed >= 0 }

    /// Whether no message is counted.
    var isEmpty: Bool { plainWaiting == 0 && plainDelayed == 0 && keyed == 0 }

    /// `from` of a frame: the sender as the app gave it, or who sent it of several.
    func from(_ sender: SenderID?) -> [UInt8] {
        guard isList, let author = sender ?? registration.sender else { return registration.senderText }
        return Array(String(author.number).utf8)
    }
}

/// A device's connection.
struct DeviceLink {
    /// How far it is.
    enum Mode {
        /// The login stands once its received ids are gone from the store.
        case accepting
        /// A page of its mailbox is being read; the newest message that the store had confirmed when it was asked.
        case loading(target: Sequence)
        /// The store still answers a question that an earlier connection asked.
        case queued
        /// A page was handed over, or the connection is congested: it says when more may come.
        case paused
        /// All that is stored has been handed over; what comes is handed on at once.
        case live
        /// It has been told to close.
        case closing

        /// Whether what is stored may be asked for and handed over.
        var takesStored: Bool {
            switch self {
            case .paused, .live: true
            case .accepting, .loading, .queued, .closing: false
            }
        }

        /// Whether a connection may go from this mode to another one. One that closes does nothing else.
        func mayBecome(_ next: Mode) -> Bool {
            switch (self, next) {
            case (.accepting, .paused), (.paused, .loading), (.paused, .queued), (.paused, .live),
                (.loading, .paused), (.loading, .queued), (.queued, .paused), (.live, .loading),
                (.live, .queued), (.live, .live), (.live, .paused), (_, .closing):
                true
            default: false
            }
        }
    }

    let connection: ConnectionID
    var mode = Mode.accepting
    /// Everything stored up to here has been handed over or need not be.
    var cursor = Sequence(0) { didSet { given = max(given, cursor) } }
    /// The farthest that `cursor` has been.
    private(set) var given = Sequence(0)
    /// Its outbound octets pile up.
    var isCongested = false
    /// Messages handed over and not acknowledged.
    var unacknowledged = 0
    /// Whether the device says that it is idle.
    var isIdle = false

    /// Whether what is not stored may be handed over.
    var takesPassing: Bool {
        switch mode {
        case .accepting, .closing: false
        case .loading, .queued, .paused, .live: !isCongested
        }
    }
}

/// A device in the memory of its partition.
final class DeviceEntry {
    /// Whether what is in memory can be relied on. Events wait until it can.
    enum State {
        /// The store has been asked.
        case loading(waiting: [DeviceEvent])
        /// It can.
        case ready
        /// A batch failed: it is read again once nothing of it is on its way.
        case stale(waiting: [DeviceEvent])

        var isReady: Bool { if case .ready = self { true } else { false } }
        var isLoading: Bool { if case .loading = self { true } else { false } }
        var isStale: Bool { if case .stale = self { true } else { false } }

        /// The events that wait.
        var waiting: [DeviceEvent] {
            switch self {
            case .ready: []
            case .loading(let waiting), .stale(let waiting): waiting
            }
        }
    }

    let device: DeviceID
    private(set) var state = State.loading(waiting: [])
    var record: DeviceRecord?
    /// What is left of its rates; full again when it comes back into memory.
    var buckets = DeviceBuckets()
    /// By number.
    var registrations: [RegistrationState] = []
    var mailbox = Mailbox()
    /// Messages in the mailbox that wait until the device is active.
    private(set) var delayed = 0
    var link: DeviceLink?
    /// Batches with changes to it that the store has not answered.
    var batchesInFlight = 0
    /// The ticket of the last batch with changes to it; `nil` if there has been none.
    var lastBatch: UInt64?
    /// Whether the store has been asked for a page of its mailbox: one question at a time, since answers do not say whose they are.
    var isPageAsked = false
    /// Whether the turn that runs has changes to it.
    var isTouched = false
    /// Whether nothing but messages to topics has met it since it came into memory; changes only while it is not idle.
    var isPassing = false
    /// Whether it has been let go of: another entry stands for the device when it is met again.
    var isForgotten = false
    /// When it became idle, in a count of all that did; 0 while it is not.
    var idleStamp: UInt64 = 0
    /// Upstream messages on their way to the store, by registration.
    var waitingUpstream: [(registration: RegistrationNumber, count: Int)] = []

    init(_ device: DeviceID) { self.device = device }

    /// Whether it may be forgotten.
    var isIdle: Bool {
        state.isReady && link == nil && batchesInFlight == 0 && !isTouched && !isPageAsked
            && waitingUpstream.isEmpty
    }

    /// Returns the record if the token of this digest is the device's; an unknown device takes as long as a wrong token.
    func record(ofToken shown: SecretDigest) -> DeviceRecord? {
        let expected = record?.token ?? SecretDigest(octets: [UInt8](repeating: 0, count: 32))
        return expected == shown ? record : nil
    }

    /// Place of a registration in `registrations`.
    func index(of number: RegistrationNumber) -> Int? {
        var low = 0
        var high = registrations.count
        while low < high {
            let middle = (low &+ high) / 2
            let found = registrations[middle].registration.name.number
            if found == number { return middle }
            if found < number { low = middle &+ 1 } else { high = middle }
        }
        return nil
    }

    /// Adds a message to the mailbox and to the counts of its registration.
    func append(_ slot: MailboxSlot, registrationAt at: Int, _ turn: inout Turn) {
        let newest = mailbox.slots.last?.entry.sequence
        turn.demand(
            newest.map { $0 < slot.entry.sequence } ?? true, "a sequence is not the newest", of: self)
        turn.demand(
            slot.state.isWaiting || slot.state.isDelayed, "a new message has been handed over", of: self)
        let isOwn =
            registrations.indices.contains(at)
            && registrations[at].registration.name.number == slot.entry.registration
        guard turn.demand(isOwn, "a message is counted for another registration", of: self) else { return }
        mailbox.append(slot)
        if slot.state.isDelayed { delayed += 1 }
        if slot.isPlain { registrations[at].countPlain(slot.state) }
        if slot.entry.collapseKey != nil { registrations[at].keyed += 1 }
    }

    /// Takes a message out of the mailbox and the counts.
    func remove(at index: Int, _ turn: inout Turn) -> MailboxSlot {
        let slot = mailbox.remove(at: index)
        if slot.isUnacknowledged { link?.unacknowledged -= 1 }
        if slot.state.isDelayed { delayed -= 1 }
        demandCounts(&turn)
        let at = turn.demand(
            self.index(of: slot.entry.registration), "a message is of no registration", of: self)
        guard let at else { return slot }
        if slot.isPlain { registrations[at].countPlain(slot.state, by: -1) }
        if slot.entry.collapseKey != nil { registrations[at].keyed -= 1 }
        turn.demand(registrations[at].isCounted, "more messages leave a registration than came", of: self)
        return slot
    }

    private func demandCounts(_ turn: inout Turn) {
        turn.demand(delayed >= 0, "more messages stop waiting for an active device than did", of: self)
        turn.demand(
            link.map { $0.unacknowledged >= 0 } ?? true, "more messages are acknowledged than were sent",
            of: self)
    }

    /// Moves the connection to another mode; there must be one.
    func setMode(_ mode: DeviceLink.Mode, _ turn: inout Turn) {
        let before = turn.demand(link?.mode, "the mode changes of a connection that is gone", of: self)
        guard let before else { return }
        guard turn.demand(before.mayBecome(mode), "a connection cannot go to this mode", of: self) else {
            return
        }
        link?.mode = mode
    }

    /// Moves a message to another state.
    func setState(_ state: MailboxSlot.State, at index: Int, _ turn: inout Turn) {
        let slot = mailbox.slots[index]
        guard slot.state != state else { return }
        guard turn.demand(slot.state.mayBecome(state), "a message cannot go to this state", of: self) else {
            return
        }
        mailbox.setState(state, at: index)
        if slot.isUnacknowledged { link?.unacknowledged -= 1 }
        if mailbox.slots[index].isUnacknowledged { link?.unacknowledged += 1 }
        if slot.state.isDelayed { delayed -= 1 }
        if state.isDelayed { delayed += 1 }
        demandCounts(&turn)
        guard slot.isPlain else { return }
        let at = turn.demand(
            self.index(of: slot.entry.registration), "a message changes that is of no registration", of: self)
        guard let at else { return }
        registrations[at].countPlain(slot.state, by: -1)
        registrations[at].countPlain(state)
        turn.demand(
            registrations[at].isCounted, "more messages of a registration change than it has", of: self)
    }

    /// The connection is gone: what it had not acknowledged waits again.
    func unlink(_ turn: inout Turn) {
        guard link != nil else { return }
        for at in mailbox.slots.indices {
            setState(mailbox.slots[at].state.unhanded, at: at, &turn)
        }
        let left = link?.unacknowledged ?? 0
        link = nil
        turn.demand(left == 0, "messages stay unacknowledged on a connection that is gone", of: self)
    }

    /// Goes back so that everything from a message on is read again; what has been sent is not sent again.
    func rewind(before sequence: Sequence, _ turn: inout Turn) {
        guard let link, sequence <= link.cursor else { return }
        self.link?.cursor = Sequence(sequence.number &- 1)
        // The page that is under way begins too late.
        if case .loading = link.mode { setMode(.queued, &turn) }
    }

    /// Takes what the store says for the truth; the connection stays, and what it was given counts as sent.
    private func take(_ state: DeviceState, _ turn: inout Turn) {
        record = state.record
        let old = (registrations: registrations, mailbox: mailbox)
        registrations = state.registrations.map { known in
            var fresh = RegistrationState(known)
            if let before = old.registrations.first(where: { $0.registration.name == known.name }) {
                fresh.bucket = before.bucket
                fresh.isDue = before.isDue
            }
            return fresh
        }
        for subscription in state.subscriptions {
            guard let at = index(of: subscription.name.number) else { continue }
            registrations[at].topics.insert(subscription)
        }
        mailbox.removeAll()
        link?.unacknowledged = 0
        delayed = 0
        for entry in state.mailbox {
            guard let at = index(of: entry.registration) else { continue }
            let before = old.mailbox.index(of: entry.sequence).map { old.mailbox.slots[$0] }
            append(
                MailboxSlot(
                    entry: entry, state: .waiting(isStored: true), isCounted: before?.isCounted ?? false),
                registrationAt: at, &turn)
            guard let link, entry.sequence <= link.given else { continue }
            switch before?.state {
            case .throttled: setState(.throttled, at: mailbox.slots.count - 1, &turn)
            case .delayed: setState(.delayed(isStored: true), at: mailbox.slots.count - 1, &turn)
            case .waiting: rewind(before: entry.sequence, &turn)
            case .sent, .owingReceipt, nil: setState(.sent, at: mailbox.slots.count - 1, &turn)
            }
        }
    }

    // MARK: State

    /// Keeps an event until the state is there.
    func wait(_ event: DeviceEvent, _ turn: inout Turn) { change(&turn) { $0.append(event) } }

    /// Lets go of the events that wait and need not be answered.
    func dropWaiting(_ turn: inout Turn, where isOver: (DeviceEvent) -> Bool) {
        change(&turn) { $0.removeAll(where: isOver) }
    }

    private func change(_ turn: inout Turn, _ body: (inout [DeviceEvent]) -> Void) {
        var waiting: [DeviceEvent]
        switch state {
        case .ready: turn.demand(false, "an event waits for a device that has been read", of: self)
        case .loading(let events):
            waiting = events
            state = .ready
            body(&waiting)
            state = .loading(waiting: waiting)
        case .stale(let events):
            waiting = events
            state = .ready
            body(&waiting)
            state = .stale(waiting: waiting)
        }
    }

    /// The store is asked.
    func beginLoading() { state = .loading(waiting: state.waiting) }

    /// Takes what the store says, and returns the events that waited for it.
    func finishLoading(_ read: DeviceState, _ turn: inout Turn) -> [DeviceEvent] {
        let waiting = state.waiting
        take(read, &turn)
        state = .ready
        return waiting
    }

    /// What is in memory can no longer be relied on. Returns the events that wait, where they are not to wait any longer.
    func becomeStale() { state = .stale(waiting: state.waiting) }

    /// The store could not be read: returns the events that waited for it.
    func failLoading() -> [DeviceEvent] {
        let waiting = state.waiting
        state = .stale(waiting: [])
        return waiting
    }
}
