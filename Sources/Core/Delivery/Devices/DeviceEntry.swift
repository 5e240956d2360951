import Basics

/// A registration, and what is known of its messages.
struct RegistrationState {
    private(set) var registration: Registration
    /// The topics that it subscribes to.
    var topics = SubscriptionSet()
    /// Whether the app named several senders.
    private let isList: Bool
    /// Its messages in the mailbox.
    fileprivate(set) var counts = MessageCounts()
    /// The batch that stores it. `nil` if the store has it.
    private(set) var batch: UInt64?
    /// The rate of its messages with a collapse key.
    var throttle = AppThrottle()
    /// Its messages for the APNs gateway.
    var queue = GatewayQueue()

    init(_ registration: Registration, batch: UInt64? = nil) {
        self.registration = registration
        self.batch = batch
        isList = registration.senderText.contains(UInt8(ascii: ",")) && registration.sender != nil
    }

    /// Replaces the registration by a changed one, which a batch stores.
    mutating func replace(with changed: Registration, in batch: UInt64) {
        registration = changed
        self.batch = batch
    }

    /// Returns the `from` of a frame: the sender as the app named it or, if it named several, the one that sent the message.
    func from(_ sender: SenderID?) -> [UInt8] {
        guard isList, let author = sender ?? registration.sender else { return registration.senderText }
        return Array(String(author.number).utf8)
    }
}

/// A device in the memory of its partition.
final class DeviceEntry {
    let device: DeviceID
    private(set) var state = State.loading(waiting: [])
    private(set) var record: DeviceRecord?
    /// Its rate limits; full again when it is loaded into memory.
    var buckets = DeviceBuckets()
    /// Its registrations, ascending by number.
    private(set) var registrations: [RegistrationState] = []
    private(set) var mailbox = Mailbox()
    private(set) var link: DeviceLink?
    /// The batches with changes to it.
    var batches = OpenBatches()
    /// Whether a page of its mailbox is being read: one read at a time, since answers do not name the connection.
    private(set) var isPageAsked = false
    /// Its place in the table.
    var residence: Residence
    /// Registrations whose device must stay in memory because of the APNs gateway (`GatewayQueue.isBusy`).
    private(set) var busyQueues = 0
    /// Whether the store has the device's mark for the gateway, as far as is known.
    private(set) var isMarkedForGateway = false
    /// Its upstream messages that are not stored yet.
    var waitingUpstream = WaitingUpstream()
    /// All topic messages up to this place in the log have entered its mailbox, if they are for it.
    private(set) var topicPosition = SequenceNumber(0)
    /// The position that the store has, as far as is known.
    private var storedTopicPosition = SequenceNumber(0)
    /// The topics by which it is listed as connected.
    var listedTopics: [TopicKey] = []
    /// Whether it waits for what is new to it (`TopicFeed`).
    var isTopicDue = false
    /// Messages whose removal has failed, without their recipient having them: they are there again once the state is read.
    private var returning: Set<SequenceNumber> = []

    init(_ device: DeviceID, isTransient: Bool = false) {
        self.device = device
        residence = Residence(isTransient: isTransient)
    }

    /// Whether it may be evicted.
    var isIdle: Bool {
        state.isReady && link == nil && batches.isEmpty && !isPageAsked && waitingUpstream.isEmpty
            && busyQueues == 0
    }

    /// Changes a registration by its functions.
    @discardableResult func update<Result>(_ at: Int, _ change: (inout RegistrationState) -> Result) -> Result
    {
        if registrations[at].queue.isBusy { busyQueues -= 1 }
        defer { if registrations[at].queue.isBusy { busyQueues += 1 } }
        return change(&registrations[at])
    }

    /// Adds a registration, which a batch stores.
    func insert(_ registration: Registration, at: Int, in batch: UInt64) {
        registrations.insert(RegistrationState(registration, batch: batch), at: at)
    }

