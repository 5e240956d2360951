import Basics

/// What all connections of one load share.
final class LoadCounters {
    /// Messages sent.
    var sent = 0
    /// Messages answered: taken.
    var acknowledged = 0
    /// Messages answered: refused.
    var refused = 0
    /// The first refusal, as it came.
    var refusal = ""
    /// Messages that have arrived.
    var delivered = 0
    /// When the last one did, nanoseconds of the monotonic clock.
    var lastDelivery: Int64 = 0
    /// Messages of an open loop that were never sent, since too many waited already.
    var leftOut = 0
    /// From the time a message was due to its answer.
    var answerTimes = Histogram()
    /// From the time a message was due to its arrival.
    var deliveryTimes = Histogram()
    /// From the time a message was due to when the generator came to it: not the server's doing.
    var lag = Histogram()
    /// Connections that are logged in.
    var ready = 0
    /// Connections whose TLS session was resumed.
    var resumed = 0
    /// Why connections ended before the load did, in words.
    var failures: [String] = []

    /// Forgets what was measured so far.
    func beginMeasuring() {
        answerTimes.reset()
        deliveryTimes.reset()
        lag.reset()
    }

    /// Notes the end of a connection.
    func noteEnd(_ what: String, _ reason: CloseReason, _ detail: String) {
        guard failures.count < 10 else { return }
        failures.append("\(what): \(reason.rawValue)\(detail.isEmpty ? "" : " (\(detail))")")
    }
}
