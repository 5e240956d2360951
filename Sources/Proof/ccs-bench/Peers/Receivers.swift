import Transport

/// Logged-in connections that count messages for the load that is being measured.
final class Receivers {
    /// The counters of that load.
    var counters: LoadCounters
    /// In the order of their creation.
    private(set) var all: [any Receiving] = []

    /// Logs devices in, with their own TLS settings if given.
    convenience init(
        _ bench: Bench, _ target: any Target, _ devices: [BenchDevice],
        _ counters: LoadCounters = LoadCounters(), tls: TLSClientSettings? = nil
    ) throws(BenchError) {
        try self.init(bench, target, devices.count, "devices", counters) {
            (at, receivers) throws(BenchError) in
            let receiver = Receiver(receivers, DeviceTalk(devices[at]))
            try bench.connect(to: target.devices, receiver, tls: tls)
            return receiver
        }
    }

    /// Logs in `count` receivers; `make` connects one of them.
    init(
        _ bench: Bench, _ server: any Server, _ count: Int, _ what: String,
        _ counters: LoadCounters = LoadCounters(),
        _ make: (Int, Receivers) throws(BenchError) -> any Receiving
    ) throws(BenchError) {
        self.counters = counters
        let begin = counters
        for at in 0..<count {
            all.append(try make(at, self))
            guard bench.turn(seconds: 10, until: { begin.ready > at - Self.handshakesAtOnce }) else {
                break
            }
            bench.progress.show("\(what) connected", at, of: count)
        }
        guard bench.turn(seconds: 20, until: { begin.ready >= count }) else {
            throw BenchError(
                "only \(begin.ready) of \(count) \(what) could log in to \(server.name): \(begin.failures)")
        }
        bench.progress.clear()
    }

    /// Concurrent handshakes, few enough that none exceeds its deadline.
    static let handshakesAtOnce = 100

    /// Breaks all connections off once the last acknowledgements have been read.
    func finish(_ bench: Bench) {
        _ = bench.turn(seconds: 1) { false }
        leave(bench)
    }

    /// Breaks all connections off.
    func leave(_ bench: Bench) {
        for receiver in all { receiver.leave() }
        _ = bench.turn(seconds: 5) { all.allSatisfy(\.hasLeft) }
    }
}

extension Bench {
    /// Opens a connection of the generator.
    func connect(
        to address: SocketAddress, _ owner: any ConnectionDelegate, tls: TLSClientSettings? = nil
    ) throws(BenchError) {
        do throws(TransportError) {
            _ = try reactor.connect(
                to: address, tls: tls ?? self.tls, serverName: "localhost", delegate: owner)
        } catch { throw BenchError(error.description) }
    }
}
