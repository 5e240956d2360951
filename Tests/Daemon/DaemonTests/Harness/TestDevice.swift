import Basics
import Client
import ClientProtocol
import Foundation
import Transport
import Wire

/// A simulated device on the test's thread, which runs only during calls that wait.
final class TestDevice {
    private let reactor: Reactor
    private let sender: SenderID
    private let app: String
    let identity: DeviceIdentity
    private var client: DeviceClient?
    private var messages: [[String: String]] = []
    private var encrypted: [DeviceMessage] = []
    private(set) var stored: Set<String> = []
    private var heartbeats = 0
    private var closes = 0
    private var isLoggedIn = false
    private var received: [[UInt8]] = []
    private var isIdle = false
    let token: String

    /// Checks in, registers and logs in. `instance` is the Firebase installation of the app.
    init(
        _ daemon: RunningDaemon, sender: String, app: String = "com.example.app", instance: String? = nil,
        reactor: Reactor? = nil
    ) throws {
        self.reactor = try reactor ?? Reactor(index: 0)
        self.app = app
        self.sender = SenderID(UInt64(sender) ?? 0)
        let tls = try TLSClientSettings(trust: .file(daemon.authority))
        let endpoint = try Endpoint(host: "127.0.0.1", port: UInt16(daemon.port("https")), tls: tls)
        let made = try DeviceEnrolment.run(
            nil, DeviceCalls.App(category: app, sender: sender, instance: instance), reactor: self.reactor,
            endpoint: endpoint)
        identity = made.identity
        token = made.token
        try start(daemon)
    }

    /// The `Authorization` header that authenticates the device over HTTPS.
    var proof: String { "AidLogin \(identity.androidID):\(identity.securityToken.revealed)" }

    /// Logs in at a daemon.
    func start(_ daemon: RunningDaemon) throws {
        let tls = try TLSClientSettings(trust: .file(daemon.authority))
        let endpoint = try Endpoint(host: "127.0.0.1", port: UInt16(daemon.port("device")), tls: tls)
        let client = DeviceClient(
            reactor: reactor, endpoint: endpoint, identity: identity, received: received)
        if isIdle { client.setIdle(true) }
        client.onEvent = { [unowned self] _, event, _ in handle(event) }
        self.client = client
        isLoggedIn = false
        try client.connect()
        guard reactor.turn(seconds: Int(Patience.seconds), until: { isLoggedIn }) else {
            throw HarnessFailure("the device could not log in")
        }
    }

    /// Closes the connection in an orderly way.
    func stop() {
        client?.close()
        _ = reactor.turn(seconds: 5) { client?.isConnected != true }
        received = client?.unconfirmed ?? []
        client = nil
    }

    /// Reports idle or active, and waits until the server has processed it.
    func setIdle(_ isIdle: Bool) throws {
        self.isIdle = isIdle
        client?.setIdle(isIdle)
        // The stream ack of a later message on the same connection proves it.
        try sendUpstream(["idle": "\(isIdle)"])
    }

    private func handle(_ event: DeviceEvent) {
        switch event {
        case .loggedIn: isLoggedIn = true
        case .message(let message) where message.isEncrypted: encrypted.append(message)
        case .message(let message):
            messages.append(
                Dictionary(
                    message.pairs.map {
                        (String(decoding: $0.key, as: UTF8.self), String(decoding: $0.value, as: UTF8.self))
                    },
                    uniquingKeysWith: { $1 }))
        case .heartbeat(isAnswer: true): heartbeats += 1
        case .upstreamStored(let id, _): stored.insert(String(decoding: id, as: UTF8.self))
        case .closeRequested: closes += 1
        default: break
        }
    }

    /// Waits for a Close from the server.
    func expectClose() throws {
        guard reactor.turn(seconds: Int(Patience.seconds), until: { closes > 0 }) else {
            throw HarnessFailure("the server did not send Close")
        }
        closes = 0
    }

    /// Returns the first message, in order of arrival, whose pairs match; others are kept.
    @discardableResult
    func expectMessage(seconds: Int = Int(Patience.seconds), _ fits: ([String: String]) -> Bool) throws
        -> [String: String]
    {
        guard reactor.turn(seconds: seconds, until: { messages.contains(where: fits) }),
            let at = messages.firstIndex(where: fits)
        else { throw HarnessFailure("the expected message did not come; the device has \(messages)") }
        return messages.remove(at: at)
    }

