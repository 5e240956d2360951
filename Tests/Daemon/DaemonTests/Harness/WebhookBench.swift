import BasicsSupport
import Foundation
import Testing

/// A daemon with a webhook, the endpoint behind it, and a device whose messages go there.
struct WebhookBench {
    let endpoint: WebhookEndpoint
    let daemon: RunningDaemon
    let sender: (id: String, key: String)
    let device: TestDevice

    init(flags: [String] = [], environment: [String: String] = [:]) throws {
        let endpoint = try WebhookEndpoint()
        try self.init(
            endpoint, RunningDaemon(flags: endpoint.flags + flags, reactors: 2, environment: environment))
    }

    init(
        _ endpoint: WebhookEndpoint, _ daemon: RunningDaemon, sender: (id: String, key: String)? = nil
    ) throws {
        self.endpoint = endpoint
        self.daemon = daemon
        self.sender = try sender ?? daemon.firstSender
        device = try TestDevice(daemon, sender: self.sender.id)
        try set()
    }

    func set(_ url: String? = nil) throws {
        _ = try webhook("set", sender.id, url ?? endpoint.url, "--secret-file", endpoint.secretFile)
    }

    /// Has the device send a message, and waits until the daemon has stored it.
    func say(_ id: String, _ value: String = "1") throws {
        device.send(id: id, pairs: [("k", value)])
        try device.expectStored(id)
    }

    @discardableResult
    func webhook(_ words: String...) throws -> [String: Any] {
        let result = try Tool.run(
            "ccsctl",
            ["--socket", daemon.controlSocket, "--json", "senders", "webhook"] + words
                + (["rotate", "clear"].contains(words.first) ? ["--yes"] : []))
        guard result.code == 0, let object = result.object else { throw HarnessFailure("\(result)") }
        return object
    }

    /// The state of the webhook, and what the daemon has seen of the endpoint.
    func show() throws -> (state: String, delivery: [String: Any]) {
        let shown = try webhook("show", sender.id)
        return (shown["state"] as? String ?? "", shown["delivery"] as? [String: Any] ?? [:])
    }
}
