import Foundation
import Testing

/// An app server on a bare socket, which sends JSON in stanzas.
final class BareAppServer {
    let driver: Driver

    init(_ daemon: RunningDaemon, _ sender: (id: String, key: String)) throws {
        driver = try Driver(
            "bare_app_server.py", [String(daemon.port("app_server")), sender.id], secret: sender.key)
    }

    /// Sends JSON in stanzas. Returns the answers by ID: `ack`, or the error.
    func exchange(_ stanzas: [[String: Any]]) throws -> [String: String] {
        try driver.command(["do": "exchange", "stanzas": stanzas, "count": stanzas.count])
        return try driver.expect(event: "answered")["answers"] as? [String: String] ?? [:]
    }
}

extension RunningDaemon {
    /// The steps of the only message with an ID, as the operator asks for them; `kind` leaves out what has the ID of its message.
    func steps(of id: String, kind: String? = nil) throws -> [String] {
        let messages = try (ctl("messages", "find", id)["messages"] as? [[String: Any]] ?? []).filter {
            kind == nil || $0["kind"] as? String == kind
        }
        guard messages.count == 1 else { return messages.isEmpty ? [] : ["several"] }
        return (messages[0]["steps"] as? [[String: Any]] ?? []).compactMap { $0["step"] as? String }
    }

    /// Adds a sender. Returns its ID and its key.
    func addSender() throws -> (id: String, key: String) {
        let added = try ctl("senders", "add")
        return (
            id: try #require(added["sender_id"] as? String), key: try #require(added["key"] as? String)
        )
    }
}
