import Foundation
import Testing

/// Routing of receipts to one of several connections (ccs-xmpp 3.6).
@Suite("Receipts", .serialized, .enabled(if: TestPaths.hasPython, "run Scripts/bootstrap --tests first"))
struct ReceiptConnectionTests {
    private func connect(_ daemon: RunningDaemon, _ sender: (id: String, key: String)) throws -> Driver {
        let server = try Driver(
            "slixmpp_app_server.py", [String(daemon.port("app_server")), sender.id], secret: sender.key)
        try server.expect(event: "connected")
        return server
    }

    private func send(_ server: Driver, _ id: String, to device: TestDevice) throws {
        try server.send([
            "to": device.token, "message_id": id, "data": ["id": id], "delivery_receipt_requested": true,
        ])
        try server.expectJSON("the ACK of \(id)") {
            $0["message_id"] as? String == id && $0["message_type"] as? String == "ack"
        }
    }

    /// Returns the original message ID of the connection's next receipt.
    private func receipt(_ server: Driver) throws -> String? {
        let receipt = try server.expectJSON("a receipt") { $0["message_type"] as? String == "receipt" }
        return (receipt["data"] as? [String: Any])?["original_message_id"] as? String
    }

    @Test("a receipt goes to the connection that sent the message, or to another when that one is closed")
    func origin() throws {
        let daemon = try RunningDaemon(reactors: 2)
        let sender = try daemon.firstSender
        let device = try TestDevice(daemon, sender: sender.id)
        let servers = try (0..<3).map { _ in try connect(daemon, sender) }
        for round in 0..<4 {
            for (at, server) in servers.enumerated() {
                try send(server, "\(at)-\(round)", to: device)
                try device.expectMessage { $0["id"] == "\(at)-\(round)" }
                #expect(try receipt(server) == "\(at)-\(round)")
            }
        }
        device.stop()
        try send(servers[0], "late", to: device)
        servers[0].drop()
        servers[1].drop()
        try eventually("one app server is left") { try daemon.ctl("status")["app_servers"] as? Int == 1 }
        try device.start(daemon)
        try device.expectMessage { $0["id"] == "late" }
        // Unacknowledged receipts are repeated before it.
        while try receipt(servers[2]) != "late" {}
    }

    @Test("canary: no receipt is sent when none was requested")
    func canary() throws {
        let daemon = try RunningDaemon()
        let sender = try daemon.firstSender
        let device = try TestDevice(daemon, sender: sender.id)
        let server = try connect(daemon, sender)
        try server.send(["to": device.token, "message_id": "m", "data": ["id": "m"]])
        try device.expectMessage { $0["id"] == "m" }
        #expect(throws: HarnessFailure.self) {
            try server.expectJSON("a receipt", seconds: 1) { $0["message_type"] as? String == "receipt" }
        }
    }
}
