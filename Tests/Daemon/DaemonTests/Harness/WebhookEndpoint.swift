import Foundation

/// A real HTTPS endpoint for webhooks on loopback, with a CA of its own; it fails as a plan demands.
final class WebhookEndpoint {
    /// A request that the endpoint got.
    struct Request {
        var id: String
        var isVerified: Bool
        var status: Int
        var signatures: Int
        /// Whether the endpoint has failed before it processed the message.
        var isIgnored: Bool
        /// The body.
        var event: [String: Any]

        var messageID: String { event["message_id"] as? String ?? "" }
        var data: [String: String] { event["data"] as? [String: String] ?? [:] }
    }

    private let process = ChildProcess()
    private let scratch: Scratch
    private(set) var port = 0

    init() throws {
        scratch = try Scratch()
        try AppleMock.putKeys(into: scratch.url)
        try plan([:])
        try secret("whsec_" + Data(repeating: 1, count: 32).base64EncodedString())
        process.executableURL = TestPaths.python
        process.arguments = [
            TestPaths.clients.appendingPathComponent("webhook_endpoint.py").path, scratch.url.path,
        ]
        try process.run()
        try eventually("the endpoint listens") {
            guard process.isRunning else { throw HarnessFailure("webhook_endpoint.py has ended") }
            port = (try? String(contentsOf: file("endpoint-port"), encoding: .utf8)).flatMap { Int($0) } ?? 0
            return port > 0
        }
    }

    deinit { process.end() }

    private func file(_ name: String) -> URL { scratch.url.appendingPathComponent(name) }

    /// The bytes of an endless extension that the client has taken before it closed; `nil` while it has not.
    var extensionBytes: Int? {
        (try? String(contentsOf: file("extension"), encoding: .utf8)).flatMap { Int($0) }
    }

    /// The file of its CA.
    var authority: String { file("ca.pem").path }

    /// The URL of the endpoint.
    var url: String { "https://127.0.0.1:\(port)/hook?x=1" }

    /// Flags of a daemon that may send to it.
    var flags: [String] {
        ["--webhook-ca-file", file("ca.pem").path, "--webhook-private-addresses"]
    }

    /// The files of its certificate and key.
    var identity: [String] { [file("server.pem").path, file("server.key").path] }

    /// The file of a secret for `--secret-file`.
    var secretFile: String { file("secret").path }

    /// Verifies with this secret from now on.
    func secret(_ text: String) throws {
        try Data((text + "\n").utf8).write(to: file("secret"), options: .atomic)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file("secret").path)
    }

    /// Answers by this plan from now on; see webhook_endpoint.py.
    func plan(_ plan: [String: Any]) throws {
        try JSONSerialization.data(withJSONObject: plan).write(to: file("plan"), options: .atomic)
    }

    /// All requests so far.
    var requests: [Request] {
        let text = (try? String(contentsOf: file("endpoint.jsonl"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { line in
            guard let json = (try? JSONSerialization.jsonObject(with: Data(line.utf8))) as? [String: Any]
            else { return nil }
            return Request(
                id: json["id"] as? String ?? "", isVerified: json["verified"] as? Bool ?? false,
                status: json["status"] as? Int ?? 0, signatures: json["signatures"] as? Int ?? 0,
                isIgnored: json["ignored"] as? Bool ?? false, event: json["event"] as? [String: Any] ?? [:])
        }
    }

    /// Waits for a request that fits.
    @discardableResult
    func expect(_ what: String, _ fits: (Request) -> Bool) throws -> Request {
        var found: Request?
        try eventually(what) {
            found = requests.first(where: fits)
            return found != nil
        }
        guard let found else { throw HarnessFailure(what) }
        return found
    }
}
