import Foundation

/// A stand-in for APNs on loopback, with its own CA, certificates and keys.
final class AppleMock {
    /// The ID of a key for all topics and both environments.
    static let key = "ABC123DEFG"
    static let team = "TEAM123456"
    static let bundle = "com.example.app"

    private var process = ChildProcess()
    private let scratch: Scratch
    private let options: [String]
    /// The file of the log, which outlives the process.
    let log: URL
    private var ports: [Int] = []

    /// Starts the mock and waits until it listens. `arguments` are further options of its command `serve`.
    init(_ arguments: [String] = []) throws {
        scratch = try Scratch()
        options = arguments
        log = scratch.url.appendingPathComponent("log.jsonl")
        try Self.putKeys(into: scratch.url)
        try start()
    }

    /// Made once in a process: seven keys of RSA take half a second of a processor or more.
    private static let keys = Result {
        let scratch = try Scratch()
        let made = try Tool.run(TestPaths.python, [script, "init", scratch.url.path])
        guard made.code == 0 else { throw HarnessFailure("mock_apns.py init: \(made)") }
        return scratch
    }

    /// Copies certificates and keys to a folder.
    static func putKeys(into folder: URL) throws {
        let made = try keys.get().url
        for name in try FileManager.default.contentsOfDirectory(atPath: made.path) {
            try FileManager.default.copyItem(
                at: made.appendingPathComponent(name), to: folder.appendingPathComponent(name))
        }
    }

    private static let script = TestPaths.clients.appendingPathComponent("mock_apns.py").path

    /// Starts the process, on the ports of the previous one if there was one.
    private func start() throws {
        let ready = scratch.url.appendingPathComponent("ready-\(UInt32.random(in: 0...UInt32.max)).json")
        let fixed = ports.isEmpty ? [0, 0, 0] : ports
        process = ChildProcess()
        process.executableURL = TestPaths.python
        process.arguments =
            [
                Self.script, "serve", "--dir", scratch.url.path, "--port", String(fixed[0]), "--sandbox-port",
                String(fixed[1]), "--admin-port", String(fixed[2]), "--log", log.path, "--log-payload",
                "--log-at-once", "--ready", ready.path,
            ] + options
        try process.run()
        try eventually("the mock of Apple listens") {
            guard process.isRunning else { throw HarnessFailure("mock_apns.py has ended") }
            guard let data = try? Data(contentsOf: ready) else { return false }
            ports = (try? JSONSerialization.jsonObject(with: data)) as? [Int] ?? ports
            return ports.count == 3
        }
    }

    /// Kills the process; only its log is left.
    func die() {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Starts the process again, after `die`. For a moment, one of its ports may be that of a connection of another process.
    func revive() throws {
        try eventually("the mock of Apple listens again") {
            do {
                try start()
                return true
            } catch  where !process.isRunning {
                return false
            }
        }
    }

    /// Stops the process in the middle of its work, or lets it go on.
    func pause(_ isOn: Bool) { kill(process.processIdentifier, isOn ? SIGSTOP : SIGCONT) }

    deinit { process.end() }

    /// Flags with which a daemon uses the mock in place of Apple.
    var flags: [String] {
        [
            "--apns-production-address", "127.0.0.1:\(ports[0])", "--apns-sandbox-address",
            "127.0.0.1:\(ports[1])", "--apns-ca-file", file("ca.pem"),
        ]
    }

    /// The port of the production environment.
    var productionPort: Int { ports[0] }

    /// Returns the path of a certificate or key.
    func file(_ name: String) -> String { scratch.url.appendingPathComponent(name).path }

    /// The requests so far, in the order in which the mock has answered them: each is here before its answer is sent.
    var requests: [[String: Any]] { events { $0["path"] != nil } }

    /// Returns the requests for a device token.
    func requests(to token: String) -> [[String: Any]] {
        events { $0["token"] as? String == token }
    }

    /// Returns the events with a name, such as `goaway`.
    func events(_ name: String) -> [[String: Any]] { events { $0["event"] as? String == name } }

    private func events(_ fits: ([String: Any]) -> Bool) -> [[String: Any]] {
        let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { line in
            (try? JSONSerialization.jsonObject(with: Data(line.utf8))) as? [String: Any]
        }.filter(fits)
    }

    /// Counters since the start or the last reset.
    var stats: [String: Any] {
        get throws { try control("GET", "/stats") }
    }

    /// Sends a command to the control port.
    @discardableResult
    func control(_ method: String, _ path: String, _ body: [String: Any] = [:]) throws -> [String: Any] {
        let json = String(decoding: try JSONSerialization.data(withJSONObject: body), as: UTF8.self)
        let answer = try PlainHTTP.ask(method, path, body: json, port: UInt16(ports[2]))
        guard let end = answer.range(of: "\r\n\r\n"),
            let object = try JSONSerialization.jsonObject(with: Data(answer[end.upperBound...].utf8))
                as? [String: Any]
        else { throw HarnessFailure("the mock of Apple answered \(answer)") }
        return object
    }

    /// Has the mock abort all new connections and those that are open, or accept them again: what comes then at once is not disturbed.
    func refuse(_ isOn: Bool) throws {
        try control("POST", "/refuse", ["on": isOn])
        if isOn { try control("POST", "/kill") }
    }
}