    /// Applies other rates.
    func changeRates(from old: Rates, to new: Rates, _ now: Instant) {
        buckets.change(from: old, to: new, now)
        for at in registrations.indices {
            registrations[at].throttle.change(from: old.collapsible, to: new.collapsible, now: now)
        }
    }

    /// Removes a registration. Its messages have been removed.
    func removeRegistration(at: Int) {
        if registrations[at].queue.isBusy { busyQueues -= 1 }
        registrations.remove(at: at)
    }

    /// The number of busy queues that there should be.
    var expectedBusyQueues: Int { registrations.count { $0.queue.isBusy } }

    /// Returns the record if the digest is that of the device's security token. Takes as long for an unknown device as for a
    /// wrong token.
    func record(ofToken shown: SecretDigest) -> DeviceRecord? {
        let expected = record?.token ?? SecretDigest(bytes: [UInt8](repeating: 0, count: 32))
        return expected == shown ? record : nil
    }

    /// Returns the index of the registration whose message is being read for the gateway.
    func index(loading sequence: SequenceNumber) -> Int? {
        registrations.firstIndex { $0.queue.state == .loading(sequence) }
    }

    /// Returns the index of a registration in `registrations`.
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

    // MARK: Rows

    /// Returns the index of the registration of a message.
    func place(of number: RegistrationNumber, _ turn: inout Turn) -> Int? {
        turn.demand(index(of: number), "a message belongs to no registration", of: self)
    }

    /// Writes the record. The numbers of registrations only increase.
    func write(_ record: DeviceRecord, _ turn: inout Turn) {
        turn.demand(record.device == device, "a record belongs to another device", of: self)
        turn.demand(
            self.record.map { $0.nextRegistration <= record.nextRegistration } ?? true,
            "a registration number would be issued twice", of: self)
        self.record = record
        turn.write(.putDevice(record), of: self)
    }

    /// Removes the record of a device without registrations and messages.
    func removeRecord(_ turn: inout Turn) {
        turn.demand(
            mailbox.slots.isEmpty && registrations.isEmpty,
            "a removed device still has messages or registrations", of: self)
        record = nil
        storedTopicPosition = SequenceNumber(0)
        turn.write(.removeDevice(device), of: self)
    }

    /// Moves the position: what is new up to there enters the mailbox now.
    func moveTopicPosition(to place: SequenceNumber) { topicPosition = max(topicPosition, place) }

    /// Writes the position: with the messages that have entered the mailbox, and with each change of what decides which are for it.
    func storeTopicPosition(_ turn: inout Turn) {
        guard storedTopicPosition != topicPosition else { return }
        storedTopicPosition = topicPosition
        turn.write(.putTopicPosition(device, topicPosition), of: self)
    }

    /// Whether it has messages for the APNs gateway.
    var hasGatewayMessages: Bool {
        mailbox.slots.contains { $0.entry.isForGateway && !$0.state.isScheduled }
    }

    /// Marks the device in the store, so that the next process offers again what the gateway has not answered.
    func markForGateway(_ turn: inout Turn) {
        guard !isMarkedForGateway else { return }
        isMarkedForGateway = true
        turn.write(.markForGateway(device), of: self)
    }

    /// Marks the device again that was read after a failed batch: its mark may have failed, too.
    func markAgain(_ turn: inout Turn) {
        guard isMarkedForGateway else { return }
        isMarkedForGateway = false
        if hasGatewayMessages { markForGateway(&turn) }
    }

    /// Removes the mark, which the store has, if nothing is left for the gateway.
    func unmarkIfUnused(_ turn: inout Turn) {
        isMarkedForGateway = hasGatewayMessages
        if !isMarkedForGateway { turn.write(.unmarkForGateway(device), of: self) }
    }

    // MARK: Messages

