import Basics

/// What all connections of one run share.
final class LoadCounters {
    /// Whether new messages are sent.
    var isSending = true
    /// Messages sent.
    var sent = 0
    /// Messages answered by an ACK.
    var acknowledged = 0
    /// Messages refused.
    var refused = 0
    /// The first refusal, as it came.
    var refusal = ""
    /// Messages that have arrived.
    var delivered = 0
    /// From sending to the ACK.
    var answerTimes = Histogram()
    /// From sending to the arrival.
    var deliveryTimes = Histogram()
    /// Connections that are logged in.
    var ready = 0
    /// Why connections ended before the run did, in words.
    var failures: [String] = []

    /// Forgets what was measured so far.
    func beginMeasuring() {
        answerTimes.reset()
        deliveryTimes.reset()
    }

    /// Notes the end of a connection.
    func noteEnd(_ what: String, _ reason: CloseReason, _ detail: String) {
        guard failures.count < 10 else { return }
        failures.append("\(what): \(reason.rawValue)\(detail.isEmpty ? "" : " (\(detail))")")
    }
}
