/// Decides when the shell reports `APNsEvent.streams` for a connection.
///
/// The gateway subtracts by itself what it sends. So a report is due when the number of free streams has changed for whatever reason,
/// and also when it stays at 0 while requests end: then the server allows fewer than were in flight.
public struct StreamReport {
    private var available = 0
    private var allowed = 0

    /// Creates the state of a new connection, which allows no request.
    public init() {}

    /// Returns whether a report is due, and notes it as made.
    public mutating func isDue(available: Int, inFlight: Int) -> Bool {
        let allowed = available + inFlight
        guard available != self.available || allowed != self.allowed else { return false }
        self.available = available
        self.allowed = allowed
        return true
    }
}
