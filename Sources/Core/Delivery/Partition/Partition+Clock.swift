public import Basics

/// Time: the tick, and whether the machine's wall clock is believed.
extension Partition {
    /// Why the machine's wall clock is in doubt; `nil` if it is believed.
    public var clockDoubt: ClockDoubt? { turn.clock.doubt }

    /// When the clock doubt ends by itself; `nil` if there is no doubt or no grace period.
    public var clockGraceEnds: Instant? { turn.clock.graceEnds(after: turn.settings.clockGraceSeconds) }

    /// The judge of the clock, for other threads.
    public var clock: ClockGuard { turn.clock }

    /// The time for sessions: the measured one after a jump, otherwise the machine's, by which nothing expires while the clock is in
    /// doubt.
    public func sessionTime(_ machine: Now) -> Now { turn.clock.externalReading(machine) }

    mutating func tick() {
        recordClock()
        searchForExpired()
        devices.tick(&turn)
        installations.tick(&turn)
        senders.tick(&turn)
        topics.tick(&turn)
        // With the removals themselves, which the hubs have written again.
        guard !retriedSteps.isEmpty, !turn.effects.mutations.isEmpty else { return }
        turn.batch.history.append(retriedSteps)
        retriedSteps.removeAll()
    }

    /// Records the time for the next process, at intervals and whenever the clock becomes doubted or believed. All partitions use
    /// the same clock, so it does not matter whose record is the last.
    private mutating func recordClock() {
        let isDoubted = turn.clock.doubt != nil
        guard turn.now.monotonic >= clockMark.next || clockMark.isDoubted != isDoubted else { return }
        clockMark.isDoubted = isDoubted
        clockMark.next = turn.now.monotonic.advanced(seconds: Limits.Clock.markSeconds)
        if let mark = turn.clock.mark(at: turn.now) {
            turn.write(.putMark(.clock, UInt64(clamping: mark)))
        }
    }
}

extension Turn {
    /// The contact time to record for a device. In doubt it is left open, and the device's time starts when the clock is believed
    /// again.
    var contactTime: UnixMilliseconds { clock.knowsTime ? now.wall : Limits.Clock.contactInDoubt }

    /// Lets a device that existed before the doubt confirm the clock: its clock is independent of ours, so where the two agree they
    /// are right. The clock of a device created later does not count, as it may belong to an attacker.
    mutating func confirmClockIfAgreed(_ upstream: UpstreamSubmission, _ entry: DeviceEntry) {
        guard clock.doubt != nil, let time = upstream.sentAt, let record = entry.record,
            clock.isConfirmed(by: time, madeAt: record.createdAt)
        else { return }
        effects.confirmsClock = true
    }
}

/// The record of the time in the store.
struct ClockMark {
    /// When it is next written.
    var next = Instant.distantPast
    /// Whether the clock was in doubt when it was written.
    var isDoubted = false
}
