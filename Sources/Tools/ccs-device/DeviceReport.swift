import Basics
import Client
import ClientProtocol
import Wire

extension Output {
    /// Reports an event of a device; events of no interest to people and programs are omitted.
    ///
    /// `opened` is the content of an encrypted message, if this device can decrypt it.
    func report(_ event: DeviceEvent, of device: DeviceClient, opened: [UInt8]? = nil) {
        switch event {
        case .loggedIn:
            let id = String(device.identity.androidID)
            report("logged_in", [JSONValue.Member("device", .string(id))], "device \(id) is logged in")
        case .loginRefused(let code):
            report(
                "login_refused", [JSONValue.Member("code", .integer(Int(code)))],
                "the login was refused: \(code)")
        case .message(let message): report(message, of: device, opened)
        case .upstreamStored(let id, _):
            report(
                "stored", [JSONValue.Member("persistent_id", .text(id))], "the server has stored the message")
        case .closeRequested: report("close_requested", [], "the server requests a reconnect")
        case .closed(let reason, let detail):
            report(
                "closed",
                [
                    JSONValue.Member("reason", .string(reason.rawValue)),
                    JSONValue.Member("detail", .string(detail)),
                ], "the connection was closed: \(detail.isEmpty ? reason.rawValue : detail)")
        case .unexpected(let what):
            report("unexpected", [JSONValue.Member("what", .string(what))], "the server sent \(what)")
        case .idleAsked: report("idle_asked", [], "the server asks whether the device is idle")
        case .heartbeat: break
        }
    }

    /// Returns bytes as JSON if they are valid JSON, else as text.
    private static func readable(_ bytes: [UInt8]) -> JSONValue {
        (try? JSONValue(parsing: bytes.raw)) ?? .text(bytes)
    }

    private func report(_ message: DeviceMessage, of device: DeviceClient, _ opened: [UInt8]?) {
        let pairs = message.pairs.map { pair in
            JSONValue.Member(String(decoding: pair.key, as: UTF8.self), .text(pair.value))
        }
        var members: [JSONValue.Member] = [
            JSONValue.Member("device", .string(String(device.identity.androidID))),
            JSONValue.Member("from", .text(message.from)), JSONValue.Member("app", .text(message.category)),
        ]
        if !message.persistentID.isEmpty {
            members.append(JSONValue.Member("persistent_id", .text(message.persistentID)))
        }
        if !message.collapseKey.isEmpty {
            members.append(JSONValue.Member("collapse_key", .text(message.collapseKey)))
        }
        if message.sentAt != 0 { members.append(JSONValue.Member("sent_at", .integer(Int(message.sentAt)))) }
        members.append(JSONValue.Member("data", .object(pairs)))
        if !message.rawData.isEmpty, opened == nil {
            members.append(JSONValue.Member("raw_data", .string(Base64.text(message.rawData))))
        }
        if message.isEncrypted {
            members.append(JSONValue.Member("opened", opened.map(Self.readable) ?? .null))
        }
        let from = String(decoding: message.from, as: UTF8.self)
        let app = String(decoding: message.category, as: UTF8.self)
        var text = message.pairs.map { pair in
            "\(String(decoding: pair.key, as: UTF8.self))=\(JSONValue.text(pair.value).compact)"
        }
        if !message.rawData.isEmpty { text.append("raw_data=\(Base64.text(message.rawData))") }
        if message.isEncrypted {
            let words =
                opened.map { Self.readable($0).compact } ?? "an encrypted message without a matching key"
            return report("message", members, "message from \(from) to \(app): \(words)")
        }
        let kind = message.isDeletedMarker ? "deleted_messages" : "message"
        report(kind, members, "\(kind) from \(from) to \(app): \(text.joined(separator: " "))")
    }
}
