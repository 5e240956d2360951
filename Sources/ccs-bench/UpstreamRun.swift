import Basics
import Client
import Transport

/// Messages of devices to app servers: each device keeps some on their way until the server has them on disk.
///
/// The devices and app servers are those of the Client module: disk and protocol cost more here than the generator.
final class UpstreamRun {
    private let bench: Bench
    private let target: DaemonTarget
    private let counters = LoadCounters()
    private var devices: [DeviceClient] = []
    private var appServers: [AppServerClient] = []
    private var sentAt: [[UInt8]: Int64] = [:]
    private var number = 0

    /// Connects devices and app servers.
    init(_ bench: Bench, _ target: DaemonTarget) throws(BenchError) {
        self.bench = bench
        self.target = target
        let count = bench.deviceCount
        let made = try target.makeDevices(count) { bench.progress.show("devices enrolled", $0, of: count) }
        for at in 0..<bench.connections { try connectAppServer(at) }
        for (at, device) in made.enumerated() { try connectDevice(at, device) }
    }

    private func connectAppServer(_ at: Int) throws(BenchError) {
        let login = AppServerLogin(sender: target.sender, key: Redacted(target.key))
        let client = AppServerClient(
            reactor: bench.reactor,
            endpoint: Endpoint(address: target.appServers, serverName: "localhost", tls: bench.tls),
            login: login)
        client.onEvent = { [counters] _, event, now in
            switch event {
            case .ready: counters.ready += 1
            case .upstream(let message):
                guard let at = Bytes.offset(of: "~~", in: message.data.raw) else { return }
                counters.delivered += 1
                counters.deliveryTimes.note(
                    now.monotonic.nanoseconds - Digits.time(in: message.data.raw, at: at + 2))
            case .closed(let reason, let detail): counters.noteEnd("app server", reason, detail)
            default: break
            }
        }
        do throws(TransportError) { try client.connect() } catch { throw BenchError(error.description) }
        appServers.append(client)
        guard bench.turn(seconds: 10, until: { counters.ready > at }) else {
            throw BenchError("an app server cannot log in: \(counters.failures)")
        }
    }

    private func connectDevice(_ at: Int, _ device: BenchDevice) throws(BenchError) {
        let identity = DeviceIdentity(androidID: device.number, securityToken: Redacted(device.secret))
        let client = DeviceClient(
            reactor: bench.reactor,
            endpoint: Endpoint(address: target.devices, serverName: "localhost", tls: bench.tls),
            identity: identity)
        client.onEvent = { [weak self] client, event, now in
            guard let self else { return }
            switch event {
            case .loggedIn: counters.ready += 1
            case .upstreamStored(let id):
                counters.acknowledged += 1
                if let time = sentAt.removeValue(forKey: id) {
                    counters.answerTimes.note(now.monotonic.nanoseconds - time)
                }
                if counters.isSending { send(client, now) }
            case .closed(let reason, let detail): counters.noteEnd("device", reason, detail)
            default: break
            }
        }
        do throws(TransportError) { try client.connect() } catch { throw BenchError(error.description) }
        devices.append(client)
        guard bench.turn(seconds: 10, until: { counters.ready > bench.connections + at }) else {
            throw BenchError("a device cannot log in: \(counters.failures)")
        }
        bench.progress.show("devices connected", at, of: bench.deviceCount)
    }

    private func send(_ client: DeviceClient, _ now: Now) {
        number += 1
        let time = now.monotonic.nanoseconds
        let id = Array("\(client.identity.androidID)-\(number)".utf8)
        var message = Upstream(
            sender: target.sender, category: Array("org.example.bench".utf8), messageID: id, persistentID: id)
        var value = ByteBuffer()
        value.append("~~0000000000000000")
        Digits.putTime(time, at: 2, into: &value)
        message.data = [(Array("n".utf8), value.copied())]
        sentAt[id] = time
        counters.sent += 1
        client.send(message)
    }

    /// Warms up, then measures for so many seconds.
    func measure(seconds: Int, window: Int) throws(BenchError) -> LoadResult {
        bench.separate(target)
        let now = Now.read()
        for device in devices {
            for _ in 0..<window { send(device, now) }
        }
        bench.run(milliseconds: 1_000, "warming up")
        counters.beginMeasuring()
        let begin = counters.sample(target)
        bench.run(milliseconds: Int64(seconds) * 1_000, "measuring")
        let result = LoadResult(
            target: target.name, from: begin, to: counters.sample(target), counters: counters)
        counters.isSending = false
        _ = bench.turn(seconds: 5) { counters.acknowledged >= counters.sent }
        bench.progress.clear()
        guard counters.failures.isEmpty, result.messages > 0 else {
            throw BenchError("the load broke off: \(counters.failures)")
        }
        return result
    }
}
