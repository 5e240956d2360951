import BasicsSupport
import Foundation

/// A failure of the test environment or a missed deadline.
struct HarnessFailure: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}

/// A real ccsd on loopback, with free ports and its own data directory.
final class RunningDaemon {
    private let process = ChildProcess()
    private let output = Pipe()
    private let log: URL
    /// The daemon's folder, which is removed when the last daemon that uses it is released.
    let scratch: Scratch
    var directory: URL { scratch.url }
    private(set) var ports: [String: Int] = [:]
    /// The lines that the daemon printed until it was ready.
    private(set) var greeting: [String] = []
    /// Milliseconds from the start until the app server port accepted a connection, or `nil` if the port was not given.
    private(set) var firstConnectionMilliseconds: Double?

    /// Starts a daemon and waits until it serves.
    ///
    /// `scratch` is the folder of an earlier daemon, `ports` are fixed ports, and `sockets` are listening sockets that the daemon
    /// inherits as with systemd. `launcher` is a command that runs the program with its arguments.
    init(
        continuing scratch: Scratch? = nil, flags: [String] = [], reactors: Int = 1, graceSeconds: Int = 1,
        ports given: [String: Int] = [:], sockets: [String: Int32] = [:], environment: [String: String] = [:],
        launcher: [String] = []
    )
        throws
    {
        self.scratch = try scratch ?? Scratch()
        log = self.scratch.url.appendingPathComponent("log-\(UInt32.random(in: 0...UInt32.max)).txt")
        _ = FileManager.default.createFile(atPath: log.path, contents: nil)
        let program = TestPaths.programs.appendingPathComponent("ccsd")
        process.executableURL = program
        let arguments =
            [
                "--data-directory", directory.appendingPathComponent("data").path, "--reactors",
                String(reactors),
                "--drain-grace-seconds", String(graceSeconds), "--drain-spread-seconds", "0",
            ] + (flags.contains { $0.hasPrefix("--apns-") } ? [] : Self.noApple) + flags
            + ["app_server", "app_server_preproduction", "device", "https"].flatMap { name in
                ["--\(name.replacingOccurrences(of: "_", with: "-"))-port", String(given[name] ?? 0)]
            }
        process.arguments = arguments
        if let first = launcher.first {
            process.executableURL = URL(fileURLWithPath: first)
            process.arguments = launcher.dropFirst() + [program.path] + arguments
        }
        var environment = environment
        if !sockets.isEmpty {
            // LISTEN_PID must be the ID of the process, which only the shell has before exec.
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = ["-c", "LISTEN_PID=$$ exec \"$0\" \"$@\"", program.path] + arguments
            process.inherited = sockets.map(\.value)
            environment["LISTEN_FDS"] = "\(sockets.count)"
            environment["LISTEN_FDNAMES"] = sockets.map(\.key).joined(separator: ":")
        }
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardOutput = output
        process.standardError = try FileHandle(forWritingTo: log)
        try process.run()
        if launcher.isEmpty, let port = given["app_server"] {
            firstConnectionMilliseconds = try connects(to: UInt16(port))
        }
        // With a configuration file the daemon prints no greeting.
        if !flags.contains("--config") {
            let lines = Lines(output.fileHandleForReading)
            while let line = lines.next(seconds: Patience.seconds), greeting.last?.hasPrefix("Next:") != true
            {
                greeting.append(line)
            }
        }
        let end = Date().addingTimeInterval(Patience.seconds)
        while !words.contains("event=started") || !words.hasSuffix("\n") {
            guard process.isRunning, Date() < end else {
                throw HarnessFailure("ccsd did not start: \(greeting) \(words)")
            }
            usleep(5_000)
        }
        ports = Self.ports(in: words)
    }

    /// The ports in the line that reports the start: `listeners="device on 127.0.0.1:5228, https on 127.0.0.1:443 and 127.0.0.1:8443"`.
    static func ports(in words: String) -> [String: Int] {
        guard let line = words.split(separator: "\n").last(where: { $0.contains("event=started") }),
            let list = line.firstMatch(of: /listeners="([^"]*)"/)?.1
        else { return [:] }
        var ports: [String: Int] = [:]
        for place in list.split(separator: ", ") {
            let words = place.split(separator: " ")
            guard words.count > 2, let port = words.last?.split(separator: ":").last.flatMap({ Int($0) })
            else { continue }
            ports[String(words[0])] = port
        }
        return ports
    }

    deinit {
        if process.isRunning {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
    }

    /// Connects until a port accepts. Returns the milliseconds that it took.
    private func connects(to port: UInt16) throws -> Double {
        let start = Date()
        while !PlainHTTP.canConnect(port: port) {
            guard process.isRunning, start.timeIntervalSinceNow > -Patience.seconds else {
                throw HarnessFailure("ccsd does not listen on \(port): \(words)")
            }
            usleep(500)
        }
        return start.timeIntervalSinceNow * -1_000
    }

    /// The log so far.
    var words: String { (try? String(contentsOf: log, encoding: .utf8)) ?? "" }

    var isRunning: Bool { process.isRunning }

    var pid: Int32 { process.processIdentifier }

    /// Returns a port for the administrative listener, which is off without one. No other test has it, in this or another process.
    static func freePort() throws -> Int { Int(try FreePorts.take(1)[0]) }

    /// Tests never contact Apple.
    static let noApple = [
        "--apns-production-address", "127.0.0.1:1", "--apns-sandbox-address", "127.0.0.1:1",
    ]

    /// Options that select free ports.
    static let noPorts = [
        "--app-server-port", "0", "--app-server-preproduction-port", "0", "--device-port", "0",
        "--https-port", "0",
    ]

    /// The path of the control socket.
    var controlSocket: String { directory.appendingPathComponent("data/control.sock").path }

    /// The path of the CA certificate that clients trust.
    var authority: String { directory.appendingPathComponent("data/ca.pem").path }

    /// Ports of a proxy in front of listeners, by the name of the listener.
    var outerPorts: [String: Int] = [:]

    /// Returns the port by which clients reach a listener: the proxy's, or its own.
    func port(_ name: String) throws -> Int {
        guard let port = outerPorts[name] ?? ports[name] else {
            throw HarnessFailure("no listener \(name) in \(ports)")
        }
        return port
    }

    /// The sender that the first start created.
    var firstSender: (id: String, key: String) {
        get throws {
            guard let id = greeting.first(where: { $0.contains("sender ID") })?.split(separator: " ").last,
                let key = greeting.first(where: { $0.contains("server key") })?.split(separator: " ").last
            else { throw HarnessFailure("no first sender in \(greeting)") }
            return (String(id), String(key))
        }
    }

    /// Runs ccsctl with --json and returns the object that it printed.
    func ctl(_ arguments: String...) throws -> [String: Any] {
        let result = try Tool.run("ccsctl", ["--socket", controlSocket, "--json"] + arguments)
        guard result.code == 0, let object = result.object else {
            throw HarnessFailure("ccsctl \(arguments): \(result)")
        }
        return object
    }

    /// Sends a signal.
    func signal(_ number: Int32) { kill(process.processIdentifier, number) }

    /// Waits for the end. Returns the exit code, or the negative number of the signal.
    func wait(seconds: Double = Patience.seconds) throws -> Int32 {
        let end = Date().addingTimeInterval(seconds)
        while process.isRunning {
            guard Date() < end else { throw HarnessFailure("ccsd did not end: \(words)") }
            usleep(5_000)
        }
        return process.terminationReason == .uncaughtSignal
            ? -process.terminationStatus : process.terminationStatus
    }
}
