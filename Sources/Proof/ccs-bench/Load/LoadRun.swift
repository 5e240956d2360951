import Basics
import Client
import Transport

/// One load on one server: connected once, and then measured several times.
final class LoadRun {
    let bench: Bench
    let target: any Server
    let counters = LoadCounters()
    private let feeder: Feeder
    /// Its name in reports.
    let name: String
    /// Counts the arrivals of its messages; `nil` if the lanes themselves do.
    private let receivers: Receivers?

    /// Creates a load without connections.
    init(_ bench: Bench, _ target: any Server, name: String, receivers: Receivers?) {
        self.bench = bench
        self.target = target
        self.name = name
        self.receivers = receivers
        feeder = Feeder(counters)
    }

    /// Makes `count` lanes and connects them; `make` gets the number of each.
    func connect(
        _ count: Int, _ what: String, _ make: (Int, LoadRun) throws(BenchError) -> any Lane
    ) throws(BenchError) {
        let before = counters.ready
        for number in 0..<count {
            feeder.add(try make(number, self))
            // Few handshakes at once, so that none exceeds its deadline.
            guard bench.turn(seconds: 10, until: { counters.ready - before > number - 100 }) else { break }
            bench.progress.show("\(what) connected", number, of: count)
        }
        guard bench.turn(seconds: 10, until: { counters.ready - before >= count }) else {
            throw failed("only \(counters.ready - before) of \(count) \(what) could log in")
        }
        bench.progress.clear()
    }

    /// Uses a lane that may have room after an acknowledgement.
    func answered(_ lane: any Lane, now: Now) { feeder.answered(lane, now: now) }

    /// Returns an error with the failures of connections.
    func failed(_ words: String) -> BenchError {
        BenchError(([words + " (\(target.name))"] + counters.failures).joined(separator: "; "))
    }

    /// Warms up, measures for `seconds`, and waits for pending messages.
    func measure(seconds: Int, _ pacing: Pacing = .window) throws(BenchError) -> LoadResult {
        try Self.measure([self], seconds: seconds, pacing)[0]
    }

    /// Measures several loads on one server at once.
    static func measure(
        _ runs: [LoadRun], seconds: Int, _ pacing: Pacing = .window
    ) throws(BenchError) -> [LoadResult] {
        let bench = runs[0].bench
        bench.separate(runs[0].target)
        for run in runs { run.begin(pacing) }
        bench.run(milliseconds: 1_000, "warming up")
        let begin = runs.map { $0.beginMeasuring() }
        bench.run(
            milliseconds: Int64(seconds) * 1_000, "measuring \(runs.map(\.name).joined(separator: ", "))")
        let end = runs.map { LoadSample($0.counters, $0.target) }
        let all = zip(begin, end).reduce(0) { $0 + $1.1.messages - $1.0.messages }
        var results: [LoadResult] = []
        for (at, run) in runs.enumerated() {
            results.append(
                LoadResult(run.name, from: begin[at], to: end[at], all: all, counters: run.counters))
        }
        for run in runs { try run.awaitPending() }
        return results
    }

    /// Sends `count` messages as fast as the windows allow; `untilArrival`: until all of them have arrived, too.
    func send(_ count: Int, untilArrival: Bool = false) throws(BenchError) -> LoadResult {
        bench.separate(target)
        let begin = beginMeasuring()
        self.begin(.window, limit: count)
        let before = begin.messages + begin.refused
        let end = Now.read().monotonic.advanced(seconds: 60 + count / 500)
        func isDone() -> Bool {
            counters.acknowledged + counters.refused - before >= count
                && (!untilArrival || counters.delivered - begin.delivered >= count)
        }
        while !isDone(), Now.read().monotonic < end {
            bench.turn(milliseconds: 5)
            bench.progress.show("messages", counters.acknowledged + counters.refused - before, of: count)
        }
        let result = LoadResult(
            name, from: begin, to: LoadSample(counters, target), counters: counters)
        try awaitPending()
        return result
    }

    /// Starts to send at most `limit` messages, and to count arrivals.
    func begin(_ pacing: Pacing, limit: Int = .max) {
        receivers?.counters = counters
        feeder.begin(pacing, limit: limit, seed: 1, now: Now.read())
        bench.feeders.append(feeder)
    }

    /// Resets the measurements, and returns the counters at the start.
    func beginMeasuring() -> LoadSample {
        counters.beginMeasuring()
        return LoadSample(counters, target)
    }

    /// Stops sending; pending messages are not awaited.
    func pause() {
        feeder.end()
        bench.feeders.removeAll { $0 === feeder }
    }

    /// Stops sending, and waits for pending messages. Throws if anything failed meanwhile.
    func awaitPending() throws(BenchError) {
        pause()
        _ = bench.turn(seconds: 5) { counters.acknowledged + counters.refused >= counters.sent }
        bench.progress.clear()
        guard counters.failures.isEmpty else { throw failed("connections ended") }
        if counters.refused > 0 { Terminal.error("the first refusal: \(counters.refusal)\n") }
        guard counters.acknowledged > 0 else { throw failed("no message was acknowledged") }
    }
}
