import Basics

/// The search for expired and unused devices of a partition.
///
/// The store is searched page by page, in the order of the ids. After a restart the search starts at an arbitrary id, and at the
/// first one when a clock for tests is advanced. A device that could not be examined, or came back meanwhile, is examined again in
/// the next round.
struct DeviceSweep {
    /// Whether a query is outstanding.
    private var isAsking = false
    /// When the next query is due; set at the first tick.
    private var next = Instant.distantPast
    /// Where the next query starts.
    private var from: DeviceID
    /// Whether this round started at the first device id and so covers all devices.
    private var isWholeRound = false
    /// The pause after a whole round, in milliseconds.
    private var pauseMilliseconds: Int64 = 0
    /// The rate limit of removals: even if the time is wrong, removing many devices takes hours.
    private var forgotten = TokenBucket()
    /// Whether the query includes expired devices; unused ones are always included, and are not rate-limited.
    private var asksForAbsent = false
    /// Where the next query starts that searches for unused devices only, while the rate limit is used up.
    private var unusedFrom = DeviceID.lowest
    /// When that search starts its next round.
    private var unusedNext = Instant.distantPast
    /// How far a clock for tests was advanced when the search started. `nil` before the first tick.
    private var advance: Int64?

    init(from: DeviceID) { self.from = from }

    /// Starts the search again if a clock for tests was advanced since: what is due then is due at once, whatever its ID.
    private mutating func restartIfAdvanced(_ now: Now) {
        // An answer that is outstanding would move the search on.
        guard !isAsking, advance != now.advance else { return }
        defer { advance = now.advance }
        guard advance != nil else { return }
        (from, unusedFrom, isWholeRound) = (DeviceID.lowest, DeviceID.lowest, true)
        (next, unusedNext) = (now.monotonic, now.monotonic)
    }

    /// Asks for the next devices if it is time.
    mutating func tick(_ turn: inout Turn) {
        if next == .distantPast { next = turn.firstSearch }
        restartIfAdvanced(turn.now)
        let now = turn.now.monotonic
        guard let shortest = turn.settings.shortestAbsence, !isAsking, turn.clock.showsAges, now >= next
        else { return }
        let rate = turn.shares.forgottenDevices
        let mayForget = turn.settings.deviceExpirySeconds > 0 && forgotten.allows(rate, now: now)
        guard mayForget || turn.settings.unusedDeviceSeconds > 0 && now >= unusedNext else { return }
        pauseMilliseconds = min(Int64(Limits.Device.sweepPauseSeconds) * 1_000, shortest / 8)
        isAsking = true
        asksForAbsent = mayForget
        next = now.advanced(milliseconds: turn.shares.sweepMilliseconds)
        let limit = Limits.Device.expiredPerSweep
        turn.load(
            .unseen(
                before: mayForget ? turn.now.wall - turn.settings.expiryMilliseconds : .min,
                unusedBefore: turn.settings.unusedDeviceSeconds > 0
                    ? turn.now.wall - turn.settings.unusedMilliseconds : .min,
                from: mayForget ? from : unusedFrom, examine: Limits.Device.examinedPerSweep,
                limit: mayForget ? min(limit, rate.burst) : limit, partition: turn.partition))
    }

    /// Moves the search on after an answer.
    mutating func answered(_ found: [DeviceID], next device: DeviceID?, _ turn: inout Turn) {
        demandAnswer(found, device, &turn)
        isAsking = false
        let now = turn.now.monotonic
        guard asksForAbsent else {
            unusedFrom = device ?? DeviceID.lowest
            if device == nil { unusedNext = now.advanced(milliseconds: pauseMilliseconds) }
            return
        }
        for _ in found { forgotten.consume(turn.shares.forgottenDevices, now: now) }
        if device == nil {
            if isWholeRound { next = now.advanced(milliseconds: pauseMilliseconds) }
            isWholeRound = true
        }
        from = device ?? DeviceID.lowest
    }

    /// The query has failed, and is repeated.
    mutating func failed(_ turn: inout Turn) {
        turn.demand(isAsking, "a search for devices failed that was not requested")
        isAsking = false
    }

