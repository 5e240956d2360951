import Basics
import Catalogue
import Wire

extension Bench {
    /// Logins of devices, against the least that a C program can do.
    func login() throws(BenchError) {
        var targets: [any Target] = [try RelayTarget(self)]
        if !invocation.has("--only-relay") { targets.append(try DaemonTarget(self, reactors: reactors)) }
        let count = invocation.integer("--devices") ?? 2_000
        var crowds: [[BenchDevice]] = []
        for target in targets { crowds.append(try devices(target, count)) }
        progress.clear()
        var results: [LoadResult] = []
        for _ in 0..<(invocation.integer("--rounds") ?? 3) {
            for (target, crowd) in zip(targets, crowds) {
                separate(target)
                let begin = LoadSample(LoadCounters(), target)
                let receivers = try Receivers(self, target, crowd)
                // A login is what counts here, in place of a message.
                receivers.counters.acknowledged = receivers.counters.ready
                let result = LoadResult(
                    target.name, from: begin, to: LoadSample(receivers.counters, target),
                    counters: receivers.counters)
                receivers.leave(self)
                if !invocation.has("--json") { Terminal.print(loginLine(result) + "\n") }
                results.append(result)
            }
        }
        tell(results, against: targets[0].name, "logins/s", "us CPU/login")
    }

    private func loginLine(_ result: LoadResult) -> String {
        "\(Figure.pad(result.name, 11)) \(Figure.padLeft(Figure.whole(result.rate), 9)) logins/s, \(Figure.fixed(result.serverMicroseconds, 1)) us CPU/login, \(result.answer.text), server \(Figure.whole(result.serverLoad * 100)) %, generator \(Figure.whole(result.ownLoad * 100)) %"
    }
}
