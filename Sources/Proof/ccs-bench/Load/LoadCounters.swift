import Basics

/// Counters that all connections of one load share.
final class LoadCounters {
    /// Messages sent.
    var sent = 0
    /// Messages accepted.
    var acknowledged = 0
    /// Messages refused.
    var refused = 0
    /// The first refusal, as received.
    var refusal = ""
    /// Messages that have arrived.
    var delivered = 0
    /// Time of the last arrival, in nanoseconds of the monotonic clock.
    var lastDelivery: Int64 = 0
    /// Messages of an open loop that were never sent, since too many were waiting.
    var leftOut = 0
    /// From the time a message was due to its acknowledgement.
    var answerTimes = Histogram()
    /// From the time a message was due to its arrival.
    var deliveryTimes = Histogram()
    /// From the time a message was due to its sending: the delay of the generator, not of the server.
    var lag = Histogram()
    /// Connections that are logged in.
    var ready = 0
    /// Connections whose TLS session was resumed.
    var resumed = 0
    /// Why connections ended before the load did.
    var failures: [String] = []

    /// Resets the measurements.
    func beginMeasuring() {
        answerTimes.reset()
        deliveryTimes.reset()
        lag.reset()
    }

    /// Records the end of a connection.
    func recordEnd(_ what: String, _ reason: CloseReason, _ detail: String) {
        guard failures.count < 10 else { return }
        failures.append("\(what): \(reason.rawValue)\(detail.isEmpty ? "" : " (\(detail))")")
    }
}
