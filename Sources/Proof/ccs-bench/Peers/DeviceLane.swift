import Basics
import Client
import ClientProtocol
import Transport

/// One device that sends to app servers; its messages are acknowledged when they are on the server's disk.
///
/// Devices and app servers of this load are those of the Client module: disk and protocol cost more here than the generator.
final class DeviceLane: Lane {
    private weak let load: LoadRun?
    private let counters: LoadCounters
    private let client: DeviceClient
    private let sender: SenderID
    let window: Int
    private(set) var outstanding = 0
    private var number = 0
    private var times: [[UInt8]: Int64] = [:]

    /// Starts the login.
    init(
        _ load: LoadRun, _ target: any Target, _ device: BenchDevice, window: Int
    ) throws(BenchError) {
        self.load = load
        counters = load.counters
        self.window = window
        sender = target.sender
        client = DeviceClient(
            reactor: load.bench.reactor,
            endpoint: Endpoint(address: target.devices, serverName: "localhost", tls: load.bench.tls),
            identity: DeviceIdentity(androidID: device.number, securityToken: Redacted(device.secret)))
        client.onEvent = { [weak self] _, event, now in self?.handle(event, now) }
        do throws(TransportError) { try client.connect() } catch { throw BenchError(error.description) }
    }

    private func handle(_ event: DeviceEvent, _ now: Now) {
        switch event {
        case .loggedIn: counters.ready += 1
        case .upstreamStored(let id, _):
            counters.acknowledged += 1
            outstanding -= 1
            if let time = times.removeValue(forKey: id) {
                counters.answerTimes.record(now.monotonic.nanoseconds - time)
            }
            load?.answered(self, now: now)
        case .closed(let reason, let detail): counters.recordEnd("device", reason, detail)
        default: break
        }
    }

    func send(dueAt time: Int64) {
        number += 1
        let id = Array("\(client.identity.androidID)-\(number)".utf8)
        var message = Upstream(
            sender: sender, category: Array(DaemonTarget.category.utf8), messageID: id, persistentID: id)
        var value = ByteBuffer()
        value.append("~~0000000000000000")
        Digits.putTime(time, at: 2, into: &value)
        message.data = [(Array("n".utf8), value.copied())]
        times[id] = time
        outstanding += 1
        client.send(message)
    }

    func flush() {}
}

/// App servers that acknowledge and count messages of devices.
final class UpstreamReceivers {
    private var clients: [AppServerClient] = []

    /// Logs in `count` app servers.
    init(_ load: LoadRun, _ target: DaemonTarget, count: Int) throws(BenchError) {
        var ready = 0
        for at in 0..<count {
            let client = AppServerClient(
                reactor: load.bench.reactor,
                endpoint: Endpoint(address: target.appServers, serverName: "localhost", tls: load.bench.tls),
                login: AppServerLogin(sender: target.sender, key: Redacted(target.key)))
            client.onEvent = { [counters = load.counters] _, event, now in
                switch event {
                case .ready: ready += 1
                case .upstream(let message):
                    guard let at = Bytes.offset(of: "~~", in: message.data.raw) else { return }
                    counters.delivered += 1
                    counters.deliveryTimes.record(
                        now.monotonic.nanoseconds - Digits.time(in: message.data.raw, at: at + 2))
                case .closed(let reason, let detail): counters.recordEnd("app server", reason, detail)
                default: break
                }
            }
            do throws(TransportError) { try client.connect() } catch { throw BenchError(error.description) }
            clients.append(client)
            guard load.bench.turn(seconds: 10, until: { ready > at }) else {
                throw load.failed("an app server cannot log in")
            }
        }
    }
}
