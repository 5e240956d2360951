import Basics

/// Who counts: each has a shard of the metrics of its own, so that no two threads write to the same cells.
enum MetricWriter {
    case store
    case gateway
    case cluster
    case webhooks
    case history
    /// The threads of commands and pages, which seldom count.
    case control
    case reactor(Int)

    private static let others = 6

    fileprivate var shard: Int {
        switch self {
        case .store: 0
        case .gateway: 1
        case .cluster: 2
        case .webhooks: 3
        case .history: 4
        case .control: 5
        case .reactor(let index): Self.others + index
        }
    }

    /// The metrics of a daemon with `reactors` reactors.
    static func metrics(reactors: Int) -> Metrics { Metrics(shards: others + reactors) }
}

extension Metrics {
    /// The shard of a writer.
    subscript(_ writer: MetricWriter) -> MetricShard { shards[writer.shard] }
}
