import Synchronization

/// The cells of one thread, which adds to them without a lock; other threads may read at any time.
///
/// Give each reactor and the store thread its own shard, to avoid contention for cache lines.
public final class MetricShard: Sendable {
    /// Cells of a shard; a precondition checks that the table fits.
    private static let size = 1_536
    private let cells = InlineArray<1_536, Atomic<Int>> { _ in Atomic(0) }

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

    /// Adds a duration to a histogram; `first` is the position among the values of its label.
    public func observe(microseconds: Int, in metric: Metric, _ first: Int = 0) {
        let bounds = metric.sharedBounds
        add(to: metric, first, bounds.firstIndex { microseconds <= $0 } ?? bounds.count)
        add(microseconds, to: metric, first, bounds.count + 1)
    }

    /// Returns the current value of one cell.
    public func value(_ metric: Metric, _ first: Int = 0, _ second: Int = 0) -> Int {
        cells[cell(metric, first, second)].load(ordering: .relaxed)
    }

    @inline(__always)
    private func cell(_ metric: Metric, _ first: Int, _ second: Int) -> Int {
        let cell = metric.offset &+ first &* metric.stride &+ second
        precondition(first >= 0 && second >= 0 && cell < metric.end, "label value out of range")
        return cell
    }

    /// Returns the value of a cell by its number, for rendering.
    fileprivate func value(at cell: Int) -> Int { cells[cell].load(ordering: .relaxed) }
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

    /// Appends the Prometheus text format (0.0.4), every metric with its HELP and TYPE. Zeros are included, except for metrics
    /// with more than `Limits.Log.renderedZeroCells` cells.
    public func render(to buffer: inout ByteBuffer) {
        for metric in Metric.allCases {
            buffer.append(
                text: "# HELP \(metric.name) \(metric.help)\n# TYPE \(metric.name) \(metric.kind)\n")
            let labels = metric.labels
            guard metric.kind != .histogram else {
                render(histogram: metric, to: &buffer)
                continue
            }
            let leavesZerosOut = metric.cells > Limits.Log.renderedZeroCells
            for cell in 0..<metric.cells {
                let value = shards.reduce(0) { $0 &+ $1.value(at: metric.offset + cell) }
                guard value != 0 || !leavesZerosOut else { continue }
                buffer.append(text: metric.name)
                render(labels, cell, to: &buffer)
                buffer.append(" ")
                buffer.append(decimal: value)
                buffer.append("\n")
            }
        }
    }

    private func render(histogram metric: Metric, to buffer: inout ByteBuffer) {
        let label = metric.labels.first
        for first in 0..<(label?.values.count ?? 1) {
            let own = label.map { "\($0.name)=\"\($0.values[first])\"" }
            var count = 0
            for (position, bound) in (metric.bounds.map { Self.seconds($0) } + ["+Inf"]).enumerated() {
                count += value(metric, first, position)
                let labels = [own, "le=\"\(bound)\""].compactMap(\.self).joined(separator: ",")
                buffer.append(text: "\(metric.name)_bucket{\(labels)} \(count)\n")
            }
            let labels = own.map { "{\($0)}" } ?? ""
            let sum = Self.seconds(value(metric, first, metric.bounds.count + 1))
            buffer.append(text: "\(metric.name)_sum\(labels) \(sum)\n")
            buffer.append(text: "\(metric.name)_count\(labels) \(count)\n")
        }
    }

    /// Returns microseconds as seconds without needless zeros: `0.005`.
    private static func seconds(_ microseconds: Int) -> String {
        let (whole, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        guard rest > 0 else { return "\(whole)" }
        let digits = String(String(rest + 1_000_000).dropFirst())
        return "\(whole).\(digits.prefix(through: digits.lastIndex { $0 != "0" } ?? digits.startIndex))"
    }

    private func render(_ labels: [Metric.Label], _ cell: Int, to buffer: inout ByteBuffer) {
        guard let first = labels.first else { return }
        let stride = labels.count > 1 ? labels[1].values.count : 1
        buffer.append(text: "{\(first.name)=\"\(first.values[cell / stride])\"")
        if labels.count > 1 {
            buffer.append(text: ",\(labels[1].name)=\"\(labels[1].values[cell % stride])\"")
        }
        buffer.append("}")
    }
}

extension Metric {
    /// Cells from one value of the first label to the next.
    fileprivate var stride: Int { Self.strides[rawValue] }
    /// The cell after the last one.
    fileprivate var end: Int { Self.offsets[rawValue + 1] }

    /// The bounds, without a copy of the row: for the path of a message.
    fileprivate var sharedBounds: [Int] { Self.allBounds[rawValue] }

    private static let allBounds: [[Int]] = allCases.map(\.bounds)
    private static let strides: [Int] = allCases.map {
        $0.histogramCells ?? ($0.labels.count > 1 ? $0.labels[1].values.count : 1)
    }
}
