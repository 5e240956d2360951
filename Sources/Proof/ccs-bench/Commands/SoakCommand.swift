import Basics
import Catalogue
import Transport
import Wire

extension Bench {
    /// Runs a steady load in both directions for a long time, and reports which resources of the daemon grow.
    func soak() throws(BenchError) {
        let seconds =
            invocation.integer("--minutes").map { $0 * 60 } ?? invocation.integer("--seconds") ?? 3_600
        let run = try SoakRun(
            self, rate: invocation.integer("--rate") ?? 5_000,
            connections: invocation.integer("--connections") ?? 50,
            devices: invocation.integer("--devices") ?? 2_000,
            flappingPercent: invocation.integer("--flapping") ?? 25)
        var samples: [SoakSample] = []
        var toldMinutes = 0
        var record = try run.measure(seconds: seconds) { sample in
            samples.append(sample)
            guard Int(sample.seconds / 60) > toldMinutes else { return }
            toldMinutes = Int(sample.seconds / 60)
            if !invocation.has("--json") { Terminal.error(sample.line + "\n") }
            // Intermediate results are kept in case the machine stops.
            try? write(samples, nil)
        }
        if let plant = invocation.text("--plant").flatMap({ SoakPlant(rawValue: $0) }) {
            plant.spoil(&record)
        }
        let verdict = SoakVerdict(record)
        try write(record.samples, verdict)
        printResult(verdict.text, verdict.json)
        guard verdict.faults.isEmpty else { throw BenchError(verdict.faults.joined(separator: "; ")) }
    }

    /// Writes the samples if requested, with the verdict at the end.
    private func write(_ samples: [SoakSample], _ verdict: SoakVerdict?) throws(BenchError) {
        guard let path = invocation.text("--samples") else { return }
        let json = JSONValue.object([
            .init("verdict", verdict?.json ?? .null), .init("samples", .array(samples.map(\.json))),
        ])
        do throws(TransportError) {
            try SmallFile.replace(path, with: Array((json.compact + "\n").utf8), mode: 0o644)
        } catch { throw BenchError(error.description, code: .inputOutput) }
    }
}
