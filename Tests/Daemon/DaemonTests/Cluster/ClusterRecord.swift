import Basics

/// What one direction of the load has sent and received.
struct ClusterRecord {
    /// Messages that the server acknowledged.
    var acknowledged: Set<String> = []
    /// How often each message has arrived.
    var arrivals: [String: Int] = [:]
    /// Answers that refused a message, by their error.
    var refusals: [String: Int] = [:]

    var lost: [String] { acknowledged.filter { arrivals[$0] == nil }.sorted() }
    var twice: Int { arrivals.values.count { $0 > 1 } }

    func isWhole(but left: Set<String>) -> Bool {
        acknowledged.allSatisfy { arrivals[$0] != nil || left.contains($0) }
    }
}

/// How long a stream of messages has waited for an acknowledgement, while it had any without one.
struct PauseMeter {
    private var since: Instant?
    private(set) var longest: Int64 = 0

    /// A message was sent.
    mutating func sent(_ now: Instant) { since = since ?? now }

    /// A message was acknowledged; `isLast` if none is left without an answer.
    mutating func acknowledged(_ now: Instant, isLast: Bool) {
        note(now)
        since = isLast ? nil : now
    }

    /// A message was refused, or its connection is lost: its repetition is to come.
    mutating func note(_ now: Instant) {
        if let since { longest = max(longest, now.milliseconds(since: since)) }
    }

    /// Nothing is sent for some time.
    mutating func rest() { since = nil }

    /// How long it waits already.
    func waited(_ now: Instant) -> Int64 { since.map { now.milliseconds(since: $0) } ?? 0 }

    /// Begins a new measurement.
    mutating func reset(_ now: Instant) {
        longest = 0
        if since != nil { since = now }
    }
}
