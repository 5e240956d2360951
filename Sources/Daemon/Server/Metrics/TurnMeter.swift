import Basics
import Delivery
import Sessions
import Wire

/// Measures what ends in the turns of one reactor: with one reading of the clock at the end of a turn, not one for each message.
final class TurnMeter {
    private let shard: MetricShard
    private let senders: SenderFigures
    /// The messages of this turn by sender, of all partitions.
    private var tally = SenderTally()
    /// When the messages arrived that sessions have acknowledged in this turn.
    private var acknowledgedDownstream = StartTimes()
    private var acknowledgedUpstream = StartTimes()
    /// When the messages were accepted that devices have acknowledged in this turn.
    private var delivered = StartTimes()
    private var responses: [HTTPResponseRecord] = []

    /// Creates a meter that counts in a reactor's shard.
    init(shard: MetricShard, senders: SenderFigures) {
        self.shard = shard
        self.senders = senders
    }

    /// Records the messages that a session has acknowledged.
    func acknowledged(_ messages: inout StartTimes, isUpstream: Bool) {
        if isUpstream {
            acknowledgedUpstream.move(from: &messages)
        } else {
            acknowledgedDownstream.move(from: &messages)
        }
    }

    /// Takes the responses of an HTTP session, and empties the array.
    func responded(_ records: inout [HTTPResponseRecord]) {
        if responses.isEmpty { swap(&responses, &records) } else { responses += records }
        records.removeAll(keepingCapacity: true)
    }

    /// Counts messages of a sender that a session has refused.
    func refused(_ reason: RefusalReason, _ count: Int, of sender: SenderID) {
        tally.countRefused(reason, of: sender, count)
    }

    /// Takes the figures of a partition for this turn.
    func collect(_ effects: inout Effects) {
        delivered.move(from: &effects.delivered)
        guard !effects.senders.rows.isEmpty else { return }
        tally.add(effects.senders)
        effects.senders.removeAll()
    }

    /// Ends a turn. The core's times are `advance` milliseconds ahead of these.
    func endTurn(from start: Instant, to end: Instant, advance: Int64 = 0) {
        shard.observe(
            microseconds: Int(max(0, end.nanoseconds - start.nanoseconds) / 1_000), in: .reactorTurnTimes)
        shard.observe(&acknowledgedDownstream, until: end, in: .ackTimes, 0)
        shard.observe(&acknowledgedUpstream, until: end, in: .ackTimes, 1)
        shard.observe(&delivered, until: end.advanced(milliseconds: advance), in: .deliveryTimes)
        if !tally.rows.isEmpty {
            senders.add(tally)
            tally.removeAll()
        }
        guard !responses.isEmpty else { return }
        for response in responses {
            shard.add(to: .httpResponses, response.endpoint, response.status.position)
            let span = max(0, end.nanoseconds - response.start.nanoseconds)
            shard.observe(
                microseconds: Int(span / 1_000), in: .httpTimes, response.endpoint,
                response.status.classPosition)
        }
        responses.removeAll(keepingCapacity: true)
    }
}

extension HTTPStatus {
    /// The position in `Metric.httpStatuses`.
    fileprivate var position: Int {
        // Nearly every answer is 200: no search.
        switch self {
        case .ok: 0
        default: Metric.httpStatuses.firstIndex(of: rawValue) ?? 0
        }
    }

    /// The position of its class in `Metric.statusClasses`.
    fileprivate var classPosition: Int {
        switch rawValue {
        case ..<400: 0
        case ..<500: 1
        default: 2
        }
    }
}
