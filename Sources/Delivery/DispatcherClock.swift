public import Basics

/// Whether the machine's clock is believed, and who may say that it is right.
extension Dispatcher {
    /// Why the machine's wall clock is in doubt; nil: it is believed.
    public var clockDoubt: ClockDoubt? { clock.doubt }

    /// When a doubt ends by itself; nil: there is none, or it does not.
    public var clockGraceEnds: Instant? { clock.graceEnds(after: settings.clockGraceSeconds) }

    /// The time by which sessions go: the machine's, by which nothing ends while it is in doubt.
    public func sessionTime(_ machine: Now) -> Now { clock.outside(machine) }

    /// When a device was here that is here now; in doubt that is left open, and its time begins when the clock is believed again.
    func contactTime(_ now: Now) -> UnixMilliseconds {
        clock.doubt == nil ? now.wall : Limits.contactInDoubt
    }

    /// Partition 0 notes the time for the next process, now and then and whenever what is believed has changed.
    mutating func tickClock(_ now: Now, _ effects: inout Effects) {
        guard partition == 0 else { return }
        let isDoubted = clock.doubt != nil
        guard now.monotonic >= clockMark.next || clockMark.isDoubted != isDoubted else { return }
        clockMark.isDoubted = isDoubted
        clockMark.next = now.monotonic.advanced(seconds: Limits.clockMarkSeconds)
        if let mark = clock.mark(at: now) {
            effects.mutations.append(.putMark(.clock, UInt64(clamping: mark)))
        }
    }

    /// A device that was here before the doubt says what time it is: its clock and ours have nothing in common, so that where they
    /// agree they are right. A device that came later is a stranger, whose word counts for nothing.
    func noteDeviceTime(_ upstream: UpstreamSubmission, _ entry: DeviceEntry, _ effects: inout Effects) {
        guard clock.doubt != nil, let time = upstream.sentAt, let record = entry.record,
            clock.isConfirmed(by: time, madeAt: record.createdAt)
        else { return }
        effects.confirmsClock = true
    }
}

/// The note of the time that partition 0 keeps in the store.
struct ClockMark {
    /// When it is written again.
    var next = Instant.distantPast
    /// Whether the clock was in doubt when it was written.
    var isDoubted = false
}
