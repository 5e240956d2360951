import BasicsSupport
public import Foundation

/// Declared by glibc 2.34 behind a feature macro that Swift's module leaves out.
@_silgen_name("posix_spawn_file_actions_addclosefrom_np")
private func addCloseFrom(_ actions: UnsafeMutablePointer<posix_spawn_file_actions_t>, _ from: Int32) -> Int32

/// A nats-server with JetStream on loopback, which syncs before it answers. It can be killed, stopped and started again.
public final class NATSServerProcess {
    /// What went wrong with a server under test.
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
        init(_ description: String) { self.description = description }
    }

    /// The folder of its configuration and store.
    public let folder: URL
    /// The name of the server.
    public let name: String
    /// The address for clients.
    public let address: String
    /// The port for clients; the same after a restart.
    public private(set) var port: UInt16
    /// The port for `/healthz`.
    public private(set) var healthPort: UInt16 = 0
    private let configuration: String
    private let launcher: [String]
    private var process: pid_t = 0

    /// The program.
    public static let program = URL(fileURLWithPath: PackageRoot.path + "/.venv/bin/nats-server")

    /// Whether nats-server is installed (`Scripts/bootstrap --tests`).
    public static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: program.path) }

    /// Prepares a server, and starts it unless it `isIdle`. `more` is added to its configuration. With `port` 0 it takes a free one.
    /// `launcher` is a command that runs the program with its arguments, in its place.
    public init(
        _ more: String = "", name: String = "single", address: String = "127.0.0.1", port: UInt16 = 0,
        hasJetStream: Bool = true,
        isIdle: Bool = false, launcher: [String] = []
    ) throws {
        self.launcher = launcher
        self.address = address
        self.port = port
        self.name = name
        folder = URL(fileURLWithPath: Self.temporaryFolder())
        let jetStream = "jetstream { store_dir: \"\(folder.path)/store\", sync_interval: always }"
        configuration =
            "server_name: \"\(name)\"\nhttp: \"127.0.0.1:-1\"\n\(hasJetStream ? jetStream : "")\n\(more)"
        if !isIdle { try start() }
    }

    deinit {
        kill()
        Self.remove(folder.path)
    }

    /// Makes a temporary folder.
    public static func temporaryFolder() -> String {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("ccs-nats-\(UInt64.random(in: 0...UInt64.max))")
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder.path
    }

    /// Removes a folder with all its content.
    public static func remove(_ folder: String) { try? FileManager.default.removeItem(atPath: folder) }

    /// Starts the server again, with the same port and store, and waits until it listens.
    public func start() throws {
        let config = folder.appendingPathComponent("nats.conf")
        try "listen: \"\(address):\(port == 0 ? -1 : Int(port))\"\n\(configuration)\n"
            .write(to: config, atomically: true, encoding: .utf8)
        process = try Self.spawn(
            launcher + [
                Self.program.path, "--config", config.path, "--ports_file_dir", folder.path, "--log",
                folder.appendingPathComponent("nats.log").path,
            ])
        let ports = folder.appendingPathComponent("nats-server_\(process).ports")
        let end = Date().addingTimeInterval(60)
        while true {
            if let data = try? Data(contentsOf: ports),
                let object = try? JSONSerialization.jsonObject(with: data) as? [String: Any],
                let address = (object["nats"] as? [String])?.first,
                let found = URLComponents(string: address)?.port.flatMap(UInt16.init)
            {
                port = found
                let health = (object["monitoring"] as? [String])?.first
                healthPort = health.flatMap { URLComponents(string: $0)?.port }.flatMap(UInt16.init) ?? 0
                return
            }
            guard Date() < end, waitpid(process, nil, WNOHANG) == 0 else {
                process = 0
                throw Failure("nats-server does not listen:\n\(log)")
            }
            usleep(5_000)
        }
    }

    /// What the server has written to its log.
    public var log: String {
        (try? String(contentsOf: folder.appendingPathComponent("nats.log"), encoding: .utf8)) ?? ""
    }

    /// Ends the server at once, as a power cut does.
    public func kill() { end(SIGKILL) }

    /// Ends the server with a signal, and waits for it.
    public func end(_ signal: Int32) {
        guard process > 0 else { return }
        Glibc.kill(process, signal)
        if signal == SIGTERM || signal == SIGUSR2 { Glibc.kill(process, SIGCONT) }
        waitpid(process, nil, 0)
        process = 0
    }

    /// Sends a signal, such as `SIGSTOP`, `SIGCONT`, or `SIGUSR2` for lame duck mode. With `SIGSTOP` it waits until the server stands.
    public func send(_ signal: Int32) {
        guard process > 0 else { return }
        Glibc.kill(process, signal)
        if signal == SIGSTOP { waitpid(process, nil, WUNTRACED) }
    }

    private static func spawn(_ words: [String]) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for descriptor in [Int32(1), 2] {
            posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_WRONLY, 0)
        }
        _ = addCloseFrom(&actions, 3)
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        var environment: [UnsafeMutablePointer<CChar>?] =
            ProcessInfo.processInfo.environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for word in arguments + environment { free(word) } }
        var process: pid_t = 0
        let code = posix_spawn(&process, words[0], &actions, nil, &arguments, &environment)
        guard code == 0 else { throw Failure("cannot start \(words[0]): \(String(cString: strerror(code)))") }
        return process
    }
}
