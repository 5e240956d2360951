import Glibc

/// A point on the monotonic clock, in nanoseconds from an origin that is valid within this process only. It goes on while the machine
/// is suspended, so that the wall clock afterwards agrees with it.
public struct Instant: Comparable, Hashable, Sendable {
    /// Nanoseconds since the origin.
    public var nanoseconds: Int64

    /// The instant `nanoseconds` after the origin.
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Earlier than all others.
    public static var distantPast: Instant { Instant(nanoseconds: .min) }
    /// Later than all others.
    public static var distantFuture: Instant { Instant(nanoseconds: .max) }

    public static func < (a: Instant, b: Instant) -> Bool { a.nanoseconds < b.nanoseconds }

    /// Returns the earlier of this instant and another one, if there is one.
    @inline(__always)
    public func orEarlier(_ other: Instant?) -> Instant { min(self, other ?? self) }

    /// Returns the instant `milliseconds` later, or earlier if negative; saturates.
    public func advanced(milliseconds: Int64) -> Instant {
        let (span, tooLong) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
        let (sum, over) = nanoseconds.addingReportingOverflow(span)
        guard tooLong || over else { return Instant(nanoseconds: sum) }
        return milliseconds < 0 ? .distantPast : .distantFuture
    }

    /// Returns the instant `seconds` later; saturates.
    public func advanced(seconds: Int) -> Instant {
        let (milliseconds, over) = Int64(clamping: seconds).multipliedReportingOverflow(by: 1_000)
        guard over else { return advanced(milliseconds: milliseconds) }
        return seconds < 0 ? .distantPast : .distantFuture
    }

    /// Returns the last moment of a grid that is not later. What is due at such moments shares a wake-up.
    public func floored(toMilliseconds grid: Int64) -> Instant {
        Instant(nanoseconds: nanoseconds - nanoseconds % (grid * 1_000_000))
    }

    /// Returns whole milliseconds from `other` to this instant, negative if `other` is later; saturates.
    public func milliseconds(since other: Instant) -> Int64 {
        let (span, over) = nanoseconds.subtractingReportingOverflow(other.nanoseconds)
        guard over else { return span / 1_000_000 }
        return nanoseconds < other.nanoseconds ? .min : .max
    }
}

/// Milliseconds since 1970-01-01 00:00 UTC.
public typealias UnixMilliseconds = Int64

/// A reading of both clocks, made once per turn: deadlines use the monotonic one, lifetimes the wall clock.
public struct Now: Sendable, Equatable {
    /// For deadlines and rates.
    public var monotonic: Instant
    /// For lifetimes, which outlive the process, in milliseconds since 1970.
    public var wall: UnixMilliseconds
    /// The latest possible time, in milliseconds since 1970, while the wall clock is in doubt; otherwise `nil`.
    public var latestInDoubt: UnixMilliseconds?
    /// Milliseconds by which `wall` is ahead of the machine's clock: what a test clock was advanced by, otherwise 0.
    public var advance: Int64 = 0

    /// Creates a reading that is not in doubt.
    public init(monotonic: Instant, wall: UnixMilliseconds) {
        self.monotonic = monotonic
        self.wall = wall
    }

    /// Returns whether an instant, if there is one, is now or was earlier.
    @inline(__always)
    public func hasReached(_ instant: Instant?) -> Bool { instant.map { $0 <= monotonic } ?? false }

    /// The time for expiry checks, in milliseconds since 1970: the wall clock, or a time before all others while it is in
    /// doubt, so that nothing expires.
    public var expiryCutoff: UnixMilliseconds { latestInDoubt == nil ? wall : .min }

    /// The time on the machine's clock, in milliseconds since 1970, for what others have signed or dated.
    public var machineWall: UnixMilliseconds { wall - advance }

    /// Returns the expiry of a lifetime of `milliseconds` that starts now: never too early, even if the clock is in doubt. A
    /// lifetime of 0 ends now.
    public func expiry(after milliseconds: Int64) -> UnixMilliseconds {
        milliseconds > 0 ? (latestInDoubt ?? wall) + milliseconds : wall
    }

    /// Reads the machine's clocks. The monotonic one includes suspensions: without them, the wall clock would seem to have jumped
    /// when the machine resumes.
    public static func read() -> Now {
        Now(
            monotonic: Instant(nanoseconds: nanoseconds(of: CLOCK_BOOTTIME)),
            wall: nanoseconds(of: CLOCK_REALTIME) / 1_000_000)
    }

    private static func nanoseconds(of clock: clockid_t) -> Int64 {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }

    /// Returns a point on `CLOCK_MONOTONIC` for waits on condition variables, which know no clock that includes suspensions, in
    /// nanoseconds. A suspension during the wait prolongs it.
    public static func waitEnd(_ end: Instant) -> Int64 {
        let wait = end.nanoseconds.subtractingReportingOverflow(read().monotonic.nanoseconds)
        let sum = nanoseconds(of: CLOCK_MONOTONIC).addingReportingOverflow(max(0, wait.partialValue))
        return wait.overflow || sum.overflow ? .max : sum.partialValue
    }
}