    /// Checks an answer: it was requested, is within the limit, and the search moves forward.
    private func demandAnswer(_ found: [DeviceID], _ next: DeviceID?, _ turn: inout Turn) {
        turn.demand(isAsking, "the answer to a device search that was not requested")
        turn.demand(
            found.count <= Limits.Device.expiredPerSweep, "a device search returned more than its limit")
        let start = asksForAbsent ? from : unusedFrom
        turn.demand(next.map { $0 > start } ?? true, "a device search moved backward")
        turn.demand(
            found.first.map { $0 >= start } ?? true,
            "a device search found a device before its start position")
        turn.demand(
            found.last.map { last in next.map { last < $0 } ?? true } ?? true,
            "a device search found a device after its end position")
    }
}

/// Expiry of devices without contact (mcs-device 3.8; http 11: a token without contact expires after 270 days).
extension DeviceHub {
    mutating func unseenLoaded(_ found: [DeviceID], next: DeviceID?, _ turn: inout Turn) {
        sweep.answered(found, next: next, &turn)
        for device in found { handle(.unseen, of: device, &turn) }
    }

    /// Removes a device that the search has found, unless it has been in contact since.
    mutating func unseen(_ entry: DeviceEntry, _ turn: inout Turn) {
        // A tick retries unwritten contacts too, faster than devices may be removed: these devices wait for the search.
        guard !writeContact(entry, &turn), let record = entry.record else { return }
        // A connected device is in contact, however long ago it logged in. An app behind APNs need never connect: APNs
        // reports when it is uninstalled.
        let isApple = entry.registrations.contains {
            $0.registration.usesAPNs && $0.registration.apnsState.end == nil
        }
        // The clock was wrong at the last contact, so its age is unknown: the period starts now.
        guard entry.link == nil, !isApple, record.seenAt >= Limits.Clock.earliest else {
            return updateLastSeen(entry, record, &turn)
        }
        // It was not used after its check-in (mcs-device 3.8), or had no contact for too long.
        let isUnused =
            record.isUnused && turn.settings.unusedDeviceSeconds > 0
            && turn.now.wall - record.unusedSince > turn.settings.unusedMilliseconds
        let isAbsent =
            turn.settings.deviceExpirySeconds > 0 && entry.waitingUpstream.isEmpty
            && turn.now.wall - record.seenAt > turn.settings.expiryMilliseconds
        guard turn.clock.showsAges, isUnused || isAbsent else { return }
        _ = removeDevice(entry, &turn)
        if isUnused { turn.effects.unusedDevices += 1 } else { turn.effects.expiredDevices += 1 }
    }

    // MARK: Last-seen times that are not stored yet

    /// Writes the next of these times; a device whose state is being read is tried again at the next tick.
    mutating func tickContacts(_ turn: inout Turn) {
        turn.demand(
            pendingLastSeen.count <= Limits.Device.pendingLastSeen,
            "there are more pending last-seen times than the limit"
        )
        for device in pendingLastSeen.next(turn.shares.lastSeenPerTick) {
            if let entry = table[device], !entry.state.isReady { continue }
            handle(.unseen, of: device, &turn)
        }
    }

    /// Writes a pending last-seen time that is newer than the device's record; if the write fails, the time is queued again.
    /// Returns whether there was one.
    private mutating func writeContact(_ entry: DeviceEntry, _ turn: inout Turn) -> Bool {
        guard let contact = pendingLastSeen.remove(entry.device) else { return false }
        guard var record = entry.record,
            case let latest = PendingLastSeen.later(record.seenAt, contact),
            record.seenAt != latest || !record.hasLoggedIn
        else { return true }
        record.seenAt = latest
        record.hasLoggedIn = true
        entry.write(record, &turn)
        return true
    }
}

extension DeliverySettings {
    /// How long a device may stay without contact, in milliseconds; 0 disables the limit.
    var expiryMilliseconds: Int64 { Int64(deviceExpirySeconds) * 1_000 }

    /// How long a device may stay unused after its check-in, in milliseconds; 0 disables the limit.
    fileprivate var unusedMilliseconds: Int64 { Int64(unusedDeviceSeconds) * 1_000 }

    /// The shorter of the two limits that are set, in milliseconds. `nil` if neither is set.
    fileprivate var shortestAbsence: Int64? {
        [expiryMilliseconds, unusedMilliseconds].filter { $0 > 0 }.min()
    }

    /// Returns how far a stored last-seen time may lag behind, in milliseconds: a small part of the time that a device may stay
    /// without contact.
    func seenGranularity(atMost seconds: Int) -> Int64 {
        let most = Int64(seconds) * 1_000
        return deviceExpirySeconds > 0 ? min(most, expiryMilliseconds / 8) : most
    }
}
