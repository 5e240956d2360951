import Basics
import Catalogue
import Transport
import Wire

/// The measurements, one for each command.
extension Bench {
    /// Does what the command line asks for.
    func run() throws(BenchError) {
        switch invocation.command.name {
        case "downstream": try downstream()
        case "upstream": try upstream()
        case "relay": try relay()
        case "idle": try idle()
        case "restart": try restart()
        case "simulate": try simulate()
        default: throw BenchError("unknown command")
        }
    }

    /// Downstream messages through ccsd.
    func downstream() throws(BenchError) {
        let lifetime = invocation.has("--durable") ? 3_600 : 0
        let target = try DaemonTarget(self, reactors: reactors)
        let result = try LoadRun(self, target, lifetimeSeconds: lifetime).measure(seconds: seconds)
        tell(result.line, result.json)
    }

    /// Upstream messages through ccsd.
    func upstream() throws(BenchError) {
        let target = try DaemonTarget(self, reactors: reactors)
        // A device may have so many messages on their way (FCM); more would only wait.
        let window = min(self.window, Limits.waitingUpstream)
        let result = try UpstreamRun(self, target).measure(seconds: seconds, window: window)
        tell(result.line, result.json)
    }

    /// The same load through the relay and through ccsd, in turns.
    func relay() throws(BenchError) {
        let relay = try LoadRun(self, RelayTarget(self), lifetimeSeconds: 0)
        var runs = [relay]
        if !invocation.has("--only-relay") {
            runs.append(try LoadRun(self, DaemonTarget(self, reactors: reactors), lifetimeSeconds: 0))
        }
        var results: [LoadResult] = []
        for _ in 0..<(invocation.integer("--rounds") ?? 3) {
            for run in runs {
                let result = try run.measure(seconds: seconds)
                if !invocation.has("--json") { Terminal.print(result.line + "\n") }
                results.append(result)
            }
        }
        func middle(_ name: String) -> Double {
            Figure.median(results.filter { $0.target == name }.map(\.serverMicroseconds))
        }
        let ratio = middle("ccsd") / max(0.001, middle("relay"))
        tell(
            "median server CPU per message: relay \(Figure.fixed(middle("relay"), 2)) us, ccsd \(Figure.fixed(middle("ccsd"), 2)) us, ratio \(Figure.fixed(ratio, 2))",
            .object([
                .init("rounds", .array(results.map(\.json))), .init("relay_us", .number(middle("relay"))),
                .init("ccsd_us", .number(middle("ccsd"))), .init("ratio", .number(ratio)),
            ]))
    }

    /// Memory of idle device connections.
    func idle() throws(BenchError) {
        let target = try DaemonTarget(self, reactors: reactors)
        let count = invocation.integer("--devices") ?? 5_000
        let devices = try target.makeDevices(count) { progress.show("devices enrolled", $0, of: count) }
        // What enrolling left in the daemon's memory would be taken for room of connections.
        try target.restart()
        let counters = LoadCounters()
        let probe = ProcessProbe(process: target.process)
        _ = turn(seconds: 1) { false }
        let before = probe.residentKiB
        for (number, device) in devices.enumerated() {
            do throws(TransportError) {
                _ = try reactor.connect(
                    to: target.devices, tls: tls, serverName: "localhost",
                    delegate: DeviceLoad(counters, device))
            } catch { throw BenchError(error.description) }
            guard turn(seconds: 10, until: { counters.ready > number - 64 }) else { break }
            progress.show("devices connected", number, of: count)
        }
        guard turn(seconds: 20, until: { counters.ready >= count }) else {
            throw BenchError("only \(counters.ready) of \(count) devices could log in: \(counters.failures)")
        }
        _ = turn(seconds: 3) { false }
        progress.clear()
        let after = probe.residentKiB
        let each = Double(after - before) / Double(count)
        tell(
            "ccsd: \(count) idle device connections, \(Figure.fixed(each, 1)) KiB each (resident \(Figure.whole(Double(before))) KiB before, \(Figure.whole(Double(after))) KiB after)",
            .object([
                .init("devices", .integer(count)), .init("kib_each", .number(each)),
                .init("resident_kib_before", .integer(before)), .init("resident_kib_after", .integer(after)),
            ]))
    }

    /// Prints a result in the form asked for.
    func tell(_ line: String, _ json: JSONValue) {
        Terminal.print((invocation.has("--json") ? json.compact : line) + "\n")
    }
}
