import Basics

/// Check-ins, and the last-seen time of devices (mcs-device 5.1).
extension DeviceHub {
    mutating func checkIn(_ checkIn: CheckIn, _ entry: DeviceEntry, _ turn: inout Turn) {
        let requester = checkIn.requester
        guard let claimed = checkIn.claimed else {
            return create(checkIn, entry, &turn)
        }
        guard let record = entry.record(ofToken: claimed.1) else {
            if checkIn.refusesWrongToken {
                turn.reply(.checkInRefused, to: requester)
            } else {
                // A new device, which may belong to another partition.
                var fresh = checkIn
                fresh.claimed = nil
                turn.forward(.checkIn(fresh))
            }
            return
        }
        updateLastSeen(entry, record, &turn)
        turn.refundQuota(of: requester)
        turn.reply(.checkedIn(entry.device, freshToken: nil), to: requester)
    }

    private mutating func create(
        _ checkIn: CheckIn, _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        let requester = checkIn.requester
        guard entry.record == nil else {
            // The fresh id is taken, which is as likely as guessing an id: it is enough that the client can ask again.
            turn.reply(.checkInRefused, to: requester)
            return
        }
        if let refusal = turn.refusalToAdd(for: nil, requester) {
            turn.refuseRequest(requester, refusal)
            return
        }
        let record = DeviceRecord(
            device: checkIn.freshDevice, token: checkIn.freshDigest, createdAt: turn.contactTime,
            seenAt: turn.contactTime, nextRegistration: 1, hasLoggedIn: false)
        entry.write(record, &turn)
        turn.replyWhenStored(
            .checkedIn(checkIn.freshDevice, freshToken: checkIn.freshToken), to: requester)
    }

    /// Updates a device's last-seen time, at most once in `seconds`, since each update is a write.
    mutating func updateLastSeen(
        _ entry: DeviceEntry, _ record: DeviceRecord,
        every seconds: Int = Limits.Device.seenGranularitySeconds,
        _ turn: inout Turn
    ) {
        guard turn.clock.knowsTime || record.seenAt != Limits.Clock.contactInDoubt else { return }
        let age = turn.now.wall - record.seenAt
        // A last-seen time in the future was recorded while the clock was wrong.
        let isAhead = age < -Int64(Limits.Clock.behindSeconds) * 1_000
        guard isAhead || age >= turn.settings.seenGranularity(atMost: seconds) || !turn.clock.knowsTime
        else { return }
        var record = record
        record.seenAt = turn.contactTime
        entry.write(record, &turn)
    }

    /// Records a login. The first one is written at once: from then on the device is not an unauthenticated peer.
    mutating func recordLogin(
        _ entry: DeviceEntry, _ record: DeviceRecord, _ turn: inout Turn
    ) {
        guard !record.hasLoggedIn else { return updateLastSeen(entry, record, &turn) }
        var record = record
        record.hasLoggedIn = true
        record.seenAt = turn.contactTime
        entry.write(record, &turn)
    }
}
