/// One connection that messages are sent on.
protocol Lane: AnyObject {
    /// Messages sent on it and not yet answered.
    var outstanding: Int { get }
    /// How many there may be.
    var window: Int { get }
    /// Writes one message that was due at a time, nanoseconds of the monotonic clock: its latency counts from there.
    func send(dueAt time: Int64)
    /// Hands over what was written.
    func flush()
}

/// How messages are offered.
enum Pacing: Equatable {
    /// Closed loop: the window of every lane is kept full. Shows the most that a server can do; the queue is in the
    /// latencies.
    case window
    /// Open loop: so many messages a second at random times, whatever the server does. Shows what somebody who sends
    /// now and then waits.
    case rate(Double)
}
