import Basics
import BasicsSupport
import Catalogue
import Glibc
import Testing
import Transport
import Wire

@testable import Server

/// A temporary folder that is removed with its owner.
final class ServerFolder {
    let path: String

    init() throws {
        var template = Array("/tmp/ccsd-server-XXXXXX".utf8CString)
        path = try #require(mkdtemp(&template).map { String(cString: $0) })
    }

    deinit { system("rm -rf '\(path)'") }

    func run(_ command: String) throws {
        try #require(system("cd '\(path)' && { \(command); } >/dev/null 2>&1") == 0, "\(command)")
    }
}

/// A TCP connection to a port of this machine.
final class PlainConnection {
    private var number: Int32

    init(port: UInt16) throws {
        number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var patience = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let outcome = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(outcome == 0, "no listener on port \(port)")
    }

    deinit { close() }

    func send(_ text: String) { send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) {
        _ = Glibc.send(number, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Returns all bytes until the peer closes the connection.
    func rest() -> String {
        var all: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = recv(number, &part, part.count, 0)
            guard count > 0 else { return String(decoding: all, as: UTF8.self) }
            all += part[..<count]
        }
    }

    func close() {
        if number >= 0 { Glibc.close(number) }
        number = -1
    }
}

/// A whole server in the test process: reactors, store and sockets, but not the main program.
final class InProcessServer {
    let daemon: Daemon
    /// The port of health and metrics.
    let adminPort: UInt16
    private let folder: ServerFolder
    private let reactors: Int
    private var isStopped = false

    /// Starts a server in a new folder or that of a stopped one, with additional lines of configuration.
    init(
        in folder: ServerFolder, reactors: Int = 1, _ lines: String = "",
        log: Log = Log(level: .info, write: { _ in })
    ) throws {
        self.folder = folder
        self.reactors = reactors
        adminPort = try #require(FreePorts.take(1).first)
        try Self.write(lines, adminPort, reactors, folder)
        let source = ConfigurationSource(file: Self.file(in: folder))
        var startup = Startup(
            configuration: try source.load(), source: source, log: log)
        daemon = try startup.run().0
    }

    deinit { if !isStopped { _ = stop() } }

    /// Shuts the server down.
    func stop() -> ExitCode {
        isStopped = true
        return Shutdown(daemon: daemon, notify: SystemdNotify(environment: { _ in nil })).run()
    }

    /// Replaces the additional lines of the configuration file.
    func configure(_ lines: String) throws { try Self.write(lines, adminPort, reactors, folder) }

    private static func file(in folder: ServerFolder) -> String { "\(folder.path)/ccsd.yaml" }

    private static func write(
        _ lines: String, _ adminPort: UInt16, _ reactors: Int, _ folder: ServerFolder
    ) throws {
        let text = """
            format: 1
            data_directory: \(folder.path)/data
            app_server_port: 0
            app_server_preproduction_port: 0
            device_port: 0
            https_port: 0
            admin_port: \(adminPort)
            apns_production_address: 127.0.0.1:1
            apns_sandbox_address: 127.0.0.1:1
            reactors: \(reactors)
            \(lines)
            """
        try SmallFile.replace(file(in: folder), with: Array(text.utf8), mode: 0o600)
    }

    /// Returns the answer to an operator command on the control socket.
    func ask(_ command: String, _ arguments: JSONValue = .object([])) throws -> JSONValue {
        try ask(
            line: JSONValue(dictionaryLiteral: ("command", .string(command)), ("arguments", arguments))
                .compact)
    }

    /// Returns the answer to any line on the control socket.
    func ask(line: String) throws -> JSONValue {
        let answer = LocalRequest.ask(
            daemon.configuration.controlSocket, line, milliseconds: 10_000, limit: Limits.Operator.lineBytes)
        guard case .line(let line) = answer else {
            Issue.record("\(line): \(answer)")
            return .null
        }
        return try JSONValue(parsing: line.raw)
    }

    /// Returns the whole response for a page of the administrative port.
    func get(_ path: String) throws -> String {
        let connection = try PlainConnection(port: adminPort)
        connection.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        return connection.rest()
    }

    /// Returns the sum of a number over all reactors.
    func sum(_ number: @escaping @Sendable (ReactorHost) -> Int) -> Int {
        daemon.core.mailboxes.ask(number).reduce(0) { $0 + ($1.wait() ?? 0) }
    }

    /// Returns whether a condition becomes true within ten seconds.
    static func eventually(_ isSo: () -> Bool) -> Bool {
        for _ in 0..<2_000 {
            if isSo() { return true }
            usleep(5_000)
        }
        return false
    }
}
