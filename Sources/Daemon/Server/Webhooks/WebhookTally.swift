import Basics
import Webhooks

/// The counters of the webhooks, in their own shard of the metrics.
struct WebhookTally: Sendable {
    let shard: MetricShard

    /// Counts a request.
    func started() { shard.add(to: .webhookRequestsOpen) }

    /// Counts a request that was ended without an answer.
    func aborted() { shard.add(-1, to: .webhookRequestsOpen) }

    /// Counts the end of a request.
    func ended(_ answer: WebhookAnswer, microseconds: Int64) {
        shard.add(-1, to: .webhookRequestsOpen)
        shard.observe(microseconds: Int(microseconds), in: .webhookAnswerTimes)
        let outcome: Metric.WebhookOutcome =
            switch answer {
            case .status(200..<300, _): .acknowledged
            case .status: .refused
            case .failed: .unanswered
            }
        shard.add(to: .webhookRequests, outcome.position)
    }

    /// Records the number of endpoints by state.
    func count(_ counts: (open: Int, paused: Int, gone: Int)) {
        shard.set(.webhookEndpoints, to: counts.open, 0)
        shard.set(.webhookEndpoints, to: counts.paused, 1)
        shard.set(.webhookEndpoints, to: counts.gone, 2)
    }
}
