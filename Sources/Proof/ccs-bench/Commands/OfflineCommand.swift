import Basics
import Catalogue
import Wire

extension Bench {
    /// Measures messages to offline devices, and their delivery after login.
    func offline() throws(BenchError) {
        let target = try DaemonTarget(self, reactors: reactors)
        let devices = try devices(target)
        progress.clear()
        let each = invocation.integer("--messages") ?? 50
        let load = try appServers(target, devices, nil, name: "stored", lifetimeSeconds: Self.lifetime)
        let stored = try load.send(devices.count * each)
        let counters = LoadCounters()
        let begin = LoadSample(counters, target)
        let receivers = try Receivers(self, target, devices, counters)
        let all = devices.count * each
        guard turn(seconds: 60 + all / 500, until: { counters.delivered >= all }) else {
            throw BenchError("only \(counters.delivered) of \(all) messages arrived: \(counters.failures)")
        }
        let end = LoadSample(counters, target)
        receivers.leave(self)
        let seconds = Double(end.time.nanoseconds - begin.time.nanoseconds) / 1e9
        let rate = Double(all) / max(0.001, seconds)
        let cost = Double(end.server - begin.server) / 1_000 / Double(all)
        printResult(
            stored.line
                + "\n\(Figure.pad("fetched", 11)) \(Figure.padLeft(Figure.whole(rate), 9)) msg/s, \(Figure.fixed(cost, 2)) us CPU/msg, logins of \(Figure.whole(devices.count)) devices included",
            .object([
                .init("stored", stored.json), .init("devices", .integer(devices.count)),
                .init("messages", .integer(all)), .init("fetched_per_second", .number(rate)),
                .init("fetched_server_cpu_us_per_message", .number(cost)),
            ]))
    }
}
