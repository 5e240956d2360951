import Synchronization

/// The cells of one thread, which adds to them without a lock; other threads may read at any time.
///
/// Give each reactor and the store thread its own shard, to avoid contention for cache lines.
public final class MetricShard: Sendable {
    /// Cells of a shard; a precondition checks that the table fits.
    private static let size = 6_144
    private let cells = InlineArray<6_144, Atomic<Int>> { _ in Atomic(0) }

    public init() {
        precondition(
            Metric.offsets[Metric.allCases.count] <= Self.size, "the metrics table exceeds a shard")
    }

    /// Adds to a counter or gauge; `first` and `second` are positions among the values of its labels.
    @inline(__always)
    public func add(_ amount: Int = 1, to metric: Metric, _ first: Int = 0, _ second: Int = 0) {
        cells[cell(metric, first, second)].add(amount, ordering: .relaxed)
    }

    /// Sets a gauge; the shards of a gauge are summed, so set it in one shard only, or let each hold its share.
    public func set(_ metric: Metric, to value: Int, _ first: Int = 0, _ second: Int = 0) {
        cells[cell(metric, first, second)].store(value, ordering: .relaxed)
    }

    /// Adds a duration to a histogram, `count` times; `first` and `second` are positions among the values of its labels.
    public func observe(
        microseconds: Int, in metric: Metric, _ first: Int = 0, _ second: Int = 0, count: Int = 1
    ) {
        let bounds = metric.sharedBounds
        let series = first &* metric.innerValues &+ second
        add(count, to: metric, series, bounds.firstIndex { microseconds <= $0 } ?? bounds.count)
        add(microseconds &* count, to: metric, series, bounds.count + 1)
    }

    /// Returns the current value of one cell.
    public func value(_ metric: Metric, _ first: Int = 0, _ second: Int = 0) -> Int {
        cells[cell(metric, first, second)].load(ordering: .relaxed)
    }

    /// Returns how many durations a histogram has for values of its labels.
    public func count(of histogram: Metric, _ first: Int = 0, _ second: Int = 0) -> Int {
        let series = first * histogram.innerValues + second
        return (0...histogram.sharedBounds.count).reduce(0) { $0 + value(histogram, series, $1) }
    }

    @inline(__always)
    private func cell(_ metric: Metric, _ first: Int, _ second: Int) -> Int {
        let cell = metric.offset &+ first &* metric.stride &+ second
        precondition(first >= 0 && second >= 0 && cell < metric.end, "label value out of range")
        return cell
    }

    /// Returns the value of a cell by its number, for rendering.
    func value(at cell: Int) -> Int { cells[cell].load(ordering: .relaxed) }
}

/// All shards of the server, rendered as one.
public struct Metrics: Sendable {
    /// One for each thread that counts.
    public let shards: [MetricShard]

    /// Creates `count` shards, at least one.
    public init(shards count: Int) { shards = (0..<max(1, count)).map { _ in MetricShard() } }

    /// Returns the sum of one cell over all shards.
    public func value(_ metric: Metric, _ first: Int = 0, _ second: Int = 0) -> Int {
        shards.reduce(0) { $0 &+ $1.value(metric, first, second) }
    }

}

extension Metric {
    /// Cells from one value of the first label to the next.
    var stride: Int { Self.strides[rawValue] }
    /// The cell after the last one.
    fileprivate var end: Int { Self.offsets[rawValue + 1] }

    /// The values of the second label; 1 without one.
    fileprivate var innerValues: Int { Self.allInnerValues[rawValue] }

    /// The bounds, without a copy of the row: for the path of a message.
    fileprivate var sharedBounds: [Int] { Self.allBounds[rawValue] }

    private static let allInnerValues: [Int] = allCases.map {
        $0.labels.count > 1 ? $0.labels[1].values.count : 1
    }
    private static let allBounds: [[Int]] = allCases.map(\.bounds)
    private static let strides: [Int] = allCases.map {
        $0.histogramCells ?? ($0.labels.count > 1 ? $0.labels[1].values.count : 1)
    }
}
