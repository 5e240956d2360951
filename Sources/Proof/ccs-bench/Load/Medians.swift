import Wire

/// The medians of several measurements of one load.
struct Medians {
    /// The figures of one measurement.
    struct Sample {
        var name: String
        var rate: Double
        var serverMicroseconds: Double
        var p99: Double
    }

    let name: String
    let rate: Double
    let serverMicroseconds: Double
    let p99: Double

    /// Returns the medians of each load, in the order in which they were first measured.
    static func of(_ results: [Sample]) -> [Medians] {
        var names: [String] = []
        for result in results where !names.contains(result.name) { names.append(result.name) }
        return names.map { name in
            let own = results.filter { $0.name == name }
            return Medians(
                name: name, rate: Figure.median(own.map(\.rate)),
                serverMicroseconds: Figure.median(own.map(\.serverMicroseconds)),
                p99: Figure.median(own.map(\.p99)))
        }
    }

    /// Returns the text for people, with ratios to another load if given.
    func line(
        against first: Medians?, _ rateUnit: String = "msg/s", _ costUnit: String = "us CPU/msg"
    ) -> String {
        var text =
            "median \(Figure.pad(name, 11)) \(Figure.padLeft(Figure.whole(rate), 9)) \(rateUnit), \(Figure.fixed(serverMicroseconds, 2)) \(costUnit), p99 \(Figure.duration(p99))"
        if let first, first.name != name {
            text +=
                ": \(Figure.fixed(rate / max(0.001, first.rate), 2)) times the rate of \(first.name), \(Figure.fixed(serverMicroseconds / max(0.001, first.serverMicroseconds), 2)) times its CPU"
        }
        return text
    }

    /// The JSON for programs.
    func json(against first: Medians) -> JSONValue {
        .object([
            .init("messages_per_second", .number(rate)),
            .init("server_cpu_us_per_message", .number(serverMicroseconds)),
            .init("answer_p99_us", .number(p99)),
            .init("rate_ratio", .number(rate / max(0.001, first.rate))),
            .init("cpu_ratio", .number(serverMicroseconds / max(0.001, first.serverMicroseconds))),
        ])
    }
}

extension LoadResult {
    /// The figures for medians.
    var sample: Medians.Sample {
        Medians.Sample(name: name, rate: rate, serverMicroseconds: serverMicroseconds, p99: answer.p99)
    }
}
