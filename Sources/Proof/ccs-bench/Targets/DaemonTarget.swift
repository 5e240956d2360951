import Basics
import Catalogue
import Client
import Glibc
import Operator
import Transport
import Wire

/// A ccsd that the bench starts in its scratch directory.
final class DaemonTarget: Target {
    let name: String
    /// The app that its devices register.
    static let category = "org.example.bench"
    let bench: Bench
    private var child: Child
    var appServers: SocketAddress { address("app_server") }
    var devices: SocketAddress { address("device") }
    /// The address of the HTTPS listener.
    var https: SocketAddress { address("https") }
    /// The sender of the bench, and its key.
    let sender: SenderID
    let key: [UInt8]
    var credential: StreamCredential {
        StreamCredential(sender: String(sender.number), key: String(decoding: key, as: UTF8.self))
    }
    private let reactors: Int
    private let flags: [String]
    /// The directory of its store.
    var dataDirectory: String { Self.folder(bench, name) }
    /// The ports of its listeners, by name.
    private var ports: [String: UInt16]
    var process: Int32 { child.process }
    /// The other nodes of its cluster.
    var companions: [DaemonTarget] = []
    var processes: [Int32] { [process] + companions.map(\.process) }
    /// Whether it is running.
    var isRunning: Bool { child.isRunning }

    /// Starts a ccsd, with a limit of descriptors if given. Two in one bench need distinct names.
    init(
        _ bench: Bench, named name: String = "ccsd", reactors: Int, flags: [String] = [],
        descriptors: Int? = nil
    ) throws(BenchError) {
        self.bench = bench
        self.name = name
        self.reactors = reactors
        self.flags = flags
        child = try Self.start(
            bench, name, reactors, flags, ports: [:], descriptors: descriptors)
        ports = try Self.findPorts(bench, name, child)
        let answer = try Self.control(AddSender(label: "bench"), Self.controlPath(bench, name))
        sender = answer.sender
        key = Array(answer.key.revealed.utf8)
    }

    /// Returns the address of a listener, which every ccsd of the bench has.
    private func address(_ listener: String) -> SocketAddress {
        guard let port = ports[listener] else { preconditionFailure("ccsd has no listener \(listener)") }
        return .loopback(port: port)
    }

    private static func folder(_ bench: Bench, _ name: String) -> String {
        "\(bench.scratch)/\(name)-data"
    }

    private static func start(
        _ bench: Bench, _ name: String, _ reactors: Int, _ flags: [String],
        ports: [String: UInt16], descriptors: Int? = nil
    ) throws(BenchError) -> Child {
        // Rates are counted as always, but so high that no message of the bench is refused.
        let rates = [
            "device-messages-per-minute", "device-messages-per-hour", "device-upstream-per-minute",
            "sender-upstream-per-minute", "topic-changes-per-second", "unauthenticated-requests-per-address",
            "unauthenticated-requests-per-minute",
        ].flatMap { ["--\($0)", "\(Limits.Message.highestRate)"] }
        // The limit is lowered permanently and before ccsd starts, since it raises its own limit as far as possible.
        let shell = descriptors.map {
            ["-c", "ulimit -n \($0) && exec \"$0\" \"$@\"", bench.program("ccsd")]
        }
        return try bench.start(
            shell == nil ? "ccsd" : "/bin/sh",
            (shell ?? []) + [
                "--data-directory", folder(bench, name),
                "--app-server-port", "\(ports["app_server"] ?? 0)", "--app-server-preproduction-port", "0",
                "--device-port", "\(ports["device"] ?? 0)", "--https-port", "\(ports["https"] ?? 0)",
                "--reactors", "\(reactors)", "--log-level", "warning",
            ] + rates + flags, log: "\(name).log")
    }

    /// Stops it and starts it again with the same data, so that its memory is fresh.
    func restart() throws(BenchError) {
        stop()
        try startAgain()
    }

    /// Stops it properly.
    func stop() { child.end() }

    /// Kills it, as in a crash.
    func crash() { child.crash() }

