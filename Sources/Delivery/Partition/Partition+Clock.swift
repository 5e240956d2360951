public import Basics

/// Time: the tick, and whether the machine's clock is believed.
extension Partition {
    /// Why the machine's wall clock is in doubt; `nil` if it is believed.
    public var clockDoubt: ClockDoubt? { turn.clock.doubt }

    /// When a doubt ends by itself; `nil` if there is none, or it does not.
    public var clockGraceEnds: Instant? { turn.clock.graceEnds(after: turn.settings.clockGraceSeconds) }

    /// The time by which sessions go: the machine's, by which nothing ends while it is in doubt.
    public func sessionTime(_ machine: Now) -> Now { turn.clock.outside(machine) }

    mutating func tick() {
        noteClock()
        searchForExpired()
        devices.tick(&turn)
        installations.tick(&turn)
        senders.tick(&turn)
        topics.tick(&turn)
    }

    /// Notes the time for the next process, now and then and whenever what is believed has changed. All partitions go by the same
    /// clock, so it does not matter whose note is the last.
    private mutating func noteClock() {
        let isDoubted = turn.clock.doubt != nil
        guard turn.now.monotonic >= clockMark.next || clockMark.isDoubted != isDoubted else { return }
        clockMark.isDoubted = isDoubted
        clockMark.next = turn.now.monotonic.advanced(seconds: Limits.Clock.markSeconds)
        if let mark = turn.clock.mark(at: turn.now) {
            turn.write(.putMark(.clock, UInt64(clamping: mark)))
        }
    }

    private mutating func searchForExpired() {
        guard !expirySweep.isAsking, turn.clock.doubt == nil, turn.now.monotonic >= expirySweep.next else {
            return
        }
        expirySweep.isAsking = true
        expirySweep.next = turn.now.monotonic.advanced(milliseconds: Int64(Limits.Store.sweepMilliseconds))
        turn.load(
            .expired(by: turn.now.wall, limit: turn.shares.expiredPerSweep, partition: turn.partition))
    }
}

extension Turn {
    /// When a device was here that is here now; in doubt that is left open, and its time starts when the clock is believed again.
    var contactTime: UnixMilliseconds { clock.doubt == nil ? now.wall : Limits.Clock.contactInDoubt }

    /// A device that was here before the doubt says what time it is: its clock and ours have nothing in common, so that where they
    /// agree they are right. A device that came later is a stranger, whose word counts for nothing.
    mutating func noteDeviceTime(_ upstream: UpstreamSubmission, _ entry: DeviceEntry) {
        guard clock.doubt != nil, let time = upstream.sentAt, let record = entry.record,
            clock.isConfirmed(by: time, madeAt: record.createdAt)
        else { return }
        effects.confirmsClock = true
    }
}

/// The note of the time in the store.
struct ClockMark {
    /// When it is written again.
    var next = Instant.distantPast
    /// Whether the clock was in doubt when it was written.
    var isDoubted = false
}