    /// Writes a new message of a registration, and adds it to the mailbox; `isDelayed`: it waits until the device is active.
    func add(
        _ message: StoredMessage, from requester: ConnectionID? = nil, isDelayed: Bool = false,
        then waiter: DeviceWaiter, _ turn: inout Turn
    ) {
        turn.demand(message.device == device, "a message is added to another device's mailbox", of: self)
        turn.write(.putMessage(message), then: .device(self, waiter))
        turn.touch(self)
        append(
            MailboxSlot(
                entry: MailboxEntry(message, requester: requester),
                state: message.dueAt != nil
                    ? .scheduled(isStored: false)
                    : isDelayed ? .delayed(isStored: false) : .waiting(isStored: false),
                acceptedAt: message.kind == .message ? turn.now.monotonic : .distantPast), &turn)
    }

    /// Adds a message of a registration to the mailbox.
    func append(_ slot: MailboxSlot, _ turn: inout Turn) {
        let newest = mailbox.slots.last?.entry.sequence
        turn.demand(
            newest.map { $0 < slot.entry.sequence } ?? true, "a message's sequence is not the newest",
            of: self)
        turn.demand(
            slot.state.isWaiting || slot.state.isDelayed || slot.state.isScheduled,
            "a new message has already been sent", of: self)
        guard let at = place(of: slot.entry.registration, &turn) else { return }
        mailbox.append(slot, &registrations[at].counts)
    }

    /// Removes a message from the mailbox.
    func remove(at index: Int, _ turn: inout Turn) -> MailboxSlot {
        let at = place(of: mailbox.slots[index].entry.registration, &turn)
        var counts = at.map { registrations[$0].counts } ?? MessageCounts()
        let slot = mailbox.remove(at: index, &counts)
        if let at { registrations[at].counts = counts }
        turn.demand(at == nil || mailbox.isValid(counts), "a count of messages is negative", of: self)
        return slot
    }

    /// Changes the state of a message, and the counts.
    func setState(_ state: MailboxSlot.State, at index: Int, _ turn: inout Turn) {
        let before = mailbox.slots[index].state
        guard before != state,
            turn.demand(before.mayBecome(state), "a message cannot change to this state", of: self),
            let at = place(of: mailbox.slots[index].entry.registration, &turn)
        else { return }
        mailbox.setState(state, at: index, &registrations[at].counts)
        turn.demand(
            mailbox.isValid(registrations[at].counts), "a count of messages is negative after a change",
            of: self)
    }

    /// Has selected messages wait for the connection again. Returns the first of them.
    func release(_ turn: inout Turn, where isSelected: (MailboxSlot) -> Bool) -> SequenceNumber? {
        var first: SequenceNumber?
        for at in mailbox.slots.indices where isSelected(mailbox.slots[at]) {
            setState(mailbox.slots[at].state.unsent, at: at, &turn)
            first = first ?? mailbox.slots[at].entry.sequence
        }
        return first
    }

    /// Changes what is known of a message, by a function of `MailboxSlot`.
    func updateMessage<Result>(at index: Int, _ change: (inout MailboxSlot) -> Result) -> Result {
        mailbox.update(at: index, change)
    }

    // MARK: Connection

    /// Sets the connection, of which the device has none.
    func connect(_ login: DeviceLogin, since: Instant) {
        link = DeviceLink(connection: login.connection, since: since, isIdle: login.isIdle)
    }

    /// Changes the mode of the connection, which must exist.
    func setMode(_ mode: DeviceLink.Mode, _ turn: inout Turn) {
        let isAllowed = turn.demand(link?.change(to: mode), "a mode is set without a connection", of: self)
        turn.demand(isAllowed ?? true, "a connection cannot change to this mode", of: self)
    }

    /// Changes the connection by its functions, if there is one.
    func updateLink(_ change: (inout DeviceLink) -> Void) {
        guard var changed = link else { return }
        change(&changed)
        link = changed
    }

    /// Begins to read a page of the mailbox for the connection.
    func beginPage(upTo target: SequenceNumber, _ turn: inout Turn) {
        setMode(.loading(target: target), &turn)
        isPageAsked = true
    }

