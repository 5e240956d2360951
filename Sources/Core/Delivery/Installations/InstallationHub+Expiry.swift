import Basics

/// Expiry of unused installations.
extension InstallationHub {
    /// Removes an installation that was last used before a time. Returns whether a write is under way.
    mutating func expire(
        _ record: InstallationRecord, _ time: UnixMilliseconds, _ turn: inout Turn
    ) -> Bool {
        guard turn.clock.showsAges, record.usedAt < time else { return false }
        if record.usedAt < Limits.Clock.earliest {
            // The clock was wrong when it was last used, so its age is unknown: the period starts now.
            var record = record
            record.usedAt = turn.now.wall
            turn.write(.putInstallation(record))
        } else {
            turn.write(.removeInstallation(record.id))
        }
        turn.wait(.installation(record.id))
        return true
    }

    /// Searches the store for unused installations page by page, as for devices.
    mutating func tick(_ turn: inout Turn) {
        if sweep.next == .distantPast { sweep.next = turn.firstSearch }
        guard turn.settings.deviceExpirySeconds > 0, !sweep.isAsking, turn.clock.showsAges,
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
        turn.demand(sweep.isAsking, "the answer to an installation search that was not requested")
        turn.demand(
            found.count <= Limits.Device.expiredPerSweep,
            "an installation search returned more than its limit")
        turn.demand(
            next.map { sweep.from.lexicographicallyPrecedes($0) } ?? true,
            "an installation search moved backward")
        sweep.isAsking = false
        sweep.from = next ?? []
        if next == nil {
            let pause = min(
                Int64(Limits.Device.sweepPauseSeconds) * 1_000, turn.settings.expiryMilliseconds / 8)
            sweep.next = turn.now.monotonic.advanced(milliseconds: pause)
        }
        for id in found {
            handle(.unused(before: before, unlinkedBefore: unlinkedBefore), of: id, &turn)
        }
    }
}

/// The state of the search for unused installations of this partition.
struct InstallationSweep {
    /// Whether a query is outstanding.
    var isAsking = false
    /// When the next query is due; set at the first tick.
    var next = Instant.distantPast
    /// Where the next query starts.
    var from: [UInt8] = []
}
