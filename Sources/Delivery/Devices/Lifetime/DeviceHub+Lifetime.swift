import Basics

/// The search for devices of this partition that have not been seen for too long.
struct DeviceSweep {
    /// Whether the store has been asked.
    var isAsking = false
    /// When it is asked again; before the first tick nobody knows.
    var next = Instant.distantPast
    /// Where it goes on.
    var from: DeviceID
    /// Whether this round began with the first device there can be, and so meets all of them.
    var isWholeRound = false
    /// How long it rests after a whole round, in milliseconds.
    var rest: Int64 = 0
    /// How many may go: whoever is wrong about the time, it takes hours to forget many.
    var forgotten = TokenBucket()
    /// Whether those that were away for too long were asked for, besides the unused ones, which are not worth the care.
    var asksForAbsent = false
    /// Where the search for unused ones alone goes on, while no other may go.
    var unusedFrom = DeviceID(0)
    /// When that search begins anew.
    var unusedNext = Instant.distantPast

    init(from: DeviceID) { self.from = from }
}

/// Devices that nobody hears of any more (mcs-device 3.8; http 11: a token without contact ends after 270 days).
///
/// The store is gone through page by page, in the order of the ids. A search that a restart breaks off goes on anywhere, and a
/// device that could not be looked at, or came back meanwhile, is met again in the next round.
extension DeviceHub {
    mutating func tickSweep(_ turn: inout Turn) {
        if sweep.next == .distantPast { sweep.next = turn.firstSearch }
        guard let shortest = turn.settings.shortestAbsence, !sweep.isAsking, turn.clock.doubt == nil,
            turn.now.monotonic >= sweep.next
        else { return }
        let rate = turn.shares.forgottenDevices
        let mayForget =
            turn.settings.deviceExpirySeconds > 0
            && sweep.forgotten.allows(rate, now: turn.now.monotonic)
        guard mayForget || turn.settings.unusedDeviceSeconds > 0 && turn.now.monotonic >= sweep.unusedNext
        else {
            return
        }
        sweep.rest = min(Int64(Limits.Device.sweepPauseSeconds) * 1_000, shortest / 8)
        sweep.isAsking = true
        sweep.asksForAbsent = mayForget
        sweep.next = turn.now.monotonic.advanced(milliseconds: turn.shares.sweepMilliseconds)
        let limit = Limits.Device.expiredPerSweep
        turn.load(
            .unseen(
                before: mayForget ? turn.now.wall - turn.settings.expiryMilliseconds : .min,
                unusedBefore: turn.settings.unusedDeviceSeconds > 0
                    ? turn.now.wall - turn.settings.unusedMilliseconds : .min,
                from: mayForget ? sweep.from : sweep.unusedFrom, examine: Limits.Device.perSweep,
                limit: mayForget ? min(limit, rate.burst) : limit, partition: turn.partition))
    }

    mutating func unseenLoaded(
        _ found: [DeviceID], next: DeviceID?, _ turn: inout Turn
    ) {
        demandSearch(found, next, &turn)
        sweep.isAsking = false
        for device in found { handle(.unseen, of: device, &turn) }
        guard sweep.asksForAbsent else {
            sweep.unusedFrom = next ?? DeviceID(0)
            if next == nil {
                sweep.unusedNext = turn.now.monotonic.advanced(milliseconds: sweep.rest)
            }
            return
        }
        for _ in found { sweep.forgotten.take(turn.shares.forgottenDevices, now: turn.now.monotonic) }
        if next == nil {
            if sweep.isWholeRound {
                sweep.next = turn.now.monotonic.advanced(milliseconds: sweep.rest)
            }
            sweep.isWholeRound = true
        }
        sweep.from = next ?? DeviceID(0)
    }

    /// Checks an answer to the search: it was asked for, is no larger than that, and the search goes on behind it.
    private func demandSearch(_ found: [DeviceID], _ next: DeviceID?, _ turn: inout Turn) {
        turn.demand(sweep.isAsking, "the answer to a device search that was not requested")
        turn.demand(
            found.count <= Limits.Device.expiredPerSweep, "a search found more devices than it was asked for")
        let start = sweep.asksForAbsent ? sweep.from : sweep.unusedFrom
        turn.demand(next.map { $0 > start } ?? true, "a search for devices goes back")
        turn.demand(
            found.first.map { $0 >= start } ?? true, "a search found a device before its start")
        turn.demand(
            found.last.map { last in next.map { last < $0 } ?? true } ?? true,
            "a search found a device behind its end")
    }

