import Basics
import Catalogue
import Client
import Delivery
import TestBench
import Transport

/// The start of the test bench.
extension Startup {
    /// The test bench with the reactor of its thread.
    struct OpenBench {
        let daemon: Daemon.Bench
        let reactor: Reactor
        /// The key by which partitions recognise recorders; it is never written anywhere.
        let recorderKey = Redacted(Array(Hex.text(SecureRandom.bytes(32)).utf8))

        /// The key as partitions have it.
        var recorderDigest: SecretDigest { SecretDigest(bytes: Digest.sha256(recorderKey.revealed)) }
    }

    /// Makes the test bench. Returns `nil` if it is off.
    func makeBench() throws(StartupFailure) -> OpenBench? {
        guard configuration.testBench else { return nil }
        do throws(TransportError) {
            let reactor = try Reactor(index: configuration.reactorCount + 2)
            return OpenBench(
                daemon: Daemon.Bench(devices: TestBench(handle: reactor.handle)), reactor: reactor)
        } catch {
            throw StartupFailure(
                text: error.description, hint: "raise the limit on open files", exitCode: error.exitCode)
        }
    }

    /// Starts the thread of the test bench, once the listeners accept connections.
    func startBench(_ open: OpenBench, _ daemon: Daemon) throws(StartupFailure) {
        guard let devices = endpoint(of: .device, daemon), let https = endpoint(of: .https, daemon) else {
            throw StartupFailure(
                text: "test_bench needs the listeners for devices and for HTTPS",
                hint: "give both device_port and https_port, or leave test_bench out",
                exitCode: .configuration)
        }
        let clock = daemon.clock
        log.warning(
            "test_bench", ["problem": "operators can read messages, and let messages be lost on purpose"])
        let settings = BenchHost.Settings(
            devices: devices, https: https,
            appServers: endpoint(of: .appServer, daemon) ?? endpoint(of: .appServerPreproduction, daemon),
            recorderKey: open.recorderKey,
            file: "\(configuration.dataDirectory)/virtual-devices.json",
            serverTime: { clock.judged($0) })
        let log = log
        // Transferred to the new thread: this one does not use it again.
        nonisolated(unsafe) let reactor = open.reactor
        let bench = open.daemon.devices
        try start("ccsd-bench") { unsafe bench.run(reactor, settings, log) }
    }

    /// Where this process itself reaches one of its listeners.
    private func endpoint(of kind: Link.Kind, _ daemon: Daemon) -> Endpoint? {
        guard let listener = daemon.listeners.first(where: { $0.name == kind.rawValue }) else { return nil }
        let host = Configuration.reachable(listener.host)
        guard let address = SocketAddress(literal: host, port: UInt16(clamping: listener.port)),
            // The connection does not leave the process: there is no one to be mistaken for.
            let tls = try? TLSClientSettings(trust: .anyone)
        else { return nil }
        return Endpoint(address: address, serverName: HostNames.all(configuration).first, tls: tls)
    }
}
