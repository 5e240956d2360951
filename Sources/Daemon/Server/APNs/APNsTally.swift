import APNsGateway
import Basics
import Delivery
import Wire

/// The counters of the APNs gateway, in its own shard of the metrics.
struct APNsTally {
    private let shard: MetricShard

    /// Creates counters in a shard.
    init(shard: MetricShard) { self.shard = shard }

    /// Counts a delivery that the gateway takes.
    func took(_ count: Int) { shard.add(count, to: .apnsQueue) }

    /// Counts the gateway's answer to a delivery.
    func answered(_ outcome: GatewayOutcome) {
        shard.add(-1, to: .apnsQueue)
        let word: Metric.APNsOutcome =
            switch outcome {
            case .accepted: .accepted
            case .later: .later
            case .refused: .refused
            case .tokenEnded: .tokenEnded
            case .tokenUnknown: .tokenUnknown
            case .tokenMismatched: .tokenMismatched
            }
        shard.add(to: .apnsDeliveries, word.position)
    }

    /// Counts a request.
    func sent() { shard.add(to: .apnsRequestsOpen) }

    /// Counts that a request has an answer; `judged` counts which.
    func answered(_ environment: APNsEnvironment, microseconds: Int) {
        shard.add(-1, to: .apnsRequestsOpen)
        shard.observe(microseconds: microseconds, in: .apnsAnswerTimes, environment.position)
    }

    /// Counts what the gateway takes an answer for.
    func judged(_ answer: APNsJudgement) {
        switch answer {
        case .accepted(let environment): count(environment, "accepted")
        case .refused(let environment, let reason): count(environment, reason)
        case .foreign(let environment): count(environment, "other")
        }
    }

    /// Counts a request without an answer.
    func failed(_ environment: APNsEnvironment, _ failure: HTTP2RequestFailure) {
        shard.add(-1, to: .apnsRequestsOpen)
        switch failure {
        case .bodyTooLong: count(environment, "other")
        default: count(environment, failure.isRetryable ? "unprocessed" : "unanswered")
        }
    }

    private func count(_ environment: APNsEnvironment, _ reason: String) {
        let reasons = Metric.apnsReasons
        let position = reasons.firstIndex(of: reason) ?? reasons.firstIndex(of: "other") ?? 0
        shard.add(to: .apnsAnswers, environment.position, position)
    }

    /// Counts an attempt to connect.
    func connected(_ environment: APNsEnvironment, succeeded: Bool) {
        shard.add(to: .apnsConnects, succeeded ? 0 : 1)
        if succeeded { shard.add(to: .apnsConnections, environment.position) }
    }

    /// Counts the end of a connection.
    func disconnected(_ environment: APNsEnvironment) {
        shard.add(-1, to: .apnsConnections, environment.position)
    }

    /// Records that a provider token was signed.
    func minted(at time: UnixMilliseconds) { shard.set(.apnsTokenMinted, to: Int(time / 1_000)) }
}

extension APNsEnvironment {
    /// The position in `Metric.apnsEnvironments`.
    fileprivate var position: Int { self == .production ? 0 : 1 }
}
