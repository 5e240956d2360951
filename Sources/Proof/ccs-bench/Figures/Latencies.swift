import Wire

/// Percentiles of a histogram, in microseconds.
struct Latencies {
    let count: Int
    let p50: Double
    let p90: Double
    let p99: Double
    let p999: Double

    init(_ histogram: Histogram) {
        count = histogram.total
        p50 = histogram.microseconds(at: 0.5) ?? 0
        p90 = histogram.microseconds(at: 0.9) ?? 0
        p99 = histogram.microseconds(at: 0.99) ?? 0
        p999 = histogram.microseconds(at: 0.999) ?? 0
    }

    /// The text for people.
    var text: String {
        "p50 \(Figure.duration(p50)) p99 \(Figure.duration(p99)) p99.9 \(Figure.duration(p999))"
    }

    var json: JSONValue {
        .object([
            .init("count", .integer(count)), .init("p50_us", .number(p50)), .init("p90_us", .number(p90)),
            .init("p99_us", .number(p99)), .init("p999_us", .number(p999)),
        ])
    }
}
