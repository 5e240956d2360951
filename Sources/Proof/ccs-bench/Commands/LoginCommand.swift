import Basics
import Catalogue
import Transport
import Wire

extension Bench {
    /// Measures logins of devices, compared with the relay.
    func login() throws(BenchError) {
        let count = try crowd(2_000)
        if let topics = invocation.integer("--subscriptions") {
            return try loginsOfSubscribers(count, topics)
        }
        let resumes = invocation.has("--resume")
        var targets: [any Target] = [try RelayTarget(self, resumes ? .tickets : nil)]
        if !invocation.has("--only-relay") { targets.append(try DaemonTarget(self, reactors: reactors)) }
        var crowds: [[BenchDevice]] = []
        for target in targets { crowds.append(try devices(target, count)) }
        progress.clear()
        var settings: [TLSClientSettings] = []
        for (target, crowd) in zip(targets, crowds) {
            // Otherwise the connections would reuse memory that the enrolment left free.
            try (target as? DaemonTarget)?.restart()
            settings.append(resumes ? try ticket(target, crowd) : tls)
        }
        var results: [LoadResult] = []
        for round in 0..<(invocation.integer("--rounds") ?? 3) {
            for (at, target) in targets.enumerated() {
                let (result, room) = try logins(
                    target, crowds[at], settings[at], resumes: resumes, name: target.name)
                // Later crowds reuse the memory of the first one.
                let memory = round == 0 ? ", \(Figure.fixed(room, 1)) KiB for each while it is idle" : ""
                if !invocation.has("--json") { Terminal.print(loginLine(result) + memory + "\n") }
                results.append(result)
            }
        }
        printResult(results, against: targets[0].name, "logins/s", "us CPU/login")
    }

    /// Compares logins of devices that subscribe to topics with those of devices that do not.
    private func loginsOfSubscribers(_ count: Int, _ topics: Int) throws(BenchError) {
        let target = try DaemonTarget(self, reactors: reactors)
        let names = (0..<topics).map { "bench-\($0)" }
        var crowds: [(name: String, devices: [BenchDevice])] = []
        for (name, topics) in [("none", []), ("subscribers", names)] {
            let enrolment = Enrolment(target, self, count: count, kept: count, topics: topics)
            crowds.append((name, try enrolment.run { progress.show("devices enrolled", $0, of: count) }))
        }
        progress.clear()
        try target.restart()
        var results: [LoadResult] = []
        for _ in 0..<(invocation.integer("--rounds") ?? 3) {
            for crowd in crowds {
                results.append(try logins(target, crowd.devices, tls, resumes: false, name: crowd.name).0)
            }
        }
        printResult(results, against: "none", "logins/s", "us CPU/login")
    }

    /// Logs all devices in and disconnects them. Returns the KiB that each used.
    private func logins(
        _ target: any Target, _ crowd: [BenchDevice], _ tls: TLSClientSettings, resumes: Bool, name: String
    ) throws(BenchError) -> (LoadResult, Double) {
        separate(target)
        let probe = ProcessProbe(process: target.process)
        let before = probe.residentKiB
        let begin = LoadSample(LoadCounters(), target)
        let receivers = try Receivers(self, target, crowd, tls: tls)
        let counters = receivers.counters
        // A login counts here in place of a message.
        counters.acknowledged = counters.ready
        let result = LoadResult(
            name, from: begin, to: LoadSample(counters, target), counters: counters)
        _ = turn(seconds: 1) { false }
        let room = Double(probe.residentKiB - before) / Double(max(1, crowd.count))
        receivers.leave(self)
        guard counters.resumed == (resumes ? crowd.count : 0) else {
            throw BenchError(
                "\(target.name) resumed \(counters.resumed) of \(crowd.count) TLS sessions")
        }
        return (result, room)
    }

    /// Logs one device in so that its server offers a TLS session, which all connections with the result resume.
    private func ticket(_ target: any Target, _ crowd: [BenchDevice]) throws(BenchError) -> TLSClientSettings
    {
        let settings: TLSClientSettings
        do throws(TransportError) {
            settings = try TLSClientSettings(trust: .anyone, resumes: true)
        } catch { throw BenchError(error.description) }
        // The login response follows the session ticket.
        try Receivers(self, target, Array(crowd.prefix(1)), tls: settings).leave(self)
        return settings
    }

    private func loginLine(_ result: LoadResult) -> String {
        "\(Figure.pad(result.name, 11)) \(Figure.padLeft(Figure.whole(result.rate), 9)) logins/s, \(Figure.fixed(result.serverMicroseconds, 1)) us CPU/login, \(result.answer.text), server \(Figure.whole(result.serverLoad * 100)) %, generator \(Figure.whole(result.ownLoad * 100)) %"
    }
}
