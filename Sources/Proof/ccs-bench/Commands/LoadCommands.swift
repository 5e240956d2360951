import Basics
import Catalogue
import Wire

/// Messages through a server.
extension Bench {
    /// Measures downstream messages through ccsd.
    func down() throws(BenchError) {
        let target = try DaemonTarget(self, reactors: reactors)
        let devices = try devices(target)
        let receivers = try Receivers(self, target, devices)
        let run = try appServers(
            target, devices, receivers, lifetimeSeconds: invocation.has("--durable") ? Self.lifetime : 0)
        try measure([run])
    }

    /// Measures upstream messages through ccsd.
    func up() throws(BenchError) {
        let target = try DaemonTarget(self, reactors: reactors)
        let (run, receivers) = try upstream(target, try devices(target))
        try withExtendedLifetime(receivers) { () throws(BenchError) in try measure([run]) }
    }

    /// Measures both directions at once, from and to distinct devices.
    func both() throws(BenchError) {
        let target = try DaemonTarget(self, reactors: reactors)
        let devices = try devices(target)
        let receivers = try Receivers(self, target, devices)
        let down = try appServers(target, devices, receivers, name: "down", lifetimeSeconds: Self.lifetime)
        let (up, upReceivers) = try upstream(target, try self.devices(target), name: "up")
        try withExtendedLifetime(upReceivers) { () throws(BenchError) in try measure([down, up]) }
    }

    /// Measures the cost of durable acknowledgements: for no messages, downstream messages and upstream messages, in turns.
    func durable() throws(BenchError) {
        let target = try DaemonTarget(self, reactors: reactors)
        let devices = try devices(target)
        let receivers = try Receivers(self, target, devices)
        var runs: [LoadRun] = []
        for (name, lifetime) in [("now", 0), ("down", Self.lifetime)] {
            runs.append(
                try appServers(target, devices, receivers, name: name, lifetimeSeconds: lifetime))
        }
        let (up, upReceivers) = try upstream(target, try self.devices(target), name: "up")
        runs.append(up)
        try withExtendedLifetime(upReceivers) { () throws(BenchError) in try compare(runs) }
    }

    /// Compares XMPP, the legacy HTTP interface and HTTP v1, in turns.
    func http() throws(BenchError) {
        let target = try DaemonTarget(self, reactors: reactors)
        let devices = try devices(target)
        let receivers = try Receivers(self, target, devices)
        let lifetime = invocation.has("--durable") ? Self.lifetime : 0
        let key = String(decoding: target.key, as: UTF8.self)
        let grant = try target.grant()
        let runs = [
            try appServers(target, devices, receivers, name: "xmpp", lifetimeSeconds: lifetime),
            try requests(target, devices, receivers, name: "http-legacy") {
                .legacy(token: $0.token, size: size, lifetimeSeconds: lifetime, key: key)
            },
            try requests(target, devices, receivers, name: "http-v1") {
                .v1(
                    token: $0.token, size: size, lifetimeSeconds: lifetime, project: grant.project,
                    bearer: grant.bearer)
            },
        ]
        try compare(runs)
    }

    /// Compares the relay and ccsd under the same load, in turns.
    func relay() throws(BenchError) {
        var runs: [LoadRun] = []
        var targets: [any Target] = [
            try RelayTarget(self, invocation.has("--plain-reads") ? .plainReads : nil)
        ]
        if !invocation.has("--only-relay") { targets.append(try DaemonTarget(self, reactors: reactors)) }
        for target in targets {
            let devices = try devices(target)
            let receivers = try Receivers(self, target, devices)
            runs.append(try appServers(target, devices, receivers, lifetimeSeconds: 0))
        }
        try compare(runs)
    }

    /// Lifetime in seconds of a message that must be on disk before its acknowledgement.
    static let lifetime = 3_600

    /// Measures concurrent loads `rounds` times, and prints each result, then the medians.
    private func measure(_ runs: [LoadRun]) throws(BenchError) {
        // Only commands with one load have this option.
        if invocation.has("--curve") { return try curve(runs[0]) }
        var results: [LoadResult] = []
        for _ in 0..<rounds {
            let found = try LoadRun.measure(runs, seconds: seconds, pacing)
            for result in found where !invocation.has("--json") { Terminal.print(result.line + "\n") }
            results += found
        }
        printResult(results, against: nil)
    }

    /// Measures latency against load: the maximum rate by a closed loop, then open loops at shares of it.
    private func curve(_ run: LoadRun) throws(BenchError) {
        let most = try run.measure(seconds: seconds)
        if !invocation.has("--json") { Terminal.print("closed loop: \(most.line)\n") }
        var results: [LoadResult] = []
        for share in [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95] {
            let result = try run.measure(seconds: seconds, .rate(most.rate * share))
            if !invocation.has("--json") { Terminal.print(result.line + "\n") }
            results.append(result)
        }
        guard invocation.has("--json") else { return }
        let json: JSONValue = .object([
            .init("closed_loop", most.json), .init("open_loop", .array(results.map(\.json))),
        ])
        Terminal.print(json.compact + "\n")
    }

    /// Measures loads in turns, and prints their medians compared with the first.
    private func compare(_ runs: [LoadRun]) throws(BenchError) {
        printResult(try measureInTurns(runs), against: runs[0].name)
    }

    /// Measures loads in turns `rounds` times, and prints each result. Calls `roundEnded` with the number of each round, from 0, and
    /// the other closures around each measurement.
    func measureInTurns(
        _ runs: [LoadRun], before: (LoadRun) throws(BenchError) -> Void = { _ throws(BenchError) in },
        after: (LoadRun) throws(BenchError) -> Void = { _ throws(BenchError) in },
        roundEnded: (Int) -> Void = { _ in }
    ) throws(BenchError) -> [LoadResult] {
        var results: [LoadResult] = []
        for round in 0..<(invocation.integer("--rounds") ?? 3) {
            for run in runs {
                try before(run)
                let result = try run.measure(seconds: seconds, pacing)
                try after(run)
                if !invocation.has("--json") { Terminal.print(result.line + "\n") }
                results.append(result)
            }
            roundEnded(round)
        }
        return results
    }

    /// Prints the medians of results, compared with one load if given, and `more` members in JSON.
    func printResult(
        _ results: [LoadResult], against first: String?, _ rate: String = "msg/s",
        _ cost: String = "us CPU/msg", more: [JSONValue.Member] = []
    ) {
        let medians = Medians.of(results.map(\.sample))
        guard !invocation.has("--json") else {
            return Terminal.print(
                JSONValue.object(
                    [
                        .init("rounds", .array(results.map(\.json))),
                        .init(
                            "medians", .object(medians.map { .init($0.name, $0.json(against: medians[0])) })),
                    ] + more
                ).compact + "\n")
        }
        guard results.count > medians.count || first != nil else { return }
        for median in medians {
            Terminal.print(median.line(against: first == nil ? nil : medians[0], rate, cost) + "\n")
        }
    }

    /// Prints a result in the requested format.
    func printResult(_ line: String, _ json: JSONValue) {
        Terminal.print((invocation.has("--json") ? json.compact : line) + "\n")
    }
}
