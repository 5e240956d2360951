import Basics
import Catalogue

/// The same load on a server with few devices, and on one with many devices and stored messages.
final class FlatRun {
    /// Devices of the large server.
    let registered: Int
    /// Messages stored for offline devices.
    private(set) var stored = 0
    private let bench: Bench
    private let few: DaemonTarget
    private let many: DaemonTarget
    /// The online devices of each server.
    private let online: (few: [BenchDevice], many: [BenchDevice])
    /// Devices of the small server.
    private static let fewDevices = 1_000
    /// Offline devices that are sent messages at a time: a stanza for each is in the generator's memory.
    private static let devicesAtOnce = 250_000

    /// Starts both servers, and fills the large one.
    init(_ bench: Bench, registered: Int, messages: Int) throws(BenchError) {
        self.bench = bench
        self.registered = registered
        few = try DaemonTarget(bench, named: "few", reactors: bench.reactors)
        many = try DaemonTarget(bench, named: "many", reactors: bench.reactors)
        let count = min(bench.deviceCount, Self.fewDevices)
        online.few = Array(try bench.devices(few, Self.fewDevices).prefix(count))
        let all = try bench.devices(many, registered)
        online.many = Array(all.prefix(count))
        try store(messages, for: all.dropFirst(count))
        // The restart clears memory used for filling, and flushes the log into the store's files, on both servers.
        try few.restart()
        try many.restart()
    }

    private func store(_ messages: Int, for devices: ArraySlice<BenchDevice>) throws(BenchError) {
        guard messages > 0 else { return }
        var rest = devices
        while !rest.isEmpty {
            let part = Array(rest.prefix(Self.devicesAtOnce))
            rest = rest.dropFirst(part.count)
            let load = try bench.appServers(
                many, part, nil, name: "stored", lifetimeSeconds: 24 * Bench.lifetime)
            let result = try load.send(part.count * messages)
            guard result.refused == 0 else { throw load.failed("\(result.refused) messages were refused") }
            stored += result.messages
        }
    }

    /// Returns the medians of each load on the small server and on the large one, measured in turns.
    func measure(rounds: Int) throws(BenchError) -> [(few: Medians, many: Medians)] {
        var loads: [(few: LoadRun, many: LoadRun)] = []
        let receivers = (
            few: try Receivers(bench, few, online.few), many: try Receivers(bench, many, online.many)
        )
        for (name, lifetime) in [("now", 0), ("durable", Bench.lifetime)] {
            loads.append(
                (
                    few: try bench.appServers(
                        few, online.few, receivers.few, name: "\(name), few", lifetimeSeconds: lifetime),
                    many: try bench.appServers(
                        many, online.many, receivers.many, name: "\(name), many", lifetimeSeconds: lifetime)
                ))
        }
        var found: [(few: Medians, many: Medians)] = []
        for load in loads {
            var samples: [Medians.Sample] = []
            for _ in 0..<rounds {
                for run in [load.few, load.many] {
                    let result = try run.measure(seconds: bench.seconds)
                    if !bench.invocation.has("--json") { Terminal.print(result.line + "\n") }
                    samples.append(result.sample)
                }
            }
            let medians = Medians.of(samples)
            found.append((few: medians[0], many: medians[1]))
        }
        receivers.few.leave(bench)
        receivers.many.leave(bench)
        return found
    }

    /// Restarts the large server after an orderly stop, and after a crash.
    func restart() throws(BenchError) -> [FlatStart] {
        [
            try start("after stop", many.stop), try start("after kill", many.crash),
        ]
    }

    private func start(_ name: String, _ end: () -> Void) throws(BenchError) -> FlatStart {
        end()
        let begin = Now.read().monotonic
        try many.startAgain()
        let ready = Now.read().monotonic.milliseconds(since: begin)
        let receivers = try Receivers(bench, many, Array(online.many.prefix(1)))
        let served = Now.read().monotonic.milliseconds(since: begin)
        let resident = ProcessProbe(process: many.process).residentKiB
        receivers.leave(bench)
        return FlatStart(
            name: name, readyMilliseconds: ready, servedMilliseconds: served, residentKiB: resident)
    }
}