    /// Marks the read of a page as answered.
    func endPage(_ turn: inout Turn) {
        turn.demand(isPageAsked, "a page was read that was not requested", of: self)
        isPageAsked = false
    }

    /// Removes the connection; messages that it has not acknowledged wait again.
    func unlink(_ turn: inout Turn) {
        guard link != nil else { return }
        _ = release(&turn) { _ in true }
        link = nil
    }

    /// Notes that a failed batch would have removed a message that its recipient may not have.
    func willReturn(_ sequence: SequenceNumber) { returning.insert(sequence) }

    /// Replaces the state in memory by that of the store. The connection stays, and messages that it was sent count as sent.
    private func adopt(_ state: DeviceState, _ turn: inout Turn) {
        record = state.record
        let old = (registrations: registrations, mailbox: mailbox)
        registrations = state.registrations.map { known in
            var fresh = RegistrationState(known)
            if let before = old.registrations.first(where: { $0.registration.name == known.name }) {
                fresh.throttle = before.throttle
                fresh.queue = before.queue
                // The store has shown whether the message is there.
                if case .ending = fresh.queue.state { fresh.queue.change(to: .idle) }
            }
            return fresh
        }
        busyQueues = expectedBusyQueues
        registrations.insert(state.subscriptions)
        (topicPosition, storedTopicPosition) = (state.topicPosition, state.topicPosition)
        mailbox = Mailbox()
        for entry in state.mailbox {
            guard let at = index(of: entry.registration) else { continue }
            let before = old.mailbox.index(of: entry.sequence).map { old.mailbox.slots[$0] }
            // One that was released before a failed batch goes on as it was.
            let isScheduled = entry.dueAt != nil && before?.state.isScheduled ?? true
            append(
                MailboxSlot(
                    entry: entry,
                    state: isScheduled ? .scheduled(isStored: true) : .waiting(isStored: true),
                    isCounted: before?.isCounted ?? false),
                &turn)
            if isScheduled { continue }
            if entry.isForGateway {
                if registrations[at].queue.sent == entry.sequence {
                    setState(.atGateway, at: mailbox.slots.count - 1, &turn)
                }
                continue
            }
            guard let link, entry.sequence <= link.highestCursor else { continue }
            switch before?.state {
            case .throttled: setState(.throttled, at: mailbox.slots.count - 1, &turn)
            case .delayed: setState(.delayed(isStored: true), at: mailbox.slots.count - 1, &turn)
            case .waiting, .scheduled: self.link?.rewind(before: entry.sequence)
            case nil where returning.contains(entry.sequence): self.link?.passOver()
            case .sent, .atGateway, .owingReceipt, nil: setState(.sent, at: mailbox.slots.count - 1, &turn)
            }
        }
        returning = []
    }

    // MARK: State

    /// Queues an event until the state has been read.
    func wait(_ event: DeviceEvent, _ turn: inout Turn) {
        if turn.demand(!state.isReady, "an event waits for a device that is in memory", of: self) {
            state.waiting.append(event)
        }
    }

    /// Drops waiting events that need no answer.
    func dropWaiting(where isOver: (DeviceEvent) -> Bool) {
        if !state.isReady { state.waiting.removeAll(where: isOver) }
    }

    /// Marks the state as being read.
    func beginLoading() { state = .loading(waiting: state.waiting) }

    /// Replaces the state by that of the store. Returns the events that waited for it.
    func finishLoading(_ read: DeviceState, _ turn: inout Turn) -> [DeviceEvent] {
        let waiting = state.waiting
        adopt(read, &turn)
        state = .ready
        return waiting
    }

    /// Marks the state in memory as out of date.
    func becomeStale() { state = .stale(waiting: state.waiting) }

    /// Marks the state as stale after a failed read, and removes the connection. Returns the events that waited for the read.
    func failLoading() -> [DeviceEvent] {
        link = nil
        returning = []
        let waiting = state.waiting
        state = .stale(waiting: [])
        return waiting
    }
}