    /// Returns the next message that is encrypted for a web app.
    func expectEncrypted() throws -> DeviceMessage {
        guard reactor.turn(seconds: Int(Patience.seconds), until: { !encrypted.isEmpty }) else {
            throw HarnessFailure("no encrypted message came; the device has \(messages)")
        }
        return encrypted.removeFirst()
    }

    /// Registers another app, with the access token of its installation if given. Returns its token.
    @discardableResult
    func register(
        _ daemon: RunningDaemon, _ app: DeviceCalls.App, installation: String? = nil
    ) throws -> String {
        var request = DeviceCalls.register(app, identity)
        if let installation { request.add("x-goog-firebase-installations-auth", installation) }
        return try DeviceCalls.token(try call(daemon, request))
    }

    /// Subscribes the device's registration to a topic.
    func subscribe(_ daemon: RunningDaemon, to topic: String) throws {
        let app = DeviceCalls.App(category: app, sender: "\(sender.number)")
        let answer = try call(
            daemon, DeviceCalls.topic(topic, token: token, app, identity))
        guard try DeviceCalls.token(answer) == token else {
            throw HarnessFailure("the subscription failed: \(answer.text)")
        }
    }

    /// Sends an HTTPS request, of the device or of an app server.
    func call(_ daemon: RunningDaemon, _ request: HTTPCall) throws -> HTTPAnswer {
        let tls = try TLSClientSettings(trust: .file(daemon.authority))
        let endpoint = try Endpoint(host: "127.0.0.1", port: UInt16(daemon.port("https")), tls: tls)
        let http = HTTPClient(reactor: reactor, endpoint: endpoint)
        defer { http.close() }
        var found: HTTPAnswer?
        http.send(request) { found = try? $0.get() }
        guard reactor.turn(seconds: Int(Patience.seconds), until: { found != nil }), let found else {
            throw HarnessFailure("no response to an HTTPS request")
        }
        return found
    }

    /// Removes the registration; the device stays logged in.
    func unregister(_ daemon: RunningDaemon) throws {
        let tls = try TLSClientSettings(trust: .file(daemon.authority))
        let endpoint = try Endpoint(host: "127.0.0.1", port: UInt16(daemon.port("https")), tls: tls)
        let http = HTTPClient(reactor: reactor, endpoint: endpoint)
        var isDone = false
        http.send(
            DeviceCalls.unregister(DeviceCalls.App(category: app, sender: "\(sender.number)"), identity)
        ) {
            answer in
            if let answer = try? answer.get(), (try? DeviceCalls.unregistered(answer)) != nil {
                isDone = true
            }
        }
        guard reactor.turn(seconds: Int(Patience.seconds), until: { isDone }) else {
            throw HarnessFailure("the app could not be unregistered")
        }
        http.close()
    }

    /// Sends an upstream message.
    func send(
        id: String, pairs: [(key: String, value: String)], lifetimeSeconds: Int? = nil, group: String? = nil
    ) {
        var message = Upstream(
            sender: sender, category: Array(app.utf8), messageID: Array(id.utf8),
            persistentID: Array("persistent-\(id)".utf8))
        if let lifetimeSeconds { message.lifetimeSeconds = lifetimeSeconds }
        message.group = group.map { Array($0.utf8) }
        message.data = pairs.map { (Array($0.key.utf8), Array($0.value.utf8)) }
        client?.send(message)
    }

    /// Sends an upstream message and waits for its stream ack.
    func sendUpstream(_ data: [String: String], group: String? = nil) throws {
        let id = "up-\(UInt32.random(in: 0...UInt32.max))"
        send(id: id, pairs: data.map { ($0.key, $0.value) }, group: group)
        try expectStored(id)
    }

    /// Sends a ping and waits for the answer, which carries the server's stream acks so far.
    func heartbeat() throws {
        let before = heartbeats
        client?.heartbeat()
        guard reactor.turn(seconds: Int(Patience.seconds), until: { heartbeats > before }) else {
            throw HarnessFailure("no answer to the ping")
        }
    }

    /// Waits for the stream ack of an upstream message.
    func expectStored(_ id: String) throws {
        guard reactor.turn(seconds: Int(Patience.seconds), until: { stored.contains("persistent-\(id)") })
        else {
            throw HarnessFailure("no stream ack for \(id)")
        }
    }
}
