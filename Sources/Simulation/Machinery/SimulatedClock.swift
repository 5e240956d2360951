import Basics

/// Time that passes only when the world says so.
struct SimulatedClock {
    /// Nanoseconds since the world began.
    private(set) var nanoseconds: Int64 = 1_000_000_000
    /// Milliseconds by which the wall clock is ahead of the other one; jumps when somebody sets it.
    private var wallOffset: UnixMilliseconds = 1_700_000_000_000

    /// Both readings.
    var now: Now {
        Now(
            monotonic: Instant(nanoseconds: nanoseconds),
            wall: honest + error)
    }

    /// What the wall clock would show, were it right.
    var honest: UnixMilliseconds { wallOffset + nanoseconds / 1_000_000 }
    /// By how many milliseconds it is wrong.
    var error: Int64 = 0 {
        didSet { wasNeverSet = wasNeverSet || now.wall < Limits.Clock.earliest }
    }
    /// Whether it ever showed a time in which nothing is known, so that what lasts a day after it may end early.
    private(set) var wasNeverSet = false

    /// Time has come this far.
    mutating func advance(to time: Int64) { nanoseconds = max(nanoseconds, time) }

    private var latestBeforeChange = UnixMilliseconds.min

    /// The latest time that ever was, by a wall clock that was right.
    var latestWall: UnixMilliseconds { max(latestBeforeChange, honest) }

    /// The wall clock is set forward or back.
    mutating func setWall(by milliseconds: Int64) {
        latestBeforeChange = latestWall
        wallOffset += milliseconds
    }
}
