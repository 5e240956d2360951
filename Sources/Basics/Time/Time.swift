import Glibc

/// A point on the monotonic clock, in nanoseconds from an origin that only this process knows.
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

    /// The instant so many milliseconds later, earlier for a negative number; saturates.
    public func advanced(milliseconds: Int64) -> Instant {
        let (span, tooLong) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
        let (sum, over) = nanoseconds.addingReportingOverflow(span)
        guard tooLong || over else { return Instant(nanoseconds: sum) }
        return milliseconds < 0 ? .distantPast : .distantFuture
    }

    /// The instant so many seconds later; saturates.
    public func advanced(seconds: Int) -> Instant {
        let (milliseconds, over) = Int64(clamping: seconds).multipliedReportingOverflow(by: 1_000)
        guard over else { return advanced(milliseconds: milliseconds) }
        return seconds < 0 ? .distantPast : .distantFuture
    }

    /// Whole milliseconds from `other` to this instant, negative if `other` is later; saturates.
    public func milliseconds(since other: Instant) -> Int64 {
        let (span, over) = nanoseconds.subtractingReportingOverflow(other.nanoseconds)
        guard over else { return span / 1_000_000 }
        return nanoseconds < other.nanoseconds ? .min : .max
    }
}

/// Milliseconds since 1970-01-01 00:00 UTC.
public typealias UnixMilliseconds = Int64

/// Both clocks, read once per turn: deadlines use the monotonic one, lifetimes the wall clock.
public struct Now: Sendable, Equatable {
    /// For deadlines and rates.
    public var monotonic: Instant
    /// For lifetimes, which outlive the process, in milliseconds since 1970.
    public var wall: UnixMilliseconds
    /// The latest that it may be while the wall clock is in doubt, in milliseconds since 1970; nil: it is believed.
    public var latestInDoubt: UnixMilliseconds?

    /// A reading of clocks that are believed.
    public init(monotonic: Instant, wall: UnixMilliseconds) {
        self.monotonic = monotonic
        self.wall = wall
    }

    /// What ends at or before this has ended, in milliseconds since 1970: the wall clock, or no time at all while it is in doubt.
    public var ended: UnixMilliseconds { latestInDoubt == nil ? wall : .min }

    /// When something ends that may live so many milliseconds: not too early, whatever is in doubt. With 0 it has no time to live.
    public func end(after milliseconds: Int64) -> UnixMilliseconds {
        milliseconds > 0 ? (latestInDoubt ?? wall) + milliseconds : wall
    }

    /// Reads the machine's clocks.
    public static func read() -> Now {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        let monotonic = Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        let wall = Int64(time.tv_sec) &* 1_000 &+ Int64(time.tv_nsec) / 1_000_000
        return Now(monotonic: Instant(nanoseconds: monotonic), wall: wall)
    }
}
