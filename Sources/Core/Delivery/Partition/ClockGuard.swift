public import Basics

/// Why the machine's wall clock is not believed.
public enum ClockDoubt: Sendable, Equatable {
    /// It is ahead of the last believed time plus the time that has passed since, by this much.
    case ahead(milliseconds: Int64)
    /// It is behind, by this much.
    case behind(milliseconds: Int64)
    /// It shows an impossible time: before 2023, or from 2100 on.
    case impossible
    /// It has jumped by this much while this process ran, back if negative.
    case jumped(milliseconds: Int64)
}

/// Who confirms that the machine's wall clock is right.
public enum ClockWitness: Sendable, Equatable {
    /// An operator, who also wants what is overdue by it to be forgotten.
    case `operator`
    /// A device that existed before the doubt.
    case device
}

/// Judges whether the machine's wall clock can be believed, from the time that has passed on the monotonic clock since the wall
/// clock was last believed.
///
/// - **At a start** the only clue is the mark of the previous process in the store. A clock days ahead of it is believed. Any other is
///   in doubt: nothing expires, and recorded times are the lower bound of the real time. The doubt ends when the clock returns to
///   the expected time, after a grace period of running time, or when an operator or a device confirms the clock.
/// - **Once this process has believed the clock**, its monotonic clock measures the time. A jump of the wall clock is not followed: the
///   time goes on as measured, so that messages expire when they should and get the lifetimes they should. A jump that lasts is a
///   correction: it is followed after `Limits.Clock.jumpConfirmedSeconds`, or, if it is of more than days, after the grace period
///   or a confirmation. Until then no device is forgotten, since the clock may have been wrong before the jump.
///
/// A clock that shows an impossible time is never believed.
public struct ClockGuard: Sendable {
    /// A believed time, and the monotonic time at which it was read.
    private struct Anchor {
        var wall: UnixMilliseconds
        var at: Instant
        /// Whether this process has believed it; otherwise it is the mark of the previous process at the first reading.
        var isOwn: Bool
    }

    /// A doubt, and the readings at its start.
    private struct Open {
        var doubt: ClockDoubt
        /// Wall clock minus monotonic clock, in milliseconds.
        var offset: Int64
        var since: Instant
        /// The believed time when the doubt started; `nil` if no time had been believed.
        var sound: UnixMilliseconds?
    }

    /// The last believed time of the previous process; `nil` if unknown, or once it has become the anchor.
    private var mark: UnixMilliseconds?
    private var anchor: Anchor?
    private var open: Open?
    /// Whether this process has followed a jump forward.
    private var hasFollowedJump = false
    /// The last reading of the machine's clocks, and the time that was derived from it.
    private var last: (machine: Now, core: Now)?

    /// Starts with the last believed time of the previous process, in milliseconds since 1970; `nil` if unknown.
    public init(mark: UnixMilliseconds?) { self.mark = mark.flatMap { Self.isPossible($0) ? $0 : nil } }

    /// Why the clock is in doubt; `nil` if it is believed.
    public var doubt: ClockDoubt? { open?.doubt }

    /// Whether devices and installations may be forgotten for the age of their last contact. Contacts before a jump that was followed
    /// appear older by it, and new ones come in the course of the process.
    var showsAges: Bool { open == nil && !hasFollowedJump }

    /// Whether the time of the core is known: the wall clock is believed, or this process has believed it before and has measured the
    /// time since.
    public var knowsTime: Bool { open == nil || anchor?.isOwn == true }

    /// When a doubt ends without confirmation, with a grace period of `seconds` (0: none); `nil` if never.
    func graceEnds(after seconds: Int) -> Instant? {
        guard let open, open.doubt != .impossible else { return nil }
        let isDays = UInt64(Limits.Clock.aheadSeconds) * 1_000
        if case .jumped(let milliseconds) = open.doubt, milliseconds.magnitude <= isDays {
            let confirmed = Limits.Clock.jumpConfirmedSeconds
            return open.since.advanced(seconds: seconds > 0 ? min(seconds, confirmed) : confirmed)
        }
        return seconds > 0 ? open.since.advanced(seconds: seconds) : nil
    }

    /// Records a reading of the machine's clocks and returns the time that the core uses. A grace period of 0 never ends a doubt.
    mutating func read(_ machine: Now, grace seconds: Int) -> Now {
        if let last, last.machine == machine { return last.core }
        if let mark, anchor == nil { anchor = Anchor(wall: mark, at: machine.monotonic, isOwn: false) }
        mark = nil
        judge(machine, grace: seconds)
        let core = reading(machine)
        last = (machine, core)
        return core
    }

