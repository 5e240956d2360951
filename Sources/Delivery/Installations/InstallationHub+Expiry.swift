import Basics

/// Installations that nobody uses any more.
extension InstallationHub {
    /// Forgets an installation that was last used before a time; whether it is being changed.
    mutating func expire(
        _ record: InstallationRecord, _ time: UnixMilliseconds, _ turn: inout Turn
    ) -> Bool {
        guard turn.clock.doubt == nil, record.usedAt < time else { return false }
        if record.usedAt < Limits.Clock.earliest {
            // It was used in a time that cannot have been, which says nothing of how long ago that was: its time begins now.
            var record = record
            record.usedAt = turn.now.wall
            turn.write(.putInstallation(record))
        } else {
            turn.write(.removeInstallation(record.id))
        }
        turn.wait(.installation(record.id))
        return true
    }

    /// Has the store looked through for installations that nobody uses any more, page by page, as for devices.
    mutating func tick(_ turn: inout Turn) {
        if sweep.next == .distantPast { sweep.next = turn.firstSearch }
        guard turn.settings.deviceExpirySeconds > 0, !sweep.isAsking, turn.clock.doubt == nil,
            turn.now.monotonic >= sweep.next
        else { return }
        sweep.isAsking = true
        sweep.next = turn.now.monotonic.advanced(milliseconds: turn.shares.sweepMilliseconds)
        let before = turn.now.wall - turn.settings.expiryMilliseconds
        let unlinked = turn.now.wall - Int64(Limits.Installation.unusedSeconds) * 1_000
        turn.load(
            .unusedInstallations(
                before: before, unlinkedBefore: max(before, unlinked), from: sweep.from,
                examine: Limits.Installation.rowsPerSweep, limit: Limits.Device.expiredPerSweep,
                partition: turn.partition))
    }

    mutating func unusedLoaded(
        _ found: [[UInt8]], next: [UInt8]?, before: UnixMilliseconds, unlinkedBefore: UnixMilliseconds,
        _ turn: inout Turn
    ) {
        turn.demand(sweep.isAsking, "an answer to a search for installations that nobody asked for")
        turn.demand(
            found.count <= Limits.Device.expiredPerSweep, "a search found more installations than asked for")
        turn.demand(
            next.map { sweep.from.lexicographicallyPrecedes($0) } ?? true,
            "a search for installations goes back")
        sweep.isAsking = false
        sweep.from = next ?? []
        if next == nil {
            let rest = min(
                Int64(Limits.Device.sweepPauseSeconds) * 1_000, turn.settings.expiryMilliseconds / 8)
            sweep.next = turn.now.monotonic.advanced(milliseconds: rest)
        }
        for id in found {
            handle(.unused(before: before, unlinkedBefore: unlinkedBefore), of: id, &turn)
        }
    }
}

/// The search for installations of this partition that nobody uses any more.
struct InstallationSweep {
    /// Whether the store has been asked.
    var isAsking = false
    /// When it is asked again; before the first tick nobody knows.
    var next = Instant.distantPast
    /// Where it goes on.
    var from: [UInt8] = []
}