    /// Starts it with the same data.
    func startAgain() throws(BenchError) {
        child = try Self.start(bench, name, reactors, flags, ports: [:])
        ports = try Self.findPorts(bench, name, child)
    }

    /// Restarts it as an operator does: one SIGTERM, whose drain takes its time, then a start on the same ports.
    ///
    /// `turn` runs the generator until the given condition holds, or a second has passed. Returns the milliseconds until the
    /// process had ended, and from then until it served again.
    func rollOver(_ turn: (_ isDone: () -> Bool) -> Void) throws(BenchError) -> (
        drained: Int64, started: Int64
    ) {
        let begin = Now.read().monotonic
        _ = kill(child.process, SIGTERM)
        let end = begin.advanced(seconds: 180)
        while child.isRunning {
            guard Now.read().monotonic < end else { throw BenchError("ccsd did not exit in time") }
            turn { !child.isRunning }
        }
        let ended = Now.read().monotonic
        child = try Self.start(bench, name, reactors, flags, ports: ports)
        ports = try Self.findPorts(bench, name, child)
        return (
            ended.milliseconds(since: begin), Now.read().monotonic.milliseconds(since: ended)
        )
    }

    /// Returns whether the conservation law holds in its store.
    func auditHolds() throws(BenchError) -> Bool {
        try control(AuditStore()).holds
    }

    /// Waits until a ccsd has started. Returns the ports of its listeners.
    private static func findPorts(
        _ bench: Bench, _ name: String, _ child: Child
    ) throws(BenchError) -> [String: UInt16] {
        var last = BenchError("ccsd did not start", code: .unavailable)
        let end = Now.read().monotonic.advanced(seconds: 20)
        while Now.read().monotonic < end {
            guard child.isRunning else {
                throw BenchError(
                    "ccsd ended; see \(bench.scratch)/\(name).log", code: .unavailable)
            }
            do throws(BenchError) {
                let listeners = try control(ShowStatus(), controlPath(bench, name)).listeners
                return Dictionary(
                    listeners.map { ($0.name, UInt16(clamping: $0.port)) }, uniquingKeysWith: { $1 })
            } catch { last = error }
            _ = usleep(20_000)
        }
        throw last
    }

    /// Sends a command to the control socket.
    func control<Command: OperatorCommand>(_ command: Command) throws(BenchError) -> Command.Answer {
        try Self.control(command, controlPath)
    }

    /// The path of the control socket.
    var controlPath: String { Self.controlPath(bench, name) }

    private static func controlPath(_ bench: Bench, _ name: String) -> String {
        folder(bench, name) + "/control.sock"
    }

    /// Sends a command to a control socket, on any thread.
    static func control<Command: OperatorCommand>(
        _ command: Command, _ path: String
    ) throws(BenchError) -> Command.Answer {
        do throws(ControlError) {
            var client = try ControlClient(path: path)
            switch try client.run(command) {
            case .done(let answer): return answer
            case .refused(let problem): throw ControlError.system(problem.text)
            }
        } catch { throw BenchError("ccsd, \(Command.summary.name): \(error)") }
    }
}

extension DaemonTarget {
    /// Size of the store's table files in bytes, without the log.
    var storedBytes: Int { Self.bytes(of: ".sst", in: dataDirectory) }

    /// Size of all files of the store in bytes, including its log.
    var diskBytes: Int { Self.bytes(of: "", in: dataDirectory) }

    /// Returns the size of the files below a directory whose names have an ending.
    private static func bytes(of ending: String, in path: String) -> Int {
        var sum = 0
        for name in Folder.names(in: path) {
            let inner = path + "/" + name
            var facts = stat()
            guard unsafe lstat(inner, &facts) == 0 else { continue }
            if facts.st_mode & S_IFMT == S_IFDIR {
                sum += bytes(of: ending, in: inner)
            } else if name.hasSuffix(ending) {
                sum += Int(facts.st_size)
            }
        }
        return sum
    }
}
