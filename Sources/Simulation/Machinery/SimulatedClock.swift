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
            wall: wallOffset + nanoseconds / 1_000_000)
    }

    /// Time has come this far.
    mutating func advance(to time: Int64) { nanoseconds = max(nanoseconds, time) }

    private var latestBeforeChange = UnixMilliseconds.min

    /// The latest wall clock time that ever was.
    var latestWall: UnixMilliseconds { max(latestBeforeChange, now.wall) }

    /// The wall clock is set forward or back.
    mutating func setWall(by milliseconds: Int64) {
        latestBeforeChange = latestWall
        wallOffset += milliseconds
    }
}
