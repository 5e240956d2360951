import Basics

/// The clock of a world: it advances only when the world does.
struct SimulatedClock {
    /// Nanoseconds since the world started.
    private(set) var nanoseconds: Int64 = 1_000_000_000
    /// Milliseconds by which the wall clock is ahead of the monotonic one; changes when the clock is set.
    private var wallOffset: UnixMilliseconds = 1_700_000_000_000

    /// Both readings.
    var now: Now {
        Now(
            monotonic: Instant(nanoseconds: nanoseconds),
            wall: honest + error)
    }

    /// What the wall clock would show if it were right.
    var honest: UnixMilliseconds { wallOffset + nanoseconds / 1_000_000 }
    /// The error of the wall clock, in milliseconds.
    var error: Int64 = 0 {
        didSet {
            wasNeverSet = wasNeverSet || now.wall < Limits.Clock.earliest
            wasWrong = wasWrong || error != 0
        }
    }
    /// Whether the wall clock ever was wrong.
    private(set) var wasWrong = false
    /// Whether the wall clock ever showed an impossible time, so that what is remembered for a day may end early.
    private(set) var wasNeverSet = false

    /// Advances the time.
    mutating func advance(to time: Int64) { nanoseconds = max(nanoseconds, time) }

    private var latestBeforeChange = UnixMilliseconds.min

    /// The latest time so far, by a wall clock without error.
    var latestWall: UnixMilliseconds { max(latestBeforeChange, honest) }

    /// Sets the wall clock forward or back.
    mutating func setWall(by milliseconds: Int64) {
        latestBeforeChange = latestWall
        wallOffset += milliseconds
    }
}