    /// The store says that a device has been away for too long: it goes, unless that is no longer so.
    mutating func unseen(_ entry: DeviceEntry, _ turn: inout Turn) {
        writeContact(entry, &turn)
        guard let record = entry.record else { return }
        // One that stays connected for longer than the whole time is seen by that. An app that Apple reaches need not come
        // here at all: Apple tells when it is gone.
        let isApple = entry.registrations.contains { $0.registration.isByAPNs }
        // A contact in a time that cannot have been says nothing of how long ago it was: its time begins now.
        guard entry.link == nil, !isApple, record.seenAt >= Limits.Clock.earliest else {
            return seen(entry, record, &turn)
        }
        guard turn.clock.doubt == nil, let end = end(of: entry, record, turn) else { return }
        _ = dissolve(entry, &turn)
        switch end {
        case .unused: turn.effects.unusedDevices += 1
        case .absent: turn.effects.expiredDevices += 1
        }
    }

    /// Why a device goes.
    private enum DeviceEnd {
        /// Nothing was done with it after its check-in.
        case unused
        /// It was away for too long.
        case absent
    }

    /// Why a device that is not connected must go now; nil: it stays.
    private func end(of entry: DeviceEntry, _ record: DeviceRecord, _ turn: borrowing Turn) -> DeviceEnd? {
        if isUnusedTooLong(record, turn) { return .unused }
        let isAbsent =
            turn.settings.deviceExpirySeconds > 0
            && turn.now.wall - record.seenAt > turn.settings.expiryMilliseconds
        return isAbsent && entry.waitingUpstream.isEmpty ? .absent : nil
    }

    /// Whether nothing has been done with a device for so long after its check-in that nothing will be (mcs-device 3.8).
    private func isUnusedTooLong(_ record: DeviceRecord, _ turn: borrowing Turn) -> Bool {
        record.isUnused && turn.settings.unusedDeviceSeconds > 0
            && turn.now.wall - record.unusedSince > turn.settings.unusedMilliseconds
    }

    // MARK: Contacts that the store does not know

    /// Looks at the next of them; one whose state is being read is met again at the next tick.
    mutating func tickContacts(_ turn: inout Turn) {
        turn.demand(
            contacts.count <= Limits.Device.unwrittenContacts, "more contacts are kept than there is room for"
        )
        for device in contacts.next(turn.shares.contactsPerTick) {
            if let entry = table[device], !entry.state.isReady { continue }
            handle(.unseen, of: device, &turn)
        }
    }

    /// Writes when a device was last here, if its record does not say so; a write that fails as well brings it back.
    private mutating func writeContact(_ entry: DeviceEntry, _ turn: inout Turn) {
        guard let contact = contacts.take(entry.device), var record = entry.record,
            case let latest = UnwrittenContacts.later(record.seenAt, contact),
            record.seenAt != latest || !record.hasLoggedIn
        else { return }
        record.seenAt = latest
        record.hasLoggedIn = true
        keep(record, of: entry, &turn)
    }
}

extension DeliverySettings {
    /// How long a device may be away, in milliseconds; 0 disables the limit.
    var expiryMilliseconds: Int64 { Int64(deviceExpirySeconds) * 1_000 }

    /// How long a device may be without any use, in milliseconds; 0 disables the limit.
    fileprivate var unusedMilliseconds: Int64 { Int64(unusedDeviceSeconds) * 1_000 }

    /// The shorter of both, of those that are set, in milliseconds; `nil` if devices stay for ever.
    fileprivate var shortestAbsence: Int64? {
        [expiryMilliseconds, unusedMilliseconds].filter { $0 > 0 }.min()
    }

    /// How far the time at which a device was last seen may be behind, in milliseconds: a small part of the time it may be away.
    func seenGranularity(atMost seconds: Int) -> Int64 {
        let most = Int64(seconds) * 1_000
        return deviceExpirySeconds > 0 ? min(most, expiryMilliseconds / 8) : most
    }
}
