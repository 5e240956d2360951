import Basics
import Catalogue
import Glibc
import Simulation
import Transport
import Wire

extension Bench {
    /// Runs simulated worlds with new seeds, up to a number or for a time.
    func simulate() throws(BenchError) {
        let first = UInt64(invocation.integer("--first") ?? Int.random(in: 1...1 << 40))
        let most = invocation.integer("--seeds") ?? (invocation.has("--minutes") ? Int.max : 1_000)
        let minutes = invocation.integer("--minutes") ?? 10_000
        let start = Now.read().monotonic
        let end = start.advanced(seconds: minutes * 60)
        var count = 0
        var failures: [Simulation.Failure] = []
        var tally = RuleTally()
        while count < most, Now.read().monotonic < end, failures.count < 10 {
            let seed = Simulation.Seed(first + UInt64(count))
            if let failure = Simulation.run(seed, counting: &tally) {
                failures.append(failure)
                Terminal.error("\(failure)\n\n")
            }
            count += 1
            // Nothing else here handles Ctrl-C, which must remove the scratch directory.
            reactor.turn(waitMilliseconds: 0)
            if count % 64 == 0 { progress.show("seeds", count, of: min(most, 1_000_000)) }
        }
        progress.clear()
        let seconds = Double(Now.read().monotonic.nanoseconds - start.nanoseconds) / 1e9
        let rate = Double(count) / max(0.001, seconds)
        printResult(
            "\(count) seeds from \(first) in \(Figure.fixed(seconds, 1)) s, \(Figure.whole(rate)) seeds/s, "
                + "\(tally.messages) messages, \(tally.faults) faults: "
                + (failures.isEmpty
                    ? "all passed" : "\(failures.count) failed; lines for Fixtures/seeds.txt above")
                + Rule.allCases.map { "\n  \($0): \(tally[$0])" }.joined(),
            .object([
                .init("seeds", .integer(count)), .init("first", .integer(Int(first))),
                .init("per_second", .number(rate)), .init("messages", .integer(tally.messages)),
                .init("faults", .integer(tally.faults)),
                .init("rules", .object(Rule.allCases.map { .init($0.rawValue, .integer(tally[$0])) })),
                .init("failed", .array(failures.map { .string("\($0.seed)") })),
            ]))
        if !failures.isEmpty { throw BenchError("\(failures.count) of \(count) seeds failed") }
    }
}
