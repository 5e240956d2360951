import Basics
import Catalogue
import Transport
import Wire

extension Bench {
    /// Shares of the server's maximum rate at which the latency is measured.
    private static let shares = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95]

    /// Plots latency against load: measures the maximum rate by a closed loop, then open loops at shares of it.
    func plot(_ runs: [LoadRun], to path: String) throws(BenchError) {
        guard let run = runs.first, runs.count == 1 else {
            throw BenchError("a plot needs exactly one load")
        }
        let most = try run.measure(seconds: seconds)
        var results: [LoadResult] = []
        for share in Self.shares {
            let result = try run.measure(seconds: seconds, .rate(most.rate * share))
            if !invocation.has("--json") { Terminal.print(result.line + "\n") }
            results.append(result)
        }
        let series: [Plot.Series] = [
            Plot.Series("p50", results.map { ($0.rate, $0.answer.p50 / 1_000) }),
            Plot.Series("p99", results.map { ($0.rate, $0.answer.p99 / 1_000) }),
            Plot.Series("p99.9", results.map { ($0.rate, $0.answer.p999 / 1_000) }),
        ]
        let plot = Plot(
            title: "ccs-bench \(invocation.command.name)", x: "messages per second, open loop",
            y: "milliseconds from due to acknowledged", series: series)
        do throws(TransportError) {
            try SmallFile.replace(path, with: Array(plot.svg.utf8), mode: 0o644)
        } catch { throw BenchError(error.description, code: .inputOutput) }
        printResult(
            "closed loop: \(most.line)\nplot: \(path)",
            .object([
                .init("closed_loop", most.json), .init("open_loop", .array(results.map(\.json))),
                .init("plot", .string(path)),
            ]))
    }
}
