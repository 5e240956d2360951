import Transport

/// Devices that are logged in and count what comes for whoever is measured just now.
final class Receivers {
    /// Who that is.
    var counters: LoadCounters
    private var devices: [DeviceReceiver] = []

    /// Logs devices in.
    init(
        _ bench: Bench, _ target: any Target, _ devices: [BenchDevice],
        _ counters: LoadCounters = LoadCounters()
    ) throws(BenchError) {
        self.counters = counters
        let begin = counters
        for (number, device) in devices.enumerated() {
            let receiver = DeviceReceiver(self, device)
            self.devices.append(receiver)
            try bench.connect(to: target.devices, receiver)
            guard bench.turn(seconds: 10, until: { begin.ready > number - Self.handshakesAtOnce }) else {
                break
            }
            bench.progress.show("devices connected", number, of: devices.count)
        }
        guard bench.turn(seconds: 20, until: { begin.ready >= devices.count }) else {
            throw BenchError(
                "only \(begin.ready) of \(devices.count) devices could log in to \(target.name): \(begin.failures)"
            )
        }
        bench.progress.clear()
    }

    /// So few that none waits beyond its deadline.
    static let handshakesAtOnce = 100

    /// Breaks all connections off.
    func leave(_ bench: Bench) {
        for device in devices { device.leave() }
        _ = bench.turn(seconds: 5) { devices.allSatisfy(\.hasLeft) }
    }
}

extension Bench {
    /// Opens a connection of the generator.
    func connect(to address: SocketAddress, _ owner: any ConnectionDelegate) throws(BenchError) {
        do throws(TransportError) {
            _ = try reactor.connect(to: address, tls: tls, serverName: "localhost", delegate: owner)
        } catch { throw BenchError(error.description) }
    }
}
