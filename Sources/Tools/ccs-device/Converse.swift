import Basics
import Catalogue
import Client
import ClientProtocol
import Transport
import Wire

/// `converse`: an app server and a device exchange messages through the server, and each step is shown.
final class Converse {
    private let scene: Scene
    private let appServer: AppServerClient
    private let device: DeviceClient
    private let token: String
    private var events: Set<String> = []
    private var trouble = ""

    init(_ scene: Scene) throws(Failure) {
        self.scene = scene
        let line = try KeyFile.read(scene.invocation.text("--key-file") ?? "")
        let key = Redacted(Array(line.revealed.utf8))
        let https = scene.https
        do throws(ClientError) {
            let made = try DeviceEnrolment.run(nil, scene.app, reactor: scene.reactor, endpoint: https)
            token = made.token
            device = DeviceClient(reactor: scene.reactor, endpoint: scene.device, identity: made.identity)
        } catch { throw Failure(error, https) }
        let sender = SenderID(UInt64(scene.invocation.integer("--sender") ?? 0))
        let endpoint: Endpoint
        do throws(TransportError) {
            endpoint = try scene.endpoint(port: scene.invocation.integer("--app-server-port") ?? 5_235)
        } catch { throw Failure(error) }
        appServer = AppServerClient(
            reactor: scene.reactor, endpoint: endpoint, login: AppServerLogin(sender: sender, key: key))
        appServer.onEvent = { [unowned self] _, event, _ in handle(event) }
        device.onEvent = { [unowned self] _, event, _ in handle(event) }
    }

    func run() throws(Failure) {
        title("A device checks in over HTTPS and registers the app; the app server logs in over XMPP.")
        show("ccsd", "device", "token=\(short(token))")
        try connect { () throws(TransportError) in try appServer.connect() }
        try wait("app server ready")
        try connect { () throws(TransportError) in try device.connect() }
        try wait("device ready")
        title("Downstream: the ACK confirms the message on disk, the receipt its arrival on the device.")
        submit("m-1", "Hello, device")
        try wait("ack m-1", "message m-1", "receipt")
        title("Upstream: the stream ack confirms the message on disk, the app server acknowledges it.")
        send("u-1", "Hello, app server")
        try wait("upstream u-1", "stored u-1")
        title("While the device is offline: the message is stored until its next login.")
        device.close()
        try wait("device gone")
        submit("m-2", "You were offline")
        try wait("ack m-2")
        try connect { () throws(TransportError) in try device.connect() }
        try wait("message m-2")
        appServer.end()
        device.close()
        scene.waitUntilClosed { !appServer.isConnected && !device.isConnected }
        title("Both connections are closed.")
    }

    private func connect(_ body: () throws(TransportError) -> Void) throws(Failure) {
        do throws(TransportError) { try body() } catch { throw Failure(error) }
    }

    private func wait(_ what: String...) throws(Failure) {
        let isDone = scene.wait(seconds: Limits.Client.answerSeconds) {
            !trouble.isEmpty || what.allSatisfy { events.contains($0) }
        }
        guard trouble.isEmpty else { throw Failure(.failure, trouble, hint: Failure.hint(for: trouble)) }
        guard isDone else {
            let missing = what.filter { !events.contains($0) }.joined(separator: ", ")
            throw Failure(.failure, "missing events: \(missing)")
        }
    }

    // MARK: Sending

    private func submit(_ id: String, _ words: String) {
        var message = Downstream(to: Array(token.utf8), messageID: Array(id.utf8))
        message.data = [(Array("text".utf8), Array(words.utf8)), (Array("id".utf8), Array(id.utf8))]
        message.wantsReceipt = id == "m-1"
        let shown: JSONValue = [
            "to": .string(short(token)), "message_id": .string(id),
            "data": ["text": .string(words), "id": .string(id)],
        ]
        show("app server", "ccsd", shown.compact)
        appServer.send(message)
    }

    private func send(_ id: String, _ words: String) {
        var message = Upstream(
            sender: SenderID(UInt64(scene.invocation.integer("--sender") ?? 0)),
            category: Array(scene.app.category.utf8), messageID: Array(id.utf8),
            persistentID: Array(id.utf8))
        message.data = [(Array("text".utf8), Array(words.utf8))]
        show(
            "device", "ccsd", "\(id) \(JSONValue.object([JSONValue.Member("text", .string(words))]).compact)")
        device.send(message)
    }

    // MARK: Receiving

    private func handle(_ event: AppServerEvent) {
        switch event {
        case .ready(let jid):
            show("ccsd", "app server", "logged in as \(jid)")
            events.insert("app server ready")
        case .loginFailed(let condition): trouble = "the login of the app server failed: \(condition)"
        case .acknowledged(let id, _):
            let id = String(decoding: id, as: UTF8.self)
            show("ccsd", "app server", "ACK \(id)")
            events.insert("ack \(id)")
        case .refused(let id, let error, let description):
            trouble = "\(String(decoding: id, as: UTF8.self)) was refused: \(error) \(description)"
        case .receipt(let receipt):
            show("ccsd", "app server", "receipt: \(receipt["original_message_id"] ?? "") is on the device")
            events.insert("receipt")
        case .upstream(let message):
            let id = String(decoding: message.messageID, as: UTF8.self)
            let from = short(String(decoding: message.from, as: UTF8.self))
            show("ccsd", "app server", "\(id) from \(from) \(String(decoding: message.data, as: UTF8.self))")
            show("app server", "ccsd", "ACK \(id)")
            events.insert("upstream \(id)")
        case .closed(let reason, let detail):
            if trouble.isEmpty, reason != .peerEndedStream {
                trouble =
                    "the connection of the app server was closed: \(detail.isEmpty ? reason.rawValue : detail)"
            }
        default: break
        }
    }

    private func handle(_ event: DeviceEvent) {
        switch event {
        case .loggedIn:
            show("ccsd", "device", "logged in as \(device.identity.androidID)")
            events.insert("device ready")
        case .message(let message):
            let pairs = message.pairs.map { pair in
                JSONValue.Member(String(decoding: pair.key, as: UTF8.self), .text(pair.value))
            }
            show("ccsd", "device", JSONValue.object(pairs).compact)
            show("device", "ccsd", "stream ack")
            events.insert("message \(String(decoding: message["id"] ?? [], as: UTF8.self))")
        case .upstreamStored(let id, _):
            let id = String(decoding: id, as: UTF8.self)
            // The next login acknowledges it again.
            guard events.insert("stored \(id)").inserted else { break }
            show("ccsd", "device", "stream ack: \(id) is on disk")
        case .loginRefused(let code): trouble = "the login of the device was refused: \(code)"
        case .closed(let reason, let detail):
            events.insert("device gone")
            if reason != .responseComplete {
                trouble =
                    "the connection of the device was closed: \(detail.isEmpty ? reason.rawValue : detail)"
            }
        default: break
        }
    }

    // MARK: Output

    private func title(_ text: String) {
        if !scene.output.isJSON { StandardOutput.write("\n\(text)\n") }
    }

    private func show(_ from: String, _ to: String, _ what: String) {
        if scene.output.isJSON {
            let members = [("from", from), ("to", to), ("what", what)].map { name, value in
                JSONValue.Member(name, .string(value))
            }
            return scene.output.report("exchanged", members, "")
        }
        let head = "  \(from) → \(to)"
        let gap = String(repeating: " ", count: max(1, 24 - head.count))
        StandardOutput.write(head + gap + what + "\n")
    }

    private func short(_ token: String) -> String { token.prefix(16) + "…" }
}