    private mutating func judge(_ machine: Now, grace seconds: Int) {
        guard let doubt = doubt(of: machine) else {
            // It is where it was measured to be: a doubt before was a mistake, and no jump is followed.
            open = nil
            return believe(machine)
        }
        let offset = machine.wall &- machine.monotonic.nanoseconds / 1_000_000
        let tolerance = UInt64(Limits.Clock.behindSeconds) * 1_000
        if let open, (offset &- open.offset).magnitude <= tolerance {
            self.open?.doubt = doubt
        } else {
            // A different wrong time is a new doubt, with a grace period of its own.
            open = Open(
                doubt: doubt, offset: offset, since: machine.monotonic,
                sound: open == nil ? expected(at: machine.monotonic) : open?.sound)
        }
        if let end = graceEnds(after: seconds), machine.monotonic >= end { believe(machine) }
    }

    private func doubt(of machine: Now) -> ClockDoubt? {
        guard Self.isPossible(machine.wall) else { return .impossible }
        guard let expected = expected(at: machine.monotonic) else { return nil }
        let ahead = machine.wall - expected
        if anchor?.isOwn == true {
            let isStep = ahead.magnitude <= UInt64(Limits.Clock.stepSeconds) * 1_000
            return isStep ? nil : .jumped(milliseconds: ahead)
        }
        if ahead > Int64(Limits.Clock.aheadSeconds) * 1_000 { return .ahead(milliseconds: ahead) }
        if ahead < -Int64(Limits.Clock.behindSeconds) * 1_000 { return .behind(milliseconds: -ahead) }
        return nil
    }

    /// Returns whether a clock can show this time (milliseconds since 1970).
    public static func isPossible(_ wall: UnixMilliseconds) -> Bool {
        Limits.Clock.earliest <= wall && wall < Limits.Clock.latest
    }

    /// The last believed time plus the time that has passed since; `nil` if no time has been believed.
    private func expected(at now: Instant) -> UnixMilliseconds? {
        anchor.map { $0.wall + max(0, now.milliseconds(since: $0.at)) }
    }

    private mutating func believe(_ machine: Now) {
        anchor = Anchor(wall: machine.wall, at: machine.monotonic, isOwn: true)
        if case .jumped(let milliseconds) = doubt, milliseconds > 0 { hasFollowedJump = true }
        open = nil
    }

    private func reading(_ machine: Now) -> Now {
        var core = machine
        guard open != nil else { return core }
        if let expected = expected(at: machine.monotonic) {
            core.wall = expected
            if knowsTime { return core }
            core.latestInDoubt =
                max(expected, min(machine.wall, Limits.Clock.latest)) + Limits.Clock.lifetimeInDoubt
        } else {
            // Recorded times are then before the earliest possible one, so that readers recognize them as unknown.
            core.wall = min(machine.wall, Limits.Clock.earliest - 1)
            core.latestInDoubt = Limits.Clock.latest
        }
        return core
    }

    /// Accepts the clock as right. Returns `false` if it shows an impossible time.
    ///
    /// After a jump, ages count at once only on the word of an operator: one device must not make others be forgotten.
    mutating func accept(_ machine: Now, by witness: ClockWitness) -> Bool {
        guard Self.isPossible(machine.wall) else { return false }
        believe(machine)
        if witness == .operator { hasFollowedJump = false }
        last = nil
        return true
    }

    /// Returns whether the clock of a device that existed before the doubt (milliseconds since 1970) agrees with ours.
    func isConfirmed(by device: UnixMilliseconds, madeAt: UnixMilliseconds) -> Bool {
        guard let open, open.doubt != .impossible, let sound = open.sound, let last else { return false }
        let agreement = UInt64(Limits.Clock.agreementSeconds) * 1_000
        // A device that agrees with the time before the jump as well confirms nothing.
        if knowsTime, (last.core.wall &- device).magnitude <= agreement { return false }
        return madeAt >= Limits.Clock.earliest && madeAt < sound
            && (last.machine.wall &- device).magnitude <= agreement
    }

    /// The time to store for the next process; `nil` if no time has been believed.
    func mark(at core: Now) -> UnixMilliseconds? { anchor == nil ? nil : max(0, core.wall) }

    /// A reading for callers outside the core: the measured time after a jump; otherwise the machine's time, by which nothing expires
    /// while the clock is in doubt.
    ///
    /// The reading is judged by itself, since the clock may have jumped after the last event of this partition.
    public func externalReading(_ machine: Now) -> Now {
        var reading = machine
        let isDoubted = doubt(of: machine) != nil
        if anchor?.isOwn == true {
            if isDoubted, let expected = expected(at: machine.monotonic) { reading.wall = expected }
        } else if open != nil || isDoubted {
            reading.latestInDoubt = Limits.Clock.latest
        }
        return reading
    }
}
