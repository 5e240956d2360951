import Basics
import Client
import ClientProtocol
import Transport
import Wire

/// A rolling restart under load: app servers and devices exchange messages, the daemon gets SIGTERM, drains, and starts again
/// on the same ports; all accepted messages must arrive.
final class RestartRun {
    /// An app server with the pending messages of its connection.
    final class Server {
        let client: AppServerClient
        var unanswered: Set<Int> = []
        init(_ client: AppServerClient) { self.client = client }
    }

    let bench: Bench
    let target: DaemonTarget
    let rate: Int
    private var servers: [Server] = []
    private var devices: [DeviceClient] = []
    private var tokens: [[UInt8]] = []
    private var random = SeededRandom(seed: 1)
    private var next = 0
    private var again: [Int] = []
    private var targets: [Int] = []
    private(set) var down = Books()
    private(set) var up = Books()
    /// Refusals by their word.
    private(set) var refusals: [String: Int] = [:]
    /// Number of closed connections.
    private(set) var closes = 0
    private var begin = Instant.distantPast
    private var offered = 0

    init(_ bench: Bench, connections: Int, devices count: Int, rate: Int) throws(BenchError) {
        self.bench = bench
        self.rate = rate
        target = try DaemonTarget(
            bench, reactors: bench.reactors,
            flags: ["--drain-grace-seconds", "5", "--drain-spread-seconds", "10", "--shutdown-seconds", "60"])
        let made = try target.makeDevices(count) {
            bench.progress.show("devices enrolled", $0, of: count)
        }
        tokens = made.map { Array($0.token.utf8) }
        for _ in 0..<connections { servers.append(Server(makeServer())) }
        for server in servers { listen(server) }
        devices = made.map(makeDevice)
        try connectAll()
    }

    // MARK: Peers

    private func makeServer() -> AppServerClient {
        let endpoint = Endpoint(address: target.appServers, serverName: "localhost", tls: bench.tls)
        let client = AppServerClient(
            reactor: bench.reactor, endpoint: endpoint,
            login: AppServerLogin(sender: target.sender, key: Redacted(target.key)))
        client.reconnects = true
        return client
    }

    private func listen(_ server: Server) {
        server.client.onEvent = { [weak self, weak server] _, event, _ in
            if let self, let server { handle(event, server) }
        }
    }

    private func handle(_ event: AppServerEvent, _ server: Server) {
        switch event {
        case .acknowledged(let id, _):
            let number = Self.number(id)
            down.accepted(number)
            if let number { server.unanswered.remove(number) }
        case .refused(let id, let error, _):
            refusals[error, default: 0] += 1
            if let number = Self.number(id), server.unanswered.remove(number) != nil { again.append(number) }
        case .upstream(let message): up.arrived(message["n"].flatMap { Int($0) })
        case .closed:
            closes += 1
            // Whether they were accepted is not known: they are sent again, as by real app servers.
            again += server.unanswered
            server.unanswered = []
        default: break
        }
    }

    private func makeDevice(_ made: BenchDevice) -> DeviceClient {
        let endpoint = Endpoint(address: target.devices, serverName: "localhost", tls: bench.tls)
        let client = DeviceClient(
            reactor: bench.reactor, endpoint: endpoint,
            identity: DeviceIdentity(androidID: made.number, securityToken: Redacted(made.secret)))
        client.reconnects = true
        client.onEvent = { [weak self] _, event, _ in
            guard let self else { return }
            switch event {
            case .message(let message): down.arrived(message["n"].flatMap(Self.number))
            case .upstreamStored(let id, _): up.accepted(Self.number(id))
            case .closed: closes += 1
            default: break
            }
        }
        return client
    }

    private static func number(_ digits: [UInt8]) -> Int? { Int(String(decoding: digits, as: UTF8.self)) }

    private func connectAll() throws(BenchError) {
        var begun = 0
        let all = servers.count + devices.count
        while begun < all {
            do throws(TransportError) {
                if begun < servers.count {
                    try servers[begun].client.connect()
                } else {
                    try devices[begun - servers.count].connect()
                }
            } catch { throw BenchError(error.description) }
            begun += 1
            guard begun % 64 == 0 else { continue }
            bench.progress.show("connections", begun, of: all)
            _ = bench.turn(seconds: 20) { connected >= begun - 64 }
        }
        guard bench.turn(seconds: 120, until: { connected == all }) else {
            throw BenchError("only \(connected) of \(all) could log in")
        }
        bench.progress.clear()
    }

    /// Number of logged-in app servers and devices.
    var connected: Int { servers.count { $0.client.isReady } + devices.count { $0.isReady } }
    /// Number of app servers and devices.
    var peers: Int { servers.count + devices.count }

    // MARK: Load

    /// Turns the reactor under load until a condition holds. Returns false if it does not within `seconds`.
    func load(seconds: Int, until isDone: () -> Bool = { false }) -> Bool {
        let end = Now.read().monotonic.advanced(seconds: seconds)
        begin = Now.read().monotonic
        offered = 0
        while !isDone() {
            let now = Now.read().monotonic
            guard now < end else { return false }
            offer(now)
            bench.reactor.turn(waitMilliseconds: 10)
        }
        return true
    }

    /// Sends messages that are due; those that cannot be sent now are skipped.
    private func offer(_ now: Instant) {
        let due = Int(now.milliseconds(since: begin)) * rate / 1_000
        while offered < due {
            offered += 1
            sendDown()
            if offered % 4 == 0 { sendUp() }
        }
    }

    private func sendDown() {
        for _ in 0..<min(servers.count, 50) {
            next = (next + 1) % servers.count
            let server = servers[next]
            guard server.client.isReady, !server.client.isDraining, server.client.outstanding < 100 else {
                continue
            }
            let number: Int
            if let waiting = again.popLast() {
                number = waiting
            } else {
                number = down.open()
                targets.append(Int.random(in: 0..<tokens.count, using: &random))
            }
            var message = Downstream(to: tokens[targets[number]], messageID: Array(String(number).utf8))
            message.data = [(Array("n".utf8), Array(String(number).utf8))]
            server.unanswered.insert(number)
            server.client.send(message)
            return
        }
    }

    private func sendUp() {
        let device = devices[Int.random(in: 0..<devices.count, using: &random)]
        guard device.isReady, device.waitingUpstream < 5 else { return }
        let number = up.open()
        let id = Array(String(number).utf8)
        var message = Upstream(
            sender: target.sender, category: Array("org.example.bench".utf8), messageID: id, persistentID: id)
        message.data = [(Array("n".utf8), id)]
        device.send(message)
    }

    /// Whether no message is pending.
    var hasNothingPending: Bool {
        again.isEmpty && servers.allSatisfy { $0.unanswered.isEmpty }
            && devices.allSatisfy { $0.waitingUpstream == 0 } && down.missing == 0 && up.missing == 0
    }

    /// Resends unacknowledged messages, and waits for the others. Returns false if some are still pending after `seconds`.
    func awaitPending(seconds: Int) -> Bool {
        let end = Now.read().monotonic.advanced(seconds: seconds)
        while Now.read().monotonic < end {
            for _ in 0..<again.count { sendDown() }
            _ = bench.turn(seconds: 1) { false }
            if hasNothingPending { return true }
        }
        return false
    }
}
