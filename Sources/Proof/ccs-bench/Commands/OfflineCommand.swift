import Basics
import Catalogue
import Operator
import Wire

extension Bench {
    /// Measures messages to offline devices, and their delivery after login: messages of their own, and messages to a topic.
    func offline() throws(BenchError) {
        let target = try DaemonTarget(self, reactors: reactors)
        let each = invocation.integer("--messages") ?? 50
        let topic = "bench"
        let own = try devices(target)
        let subscribers = try Enrolment(
            target, self, count: own.count, kept: own.count, topics: [topic]
        ).run { progress.show("devices enrolled", $0, of: own.count) }
        progress.clear()
        let loads = [
            try appServers(target, own, nil, name: "own", lifetimeSeconds: Self.lifetime),
            try appServers(target, sending: [.stanza(topic: topic, size: size)], nil, name: "topic"),
        ]
        var stored: [LoadResult] = []
        var fetched: [LoadResult] = []
        for _ in 0..<(invocation.integer("--rounds") ?? 3) {
            for (load, crowd) in zip(loads, [own, subscribers]) {
                stored.append(try load.send(load === loads[0] ? crowd.count * each : each))
                try target.awaitTopics()
                fetched.append(try fetch(target, crowd, each, load.name))
            }
        }
        if !invocation.has("--json") {
            Terminal.print(stored.map { $0.line + "\n" }.joined())
            Terminal.print(
                "\(Figure.whole(own.count)) devices log in, \(Figure.whole(each)) messages each:\n"
            )
        }
        printResult(
            fetched, against: "own", more: [.init("stored", .array(stored.map(\.json)))])
    }

    /// Logs devices in and receives what waits for them.
    private func fetch(
        _ target: DaemonTarget, _ crowd: [BenchDevice], _ each: Int, _ name: String
    ) throws(BenchError) -> LoadResult {
        let counters = LoadCounters()
        separate(target)
        let begin = LoadSample(counters, target)
        let receivers = try Receivers(self, target, crowd, counters)
        let all = crowd.count * each
        guard turn(seconds: 60 + all / 500, until: { counters.delivered >= all }) else {
            throw BenchError("only \(counters.delivered) of \(all) messages arrived: \(counters.failures)")
        }
        // A delivery counts here in place of an acknowledgement.
        counters.acknowledged = counters.delivered
        let result = LoadResult(name, from: begin, to: LoadSample(counters, target), counters: counters)
        receivers.finish(self)
        return result
    }
}

extension DaemonTarget {
    /// Waits until all partitions have the messages to topics.
    func awaitTopics() throws(BenchError) {
        let end = Now.read().monotonic.advanced(seconds: 60)
        while try control(ShowStatus()).topics.inProgress > 0 {
            guard Now.read().monotonic < end else { throw BenchError("not all partitions have the message") }
            bench.turn(milliseconds: 5)
        }
    }
}
