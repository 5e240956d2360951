import Basics
import Client
import Transport

/// One load on one server: connections are made once, and may then be measured several times.
final class LoadRun {
    private let bench: Bench
    private let target: any Target
    private let counters = LoadCounters()
    private var appServers: [AppServerLoad] = []
    private var isStarted = false

    /// Connects devices and app servers; each message lives so many seconds, 0 for now or never.
    init(_ bench: Bench, _ target: any Target, lifetimeSeconds: Int) throws(BenchError) {
        self.bench = bench
        self.target = target
        let count = bench.deviceCount
        let devices = try target.makeDevices(count) { bench.progress.show("devices enrolled", $0, of: count) }
        try connectDevices(devices)
        let stanzas = devices.map {
            Stanza(token: $0.token, size: bench.size, lifetimeSeconds: lifetimeSeconds)
        }
        counters.ready = 0
        let step = max(1, stanzas.count / bench.connections)
        for number in 0..<bench.connections {
            let load = AppServerLoad(
                counters, target.credential, stanzas: stanzas, window: bench.window,
                first: number * step % max(1, stanzas.count))
            appServers.append(load)
            try connect(target.appServers, load)
            // Few handshakes at once, so that none waits beyond its deadline.
            guard bench.turn(seconds: 10, until: { counters.ready > number - 100 }) else { break }
        }
        guard bench.turn(seconds: 10, until: { counters.ready >= bench.connections }) else {
            throw failed("only \(counters.ready) of \(bench.connections) app servers could log in")
        }
    }

    private func connectDevices(_ devices: [BenchDevice]) throws(BenchError) {
        for (number, device) in devices.enumerated() {
            try connect(target.devices, DeviceLoad(counters, device))
            guard bench.turn(seconds: 10, until: { counters.ready > number - 100 }) else { break }
            bench.progress.show("devices connected", number, of: devices.count)
        }
        guard bench.turn(seconds: 10, until: { counters.ready >= devices.count }) else {
            throw failed("only \(counters.ready) of \(devices.count) devices could log in")
        }
    }

    private func connect(_ address: SocketAddress, _ owner: any ConnectionDelegate) throws(BenchError) {
        do throws(TransportError) {
            _ = try bench.reactor.connect(
                to: address, tls: bench.tls, serverName: "localhost", delegate: owner)
        } catch { throw BenchError(error.description) }
    }

    private func failed(_ words: String) -> BenchError {
        BenchError(([words + " to \(target.name)"] + counters.failures).joined(separator: "; "))
    }

    /// Warms up, then measures for so many seconds, and lets what is on its way arrive.
    func measure(seconds: Int) throws(BenchError) -> LoadResult {
        bench.separate(target)
        counters.isSending = true
        for load in appServers { load.start(now: Now.read()) }
        bench.run(milliseconds: 1_000, "warming up")
        counters.beginMeasuring()
        let begin = counters.sample(target)
        bench.run(milliseconds: Int64(seconds) * 1_000, "measuring \(target.name)")
        let end = counters.sample(target)
        counters.isSending = false
        let result = LoadResult(target: target.name, from: begin, to: end, counters: counters)
        _ = bench.turn(seconds: 5) { counters.acknowledged + counters.refused >= counters.sent }
        bench.progress.clear()
        guard counters.failures.isEmpty else { throw failed("connections ended") }
        if result.refused > 0 { Terminal.error("the first refusal: \(counters.refusal)\n") }
        guard result.messages > 0 else { throw failed("no message was answered") }
        return result
    }
}

/// What was counted up to one moment.
struct LoadSample {
    var time: Instant
    var messages: Int
    var refused: Int
    var delivered: Int
    var server: Int64
    var own: Int64
}

extension Bench {
    /// Turns the reactor for so long, and says how far it is.
    func run(milliseconds: Int64, _ what: String) {
        let begin = Now.read().monotonic
        var now = begin
        while now.milliseconds(since: begin) < milliseconds {
            for _ in 0..<64 { reactor.turn(waitMilliseconds: 5) }
            now = Now.read().monotonic
            progress.show(what, Int(now.milliseconds(since: begin)), of: Int(milliseconds))
        }
    }
}

extension LoadCounters {
    /// What is counted now.
    func sample(_ target: any Target) -> LoadSample {
        LoadSample(
            time: Now.read().monotonic, messages: acknowledged, refused: refused, delivered: delivered,
            server: ProcessProbe(process: target.process).cpuNanoseconds,
            own: ProcessProbe(process: ProcessProbe.own).cpuNanoseconds)
    }
}
