import Transport

/// Devices that are logged in and count what comes for whoever is measured just now.
final class Receivers {
    /// Who that is.
    var counters = LoadCounters()

    /// Logs devices in.
    init(_ bench: Bench, _ target: any Target, _ devices: [BenchDevice]) throws(BenchError) {
        let begin = counters
        for (number, device) in devices.enumerated() {
            try bench.connect(to: target.devices, DeviceReceiver(self, device))
            guard bench.turn(seconds: 10, until: { begin.ready > number - 100 }) else { break }
            bench.progress.show("devices connected", number, of: devices.count)
        }
        guard bench.turn(seconds: 20, until: { begin.ready >= devices.count }) else {
            throw BenchError(
                "only \(begin.ready) of \(devices.count) devices could log in to \(target.name): \(begin.failures)"
            )
        }
        bench.progress.clear()
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
