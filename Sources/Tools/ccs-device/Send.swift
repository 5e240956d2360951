import Basics
import Catalogue
import Client
import ClientProtocol
import Transport
import Wire

/// `send`: sends one upstream message.
final class Send {
    private let scene: Scene
    private let device: DeviceClient
    private let message: Upstream
    private var isStored = false
    private var wasLoggedIn = false
    private var failure: Failure?

    init(_ scene: Scene) throws(Failure) {
        self.scene = scene
        let state = try DeviceState.require(scene.statePath)
        device = DeviceClient(
            reactor: scene.reactor, endpoint: scene.device, identity: state.identity,
            received: state.received,
            acknowledgement: .nothing)
        message = try Self.message(scene.invocation)
    }

    private static func message(_ invocation: Invocation) throws(Failure) -> Upstream {
        let id = invocation.text("--message-id") ?? String(SecureRandom.number(), radix: 16)
        let lifetime = invocation.integer("--time-to-live") ?? Limits.Message.upstreamLifetimeSeconds
        var message = Upstream(
            sender: SenderID(UInt64(invocation.integer("--sender") ?? 0)),
            category: Array((invocation.text("--app") ?? "com.example.app").utf8), messageID: Array(id.utf8),
            persistentID: lifetime == 0 ? [] : Array(String(SecureRandom.number()).utf8))
        message.lifetimeSeconds = lifetime
        for pair in invocation.arguments {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw Failure(
                    .usage, "invalid argument \"\(pair)\": expected KEY=VALUE", hint: "for example text=hello"
                )
            }
            message.data.append((Array(parts[0].utf8), Array(parts[1].utf8)))
        }
        return message
    }

    func run() throws(Failure) {
        device.onEvent = { [unowned self] device, event, _ in handle(event, device) }
        if !message.persistentID.isEmpty { device.send(message) }
        do throws(TransportError) { try device.connect() } catch { throw Failure(error) }
        let isDone = scene.wait(seconds: Limits.Client.answerSeconds) { isStored || failure != nil }
        // Messages that arrived meanwhile are left for the next `listen`, to which the server repeats them.
        device.close()
        scene.waitUntilClosed { !device.isConnected }
        if let failure { throw failure }
        guard isDone, isStored else {
            throw Failure(.unavailable, "the server did not confirm the message")
        }
        let id = String(decoding: message.messageID, as: UTF8.self)
        scene.output.report(
            "stored", [JSONValue.Member("message_id", .string(id))], "the server has stored message \(id)")
    }

    private func handle(_ event: DeviceEvent, _ device: DeviceClient) {
        switch event {
        case .loggedIn:
            // Another login of this device may interrupt: then the message is sent again with the same ID.
            device.reconnects = true
            wasLoggedIn = true
            if message.persistentID.isEmpty { device.send(message) }
        case .loginRefused:
            failure = Failure(
                .failure, "the server refused the login of this device",
                hint: "remove the state file and register again")
        case .upstreamStored(let id, _):
            if id == message.persistentID { isStored = true }
        case .message(let reply):
            guard reply["message_type"] == Array("send_error".utf8), reply["message_id"] == message.messageID
            else { return }
            let reason = String(decoding: reply["error"] ?? [], as: UTF8.self)
            failure = Failure(
                .failure, "the server refused the message: \(reason)",
                hint: reason == "invalid_parameters"
                    ? "is the app registered with this sender? ccs-device register" : "")
        case .closed(let reason, let detail):
            guard !isStored, failure == nil, !wasLoggedIn else { return }
            let words = detail.isEmpty ? reason.rawValue : detail
            failure = Failure(
                .unavailable, "no connection to \(scene.device.address.description): \(words)",
                hint: Failure.hint(for: words))
        default: break
        }
    }
}
