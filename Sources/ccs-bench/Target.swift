import Basics
import Catalogue
import Client
import Glibc
import Transport
import Wire

/// A server under load.
protocol Target: AnyObject {
    /// Its name in reports.
    var name: String { get }
    /// Its process.
    var process: Int32 { get }
    /// Where app servers connect.
    var appServers: SocketAddress { get }
    /// Where devices connect.
    var devices: SocketAddress { get }
    /// What app servers log in with.
    var credential: AppServerCredential { get }
    /// The sender ID of all messages.
    var sender: SenderID { get }
    /// So many devices, ready to log in; `progress` is told how many are made.
    func makeDevices(_ count: Int, progress: (Int) -> Void) throws(BenchError) -> [BenchDevice]
}

/// The minimal relay.
final class RelayTarget: Target {
    let name = "relay"
    private let child: Child
    let appServers: SocketAddress
    let devices: SocketAddress
    let credential = AppServerCredential(sender: "1", key: "none")
    let sender = SenderID(1)
    var process: Int32 { child.process }

    init(_ bench: Bench) throws(BenchError) {
        let authority = CertificateAuthority(directory: bench.scratch)
        do throws(TransportError) {
            try authority.ensure(names: ["localhost", "127.0.0.1"], now: Now.read().wall)
        } catch { throw BenchError(error.description) }
        child = try bench.start(
            "ccs-relay",
            [authority.certificateFile, authority.keyFile]
                + (bench.invocation.has("--plain-reads") ? ["plain-reads"] : []), log: "relay.log")
        let ports = (child.line(seconds: 10) ?? "").split(separator: " ").compactMap { UInt16($0) }
        guard ports.count == 2 else {
            throw BenchError("ccs-relay does not start; see \(bench.scratch)/relay.log")
        }
        appServers = .loopback(port: ports[0])
        devices = .loopback(port: ports[1])
    }

    func makeDevices(_ count: Int, progress: (Int) -> Void) -> [BenchDevice] {
        (0..<count).map { at in
            let number = 1_000_000_000_000_000_000 + UInt64(at)
            // As long as a real token, so that the stanzas are of the same length.
            let text = "\(number):"
            let filler = String(repeating: "x", count: TokenSeal.length - text.utf8.count)
            return BenchDevice(number: number, secret: number, token: text + filler)
        }
    }
}

/// A ccsd that the bench starts in its scratch folder.
final class DaemonTarget: Target {
    let name = "ccsd"
    private let bench: Bench
    private var child: Child
    private(set) var appServers = SocketAddress.loopback(port: 0)
    private(set) var devices = SocketAddress.loopback(port: 0)
    private var https = SocketAddress.loopback(port: 0)
    private(set) var credential = AppServerCredential(sender: "0", key: "")
    private(set) var sender = SenderID(0)
    private(set) var key: [UInt8] = []
    private let reactors: Int
    private let flags: [String]
    private var ports: [String: UInt16] = [:]
    var process: Int32 { child.process }

    init(_ bench: Bench, reactors: Int, flags: [String] = []) throws(BenchError) {
        self.bench = bench
        self.reactors = reactors
        self.flags = flags
        child = try Self.start(bench, reactors, flags, ports: [:])
        try findPorts()
        let answer = try control("senders add", .object([.init("label", "bench")]))
        guard let text = answer["sender_id"]?.text, let number = UInt64(text), let key = answer["key"]?.text
        else {
            throw BenchError("ccsd makes no sender")
        }
        sender = SenderID(number)
        self.key = Array(key.utf8)
        credential = AppServerCredential(sender: text, key: key)
    }

    private static func start(
        _ bench: Bench, _ reactors: Int, _ flags: [String], ports: [String: UInt16]
    ) throws(BenchError) -> Child {
        // Rates are counted, as always, but so high that no message of the bench is refused.
        let rates = [
            "device-messages-per-minute", "device-messages-per-hour", "device-upstream-per-minute",
            "sender-upstream-per-minute",
        ].flatMap { ["--\($0)", "\(Limits.highestRate)"] }
        return try bench.start(
            "ccsd",
            [
                "--data-directory", bench.scratch + "/data",
                "--app-server-port", "\(ports["app_server"] ?? 0)", "--app-server-preproduction-port", "0",
                "--device-port", "\(ports["device"] ?? 0)", "--https-port", "\(ports["https"] ?? 0)",
                "--reactors", "\(reactors)", "--log-level", "warning",
            ] + rates + flags, log: "ccsd.log")
    }

