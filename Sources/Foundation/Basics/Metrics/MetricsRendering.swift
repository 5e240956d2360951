/// One line of a metric whose label values are not in the table, such as those of a sender.
public struct MetricSeries: Sendable, Equatable {
    public var metric: Metric
    /// The values of its labels, in the order of the table.
    public var labels: [String]
    public var value: Int

    /// Creates a line.
    public init(_ metric: Metric, labels: [String], _ value: Int) {
        self.metric = metric
        self.labels = labels
        self.value = value
    }
}

extension Metrics {
    /// Appends the Prometheus text format (0.0.4), every metric with its HELP and TYPE.
    ///
    /// Zeros are included, except for metrics with more than `Limits.Log.renderedZeroCells` cells. `unlisted` has the lines of
    /// metrics whose label values are not in the table.
    public func render(_ unlisted: [MetricSeries] = [], to buffer: inout ByteBuffer) {
        for metric in Metric.allCases {
            buffer.append(
                text: "# HELP \(metric.name) \(metric.help)\n# TYPE \(metric.name) \(metric.kind)\n")
            if metric.kind == .histogram {
                render(histogram: metric, to: &buffer)
            } else if metric.isListed {
                render(cellsOf: metric, to: &buffer)
            } else {
                for series in unlisted where series.metric == metric { render(series, to: &buffer) }
            }
        }
    }

    private func render(cellsOf metric: Metric, to buffer: inout ByteBuffer) {
        let leavesZerosOut = metric.cells > Limits.Log.renderedZeroCells
        for cell in 0..<metric.cells {
            let value = sum(at: metric.offset + cell)
            guard value != 0 || !leavesZerosOut else { continue }
            buffer.append(text: metric.name)
            buffer.append(text: Self.braced(Self.labels(of: metric, at: cell)))
            buffer.append(text: " \(metric.isMicroseconds ? Self.seconds(value) : "\(value)")\n")
        }
    }

    private func render(histogram metric: Metric, to buffer: inout ByteBuffer) {
        let leavesZerosOut = metric.cells > Limits.Log.renderedZeroCells
        let bounds = metric.bounds.map { Self.seconds($0) } + ["+Inf"]
        for series in 0..<metric.cells / metric.stride {
            let first = metric.offset + series * metric.stride
            let counts = bounds.indices.map { sum(at: first + $0) }
            guard !leavesZerosOut || counts.contains(where: { $0 != 0 }) else { continue }
            let own = Self.labels(of: metric, at: series)
            var count = 0
            for (bound, more) in zip(bounds, counts) {
                count += more
                let labels = own + ["le=\"\(bound)\""]
                buffer.append(text: "\(metric.name)_bucket\(Self.braced(labels)) \(count)\n")
            }
            let total = Self.seconds(sum(at: first + bounds.count))
            buffer.append(text: "\(metric.name)_sum\(Self.braced(own)) \(total)\n")
            buffer.append(text: "\(metric.name)_count\(Self.braced(own)) \(count)\n")
        }
    }

    private func render(_ series: MetricSeries, to buffer: inout ByteBuffer) {
        let labels = zip(series.metric.labels, series.labels).map {
            "\($0.name)=\"\(Self.escaped($1))\""
        }
        buffer.append(text: "\(series.metric.name)\(Self.braced(labels)) \(series.value)\n")
    }

    private func sum(at cell: Int) -> Int { shards.reduce(0) { $0 &+ $1.value(at: cell) } }

    /// Returns the labels of a series by its number.
    private static func labels(of metric: Metric, at series: Int) -> [String] {
        let labels = metric.labels
        guard let first = labels.first else { return [] }
        guard labels.count > 1 else { return ["\(first.name)=\"\(first.values[series])\""] }
        let inner = labels[1].values.count
        return [
            "\(first.name)=\"\(first.values[series / inner])\"",
            "\(labels[1].name)=\"\(labels[1].values[series % inner])\"",
        ]
    }

    private static func braced(_ labels: [String]) -> String {
        labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}"
    }

    /// Returns a label value with the escapes of the format.
    private static func escaped(_ value: String) -> String {
        var text = ""
        for character in value {
            switch character {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.append(character)
            }
        }
        return text
    }

    /// Returns microseconds as seconds without needless zeros: `0.005`.
    public static func seconds(_ microseconds: Int) -> String {
        let (whole, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        guard rest > 0 else { return "\(whole)" }
        let digits = String(String(rest + 1_000_000).dropFirst())
        return "\(whole).\(digits.prefix(through: digits.lastIndex { $0 != "0" } ?? digits.startIndex))"
    }
}
