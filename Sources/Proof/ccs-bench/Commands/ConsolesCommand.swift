import Basics
import Catalogue
import Operator
import Wire

extension Bench {
    /// Measures what open consoles cost: throughput with and without them, and the processor of a server without messages.
    func consoles() throws(BenchError) {
        let port = try Bench.freePort()
        let target = try DaemonTarget(
            self, reactors: reactors, flags: ["--admin-port", "\(port)", "--admin-tls", "--operator-api"])
        let token = try target.control(AddOperator(name: "bench", role: .viewer)).token
        let count = invocation.integer("--consoles") ?? 10
        let consoles = (0..<count).map { _ in OpenConsole(self, port: port, token: token) }
        let devices = try devices(target)
        let receivers = try Receivers(self, target, devices)
        let lifetime = invocation.has("--durable") ? Self.lifetime : 0
        let runs = try ["alone", "consoles"].map { name throws(BenchError) in
            try appServers(target, devices, receivers, name: name, lifetimeSeconds: lifetime)
        }
        let idle = try idleLoads(target, consoles)
        let results = try measureInTurns(
            runs,
            before: { (run) throws(BenchError) in
                if run === runs[1] { try open(consoles) }
            },
            after: { (run) throws(BenchError) in
                if run === runs[1] { try close(consoles) }
            })
        let medians = Medians.of(results.map(\.sample))
        let cost = ConsoleCost(
            rate: 1 - medians[1].rate / max(0.001, medians[0].rate),
            cpu: medians[1].serverMicroseconds / max(0.001, medians[0].serverMicroseconds) - 1,
            idle: idle.with - idle.without)
        printResult(results, against: runs[0].name, more: cost.json)
        if !invocation.has("--json") { Terminal.print(cost.line(count) + "\n") }
    }

    /// Returns the share of a processor that the server uses without messages, without consoles and with them.
    private func idleLoads(
        _ target: DaemonTarget, _ consoles: [OpenConsole]
    ) throws(BenchError) -> (without: Double, with: Double) {
        let probe = ProcessProbe(process: target.process)
        func load() -> Double {
            let (begin, before) = (Now.read().monotonic.nanoseconds, probe.cpuNanoseconds)
            run(milliseconds: Int64(seconds) * 1_000, "measuring the server without messages")
            let spent = Double(probe.cpuNanoseconds - before)
            return spent / Double(max(1, Now.read().monotonic.nanoseconds - begin))
        }
        let without = load()
        try open(consoles)
        let with = load()
        try close(consoles)
        return (without, with)
    }

    /// Opens all consoles, and waits until each has figures.
    private func open(_ consoles: [OpenConsole]) throws(BenchError) {
        for (number, console) in consoles.enumerated() {
            try console.open(number: number, of: consoles.count)
        }
        guard turn(seconds: 10, until: { consoles.allSatisfy { $0.figures > 0 } }) else {
            throw BenchError("not all consoles get figures: \(consoles.compactMap(\.failure).first ?? "")")
        }
    }

    /// Closes all consoles. Throws if one did not get figures all the time, since it would have cost nothing.
    private func close(_ consoles: [OpenConsole]) throws(BenchError) {
        let least = consoles.map(\.figures).min() ?? 0
        for console in consoles { console.close() }
        if let failure = consoles.compactMap(\.failure).first { throw BenchError("console: \(failure)") }
        guard least >= seconds * 3 / 4 else {
            throw BenchError("a console got figures only \(least) times in \(seconds) seconds")
        }
    }
}

/// What open consoles cost.
struct ConsoleCost {
    /// The share of the throughput.
    var rate: Double
    /// The share of the server's CPU per message.
    var cpu: Double
    /// The share of a processor that they add without messages.
    var idle: Double

    /// The members for programs.
    var json: [JSONValue.Member] {
        [
            .init("throughput_cost", .number(rate)), .init("cpu_cost", .number(cpu)),
            .init("idle_processor", .number(idle)),
        ]
    }

    /// The text for people.
    func line(_ count: Int) -> String {
        let percent = [rate, cpu, idle].map { Figure.fixed($0 * 100, 2) }
        return
            "\(count) consoles cost \(percent[0]) % of the throughput and \(percent[1]) % of the CPU per message; without messages they use \(percent[2]) % of a processor"
    }
}