    /// Stops it and starts it again over the same data: nothing that came before is in its memory.
    func restart() throws(BenchError) {
        child.end()
        child = try Self.start(bench, reactors, flags, ports: [:])
        try findPorts()
    }

    /// Restarts it as an operator does: one SIGTERM, whose drain takes its time, then a start on the same ports.
    ///
    /// `turn` runs the generator until what it is given holds, or a second has passed. The result: milliseconds until it
    /// had ended, and from then until it served again.
    func rollOver(_ turn: (_ isDone: () -> Bool) -> Void) throws(BenchError) -> (
        drained: Int64, started: Int64
    ) {
        let begin = Now.read().monotonic
        _ = kill(child.process, SIGTERM)
        let end = begin.advanced(seconds: 180)
        while child.isRunning {
            guard Now.read().monotonic < end else { throw BenchError("ccsd does not end") }
            turn { !child.isRunning }
        }
        let ended = Now.read().monotonic
        child = try Self.start(bench, reactors, flags, ports: ports)
        try findPorts()
        return (
            ended.milliseconds(since: begin), Now.read().monotonic.milliseconds(since: ended)
        )
    }

    /// Whether the conservation law holds in its store.
    func auditHolds() throws(BenchError) -> Bool {
        try control("audit", .object([]))["holds"]?.boolean == true
    }

    private func findPorts() throws(BenchError) {
        var last = BenchError("ccsd does not start")
        let end = Now.read().monotonic.advanced(seconds: 20)
        while Now.read().monotonic < end {
            guard child.isRunning else { throw BenchError("ccsd ended; see \(bench.scratch)/ccsd.log") }
            do throws(BenchError) {
                let status = try control("status", .object([]))
                for listener in status["listeners"]?.elements ?? [] {
                    let address = SocketAddress.loopback(
                        port: UInt16(clamping: listener["port"]?.integer ?? 0))
                    ports[listener["name"]?.text ?? ""] = UInt16(clamping: listener["port"]?.integer ?? 0)
                    switch listener["name"]?.text {
                    case "app_server": appServers = address
                    case "device": devices = address
                    case "https": https = address
                    default: break
                    }
                }
                return
            } catch { last = error }
            _ = usleep(20_000)
        }
        throw last
    }

    private func control(_ command: String, _ arguments: JSONValue) throws(BenchError) -> JSONValue {
        do throws(ControlError) {
            var client = try ControlClient(path: bench.scratch + "/data/control.sock")
            switch try client.run(command, arguments) {
            case .done(let result): return result
            case .refused(let error, _): throw ControlError.system(error)
            }
        } catch { throw BenchError("ccsd, \(command): \(error)") }
    }

    func makeDevices(_ count: Int, progress: (Int) -> Void) throws(BenchError) -> [BenchDevice] {
        let endpoint = Endpoint(address: https, serverName: "localhost", tls: bench.tls)
        let app = DeviceCalls.App(category: "org.example.bench", sender: String(sender.number))
        var devices: [BenchDevice] = []
        var failure: ClientError?
        var begun = 0
        let end = Now.read().monotonic.advanced(seconds: 60 + count / 20)
        while devices.count < count, failure == nil {
            while begun < count, begun - devices.count < 64 {
                begun += 1
                DeviceEnrolment.begin(nil, app, reactor: bench.reactor, endpoint: endpoint) { outcome in
                    switch outcome {
                    case .success(let (identity, token)):
                        devices.append(
                            BenchDevice(
                                number: identity.androidID, secret: identity.securityToken.revealed,
                                token: token))
                    case .failure(let error): failure = error
                    }
                }
            }
            bench.reactor.turn(waitMilliseconds: 100)
            progress(devices.count)
            if Now.read().monotonic > end { throw BenchError("ccsd does not enrol devices in time") }
        }
        if let failure { throw BenchError("ccsd, check-in: \(failure)") }
        return devices
    }
}
