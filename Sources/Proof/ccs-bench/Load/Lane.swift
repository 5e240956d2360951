/// A connection on which messages are sent.
protocol Lane: AnyObject {
    /// Messages sent and not yet acknowledged.
    var outstanding: Int { get }
    /// Maximum of outstanding messages.
    var window: Int { get }
    /// Writes one message that was due at `time`, in nanoseconds of the monotonic clock: its latency counts from there.
    func send(dueAt time: Int64)
    /// Passes written messages to the connection.
    func flush()
}

/// How messages are offered.
enum Pacing: Equatable {
    /// Closed loop: the window of every lane is kept full. Measures the maximum rate of a server; latencies include the queue.
    case window
    /// Open loop: a rate in messages a second at random times, independent of the server. Measures the latency of occasional
    /// senders.
    case rate(Double)
}
