public import Basics

extension Instant {
    /// Returns the last moment of a grid that is not later. What is due at such moments on several partitions shares a wake-up.
    public func floored(toMilliseconds grid: Int64) -> Instant {
        Instant(nanoseconds: nanoseconds - nanoseconds % (grid * 1_000_000))
    }
}
