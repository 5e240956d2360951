public import Basics

/// Why the machine's wall clock is not believed.
public enum ClockDoubt: Sendable, Equatable {
    /// It is so many milliseconds ahead of what has passed since it was last believed.
    case ahead(milliseconds: Int64)
    /// It is so many milliseconds behind.
    case behind(milliseconds: Int64)
    /// It shows a time that cannot be: before 2023, or from 2100 on.
    case impossible
}

/// Tells whether the machine's wall clock can be believed, by what has passed on the monotonic one since it was believed last:
/// in this process, or in the one before, whose mark the store keeps.
///
/// While it is in doubt nothing ends by age, and what is noted carries the time that must have passed at least. A doubt ends when
/// the clock is where it is expected, after a grace of running time, or when somebody accepts the clock; a clock that shows a time
/// that cannot be is never believed.
public struct ClockGuard: Sendable {
    /// A time that was believed, and when.
    private struct Anchor {
        var wall: UnixMilliseconds
        var at: Instant
    }

    /// A doubt, and what it began with.
    private struct Open {
        var doubt: ClockDoubt
        /// By how much the wall clock was ahead of the monotonic one, milliseconds.
        var offset: Int64
        var since: Instant
        /// What was believed when it began; nil: nothing.
        var sound: UnixMilliseconds?
    }

    /// Until when the process before has lived; nil once that has been made an anchor, or where it is not known.
    private var mark: UnixMilliseconds?
    private var anchor: Anchor?
    private var open: Open?
    /// The last reading of the machine, and what was made of it.
    private var last: (machine: Now, core: Now)?

    /// Begins with what the process before has left, milliseconds since 1970; nil: nothing is known.
    public init(mark: UnixMilliseconds?) { self.mark = mark.flatMap { Self.isPossible($0) ? $0 : nil } }

    /// Why the clock is in doubt; nil: it is believed.
    public var doubt: ClockDoubt? { open?.doubt }

    /// When the grace is over; nil where no grace runs.
    func graceEnds(after seconds: Int) -> Instant? {
        guard let open, open.doubt != .impossible, seconds > 0 else { return nil }
        return open.since.advanced(seconds: seconds)
    }

    /// Takes in a reading of the machine; returns the time that the core goes by. With `grace` 0 no time ends a doubt.
    mutating func read(_ machine: Now, grace seconds: Int) -> Now {
        if let last, last.machine == machine { return last.core }
        if let mark, anchor == nil { anchor = Anchor(wall: mark, at: machine.monotonic) }
        mark = nil
        judge(machine, grace: seconds)
        let core = reading(machine)
        last = (machine, core)
        return core
    }

    private mutating func judge(_ machine: Now, grace seconds: Int) {
        guard let doubt = doubt(of: machine) else { return believe(machine) }
        let offset = machine.wall &- machine.monotonic.nanoseconds / 1_000_000
        let tolerance = UInt64(Limits.Clock.behindSeconds) * 1_000
        if let open, (offset &- open.offset).magnitude <= tolerance {
            self.open?.doubt = doubt
        } else {
            // Another wrong time is a doubt of its own: its grace begins anew.
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
        if ahead > Int64(Limits.Clock.aheadSeconds) * 1_000 { return .ahead(milliseconds: ahead) }
        if ahead < -Int64(Limits.Clock.behindSeconds) * 1_000 { return .behind(milliseconds: -ahead) }
        return nil
    }

    /// Whether a clock may show such a time at all (milliseconds since 1970).
    public static func isPossible(_ wall: UnixMilliseconds) -> Bool {
        Limits.Clock.earliest <= wall && wall < Limits.Clock.latest
    }

    /// The time by what was believed last and what has passed since; nil: nothing was.
    private func expected(at now: Instant) -> UnixMilliseconds? {
        anchor.map { $0.wall + max(0, now.milliseconds(since: $0.at)) }
    }

    private mutating func believe(_ machine: Now) {
        anchor = Anchor(wall: machine.wall, at: machine.monotonic)
        open = nil
    }

    private func reading(_ machine: Now) -> Now {
        var core = machine
        guard open != nil else { return core }
        if let expected = expected(at: machine.monotonic) {
            core.wall = expected
            core.latestInDoubt =
                max(expected, min(machine.wall, Limits.Clock.latest)) + Limits.Clock.lifetimeInDoubt
        } else {
            // Noted times are then before the earliest one: whoever meets them knows that they say nothing.
            core.wall = min(machine.wall, Limits.Clock.earliest - 1)
            core.latestInDoubt = Limits.Clock.latest
        }
        return core
    }

    /// The clock is right, says somebody who must know; whether that is believed.
    @discardableResult
    mutating func accept(_ machine: Now) -> Bool {
        guard Self.isPossible(machine.wall) else { return false }
        believe(machine)
        last = nil
        return true
    }

    /// Whether a device that was here before the doubt shows by its own clock (milliseconds since 1970) that ours is right.
    func isConfirmed(by device: UnixMilliseconds, madeAt: UnixMilliseconds) -> Bool {
        guard let open, open.doubt != .impossible, let sound = open.sound, let machine = last?.machine
        else { return false }
        return madeAt >= Limits.Clock.earliest && madeAt < sound
            && (machine.wall &- device).magnitude <= UInt64(Limits.Clock.agreementSeconds) * 1_000
    }

    /// What the next process is to begin with; nil where nothing is believed.
    func mark(at core: Now) -> UnixMilliseconds? { anchor == nil ? nil : max(0, core.wall) }

    /// A reading for those outside of the core: the machine's time, by which nothing ends while it is in doubt.
    func outside(_ machine: Now) -> Now {
        var reading = machine
        if open != nil { reading.latestInDoubt = Limits.Clock.latest }
        return reading
    }
}
