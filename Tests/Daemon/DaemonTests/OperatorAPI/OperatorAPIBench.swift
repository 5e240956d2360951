import Basics
import Foundation
import Operator
import Wire

/// A daemon with the operator API over TLS, an operator and a viewer, and curl.
final class OperatorAPIBench {
    let daemon: RunningDaemon
    let port: Int
    /// Tokens by the name of the operator: alice may change, victor may read.
    private(set) var tokens: [String: String] = [:]

    /// What a daemon needs to serve the API over TLS.
    static let flags = ["--operator-api", "--admin-tls"]

    convenience init(flags: [String] = []) throws {
        let port = try RunningDaemon.freePort()
        try self.init(RunningDaemon(flags: ["--admin-port", "\(port)"] + Self.flags + flags), port: port)
    }

    /// Adds the operators to a daemon that serves the API at a port.
    init(_ daemon: RunningDaemon, port: Int) throws {
        (self.daemon, self.port) = (daemon, port)
        try add("alice", role: "operator")
        try add("victor", role: "viewer")
    }

    /// Adds an operator over the control socket.
    @discardableResult
    func add(_ name: String, role: String, _ more: String...) throws -> String {
        let tool = try Tool.run(
            "ccsctl",
            ["--socket", daemon.controlSocket, "--json", "operators", "add", name, "--role", role] + more)
        guard let token = tool.object?["token"] as? String else { throw HarnessFailure("\(tool)") }
        tokens[name] = token
        return token
    }

    /// An answer of the API.
    struct Answer {
        var status: Int
        var json: JSONValue
        var head: String
    }

    /// Sends a request with curl. The headers are those of the operator's token, unless others are given.
    func ask(
        _ method: String, _ path: String, as name: String? = "alice", _ headers: [String: String] = [:],
        body: String? = nil, options: [String] = []
    ) throws -> Answer {
        var words = [
            "--silent", "--show-error", "--cacert", daemon.authority, "--include", "--path-as-is",
            "--max-time", "60", "--request", method,
        ]
        var headers = headers
        if let name, let token = tokens[name] {
            headers["Authorization"] = headers["Authorization"] ?? "Bearer \(token)"
        }
        if body != nil, headers["Content-Type"] == nil { headers["Content-Type"] = "application/json" }
        for (name, value) in headers { words += ["--header", "\(name): \(value)"] }
        if body != nil { words += ["--header", "Expect:", "--data-binary", "@-"] }
        let tool = try Tool.run(
            URL(fileURLWithPath: "/usr/bin/curl"), words + options + ["https://localhost:\(port)\(path)"],
            input: body ?? "")
        guard tool.code == 0, let cut = tool.output.range(of: "\r\n\r\n"),
            let status = Int(tool.output.dropFirst("HTTP/1.1 ".count).prefix(3))
        else { throw HarnessFailure("curl \(method) \(path): \(tool)") }
        let text = Array(tool.output[cut.upperBound...].utf8)
        let json = (try? JSONValue(parsing: text.raw)) ?? .string(String(decoding: text, as: UTF8.self))
        return Answer(status: status, json: json, head: String(tool.output[..<cut.lowerBound]))
    }

    /// Sends a command with curl.
    func ask(_ command: some OperatorCommand, as name: String = "alice") throws -> Answer {
        let call = OperatorRoute.call(command)
        return try ask(
            call.method, call.path, as: name,
            body: call.body.isEmpty ? nil : String(decoding: call.body, as: UTF8.self))
    }

    /// Runs ccsctl over the API.
    func ctl(as name: String, _ words: String...) throws -> Tool { try ctl(as: name, words) }

    /// Runs ccsctl over the API.
    func ctl(as name: String, _ words: [String]) throws -> Tool {
        let file = daemon.directory.appendingPathComponent("\(name).token")
        try Data((tokens[name, default: ""] + "\n").utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        return try Tool.run(
            "ccsctl",
            [
                "--server", "https://localhost:\(port)", "--token-file", file.path, "--ca-file",
                daemon.authority,
            ]
                + words)
    }

    /// Starts the client that stands for a browser.
    func console(as name: String = "alice") throws -> Driver {
        let driver = try Driver("operator_console.py", ["\(port)", daemon.authority], secret: tokens[name])
        try driver.expect(event: "ready")
        return driver
    }
}
