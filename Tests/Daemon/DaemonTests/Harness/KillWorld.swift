import Basics
import Client
import ClientProtocol
import Foundation
import Transport
import Wire

/// App servers and devices that exchange messages while the daemon is killed and restarted.
///
/// It records acknowledged and received messages in both directions, those to a topic of all devices, and those of requests to many, which
/// share their pairs in the store; at the end every acknowledged message must have arrived. Messages have no collapse key and a long
/// lifetime, and mailboxes stay below their cap, so none is discarded.
final class KillWorld {
    /// The record of one direction, by message ID; of a message to the topic for each device, of requests to many by persistent ID.
    struct DirectionRecord {
        /// Messages that the server acknowledged.
        var acknowledged: Set<String> = []
        /// Number of arrivals of each message.
        var arrivals: [String: Int] = [:]
        /// The persistent IDs of each message to a device.
        var persistentIDs: [String: Set<[UInt8]>] = [:]

        /// Messages that did not always have the same persistent ID.
        var changed: [String] { persistentIDs.filter { $0.value.count > 1 }.keys.sorted() }
        var lost: [String] { acknowledged.filter { arrivals[$0] == nil }.sorted() }
        var twice: Int { arrivals.values.count { $0 > 1 } }
        func isWhole(but left: Set<String> = []) -> Bool {
            acknowledged.allSatisfy { arrivals[$0] != nil || left.contains($0) }
        }
    }

    private final class Device {
        let number: Int
        let identity: DeviceIdentity
        let token: String
        var client: DeviceClient?
        var received: [[UInt8]] = []
        var isReady = false
        var waiting: [String: Upstream] = [:]
        /// The numbers of messages to this device that were not refused and have not arrived.
        var underway: Set<Int> = []
        /// Acknowledged messages of requests to many that have not arrived.
        var many: Set<String> = []
        /// Requests to many without an answer, each of `KillWorld.requestMessages`.
        var requests = 0
        /// What was sent before the last login; `nil` when a later message has arrived, and with it everything that was stored before.
        var before: (count: Int, requests: Int)? = (0, 0)
        /// Whether a message was sent since the last login.
        var isProbed = false

        init(number: Int, identity: DeviceIdentity, token: String) {
            self.number = number
            self.identity = identity
            self.token = token
        }

        /// The most messages that its mailbox can hold now: also those that have arrived, until the server confirms that they are removed.
        var held: Int {
            underway.count + many.count + requests * KillWorld.requestMessages
                + (client?.unconfirmed ?? received).count
        }

        /// Whether a message may be sent to it: one after each login in any case, since its arrival ends all doubt about earlier ones.
        func accepts(upTo limit: Int) -> Bool {
            held < (isReady && !isProbed ? Limits.Mailbox.storedMessages - KillWorld.requestMessages : limit)
        }

        /// Handles a login, before which `count` messages were sent to all devices.
        func logIn(after count: Int) {
            isReady = true
            isProbed = false
            before = (count, requests)
        }

        /// Handles the arrival of a message. What was sent before the login and has not arrived by then was never stored.
        func arrived(_ number: Int) {
            underway.remove(number)
            guard let (count, requests) = before, number > count else { return }
            underway = underway.filter { $0 > count }
            self.requests -= requests
            before = nil
        }
    }

    /// Messages in one request to many.
    private static let requestMessages = 2 * Limits.SharedBody.unsharedMessages
    /// The mailbox of a device never reaches its cap: messages of their own leave room for those to all, and those for one request.
    private static let (ownMessages, allMessages) = (50, 60)
    private let reactor: Reactor
    private static let patience = Int(Patience.seconds)
    /// Rates are unlimited, since few devices get the whole load.
    private static let flags = ["--device-messages-per-minute", "0", "--device-upstream-per-minute", "0"]
    private let scratch: Scratch
    private let sender: (id: String, key: String)
    private var ports: [String: Int] = [:]
    private var daemon: RunningDaemon?
    private var random: SeededRandom
    private var devices: [Device] = []
    private var servers: [AppServerClient] = []
    private var caller: HTTPClient?
    private var isCalling = false
    /// Refusals and ends of connections, for the text of a failure.
    private var troubles: [String] = []
    private var count = 0
    private var starts = 0
    private var pretended: Set<String> = []
    private(set) var downstream = DirectionRecord()
    private(set) var upstream = DirectionRecord()
    private(set) var topic = DirectionRecord()
    private(set) var many = DirectionRecord()
    /// Each has fewer live messages than a topic may have.
    private static let topicNames = (0..<20).map { "news-\($0)" }
    /// Messages that the audit counts as discarded at the end; -1 if the audit has no count.
    private(set) var discarded = -1
    /// Milliseconds from each start on known ports until the first connection was accepted.
    private(set) var startMilliseconds: [Double] = []

    init(seed: UInt64) throws {
        random = SeededRandom(seed: seed)
        reactor = try Reactor(index: 0)
        let first = try RunningDaemon(flags: Self.flags)
        scratch = first.scratch
        sender = try first.firstSender
        ports = first.ports
        daemon = first
        let endpoint = try endpoint("https", first)
        let app = DeviceCalls.App(category: "com.example.app", sender: sender.id)
        let client = HTTPClient(reactor: reactor, endpoint: endpoint)
        defer { client.close() }
        for number in 0..<4 {
            let made = try DeviceEnrolment.run(nil, app, reactor: reactor, endpoint: endpoint)
            devices.append(Device(number: number, identity: made.identity, token: made.token))
            for name in Self.topicNames {
                let subscription = DeviceCalls.topic(
                    name, token: made.token, isEnd: false, app, made.identity)
                let answer = try client.answer(to: subscription, seconds: Self.patience)
                guard try DeviceCalls.token(answer) == made.token else { throw HarnessFailure(answer.text) }
            }
        }
    }

    private func endpoint(_ name: String, _ daemon: RunningDaemon) throws -> Endpoint {
        try Endpoint(
            host: "127.0.0.1", port: UInt16(daemon.port(name)),
            tls: TLSClientSettings(trust: .file(daemon.authority)))
    }

    /// Starts the daemon, exchanges messages for a moment, and kills it under load.
    ///
    /// Continues until at least `least` messages are acknowledged in each direction over all cycles, and a tenth of it of requests to many,
    /// so that the amount of load does not depend on the machine.
    func cycle(least: Int = 0) throws {
        // One device is seldom there, but before it has no room for messages to the topic.
        let daemon = try begin(
            devices: devices.indices.filter {
                $0 != 3 || devices[3].held > Self.allMessages / 2
                    || Int.random(in: 0..<4, using: &random) == 0
            })
        let isEnough = exchangeMessages(seconds: Self.patience) {
            min(downstream.acknowledged.count, upstream.acknowledged.count) >= least
                && many.acknowledged.count >= least / 10
        }
        guard isEnough else {
            throw HarnessFailure(
                "timed out after \(Self.patience) s with \(downstream.acknowledged.count) downstream and \(upstream.acknowledged.count) upstream messages and \(topic.acknowledged.count) of the topic acknowledged, expected \(least); held \(devices.map(\.held)), unanswered \(servers.map(\.outstanding)), \(troubles.suffix(10)): \(daemon.words.suffix(1_000))"
            )
        }
        let end = Now.read().monotonic.advanced(milliseconds: Int64.random(in: 20...250, using: &random))
        _ = exchangeMessages(seconds: Self.patience) { Now.read().monotonic >= end }
        daemon.signal(SIGKILL)
        _ = try daemon.wait()
        endConnections()
        self.daemon = nil
    }

    /// Starts the daemon a last time and waits until all acknowledged messages have arrived.
    func finish() throws {
        _ = try begin(devices: Array(devices.indices))
        // Upstream messages without a stream ack are repeated by the device; all others must arrive.
        _ = reactor.turn(seconds: Self.patience) {
            downstream.isWhole(but: pretended) && upstream.isWhole() && topic.isWhole() && many.isWhole()
        }
        let audit = try daemon?.ctl("audit")["downstream"] as? [String: Any]
        discarded = audit?["discarded"] as? Int ?? -1
        endConnections()
        daemon?.signal(SIGKILL)
    }

    /// Records a message as acknowledged that was not: for the canary.
    func pretendAcknowledged(_ id: String) {
        downstream.acknowledged.insert(id)
        pretended.insert(id)
    }

    private func begin(devices online: [Int]) throws -> RunningDaemon {
        // Alternates between one and two reactors: the stored data must not depend on their number.
        starts += 1
        let daemon =
            try self.daemon
            ?? RunningDaemon(continuing: scratch, flags: Self.flags, reactors: 1 + starts % 2, ports: ports)
        self.daemon = daemon
        if let time = daemon.firstConnectionMilliseconds { startMilliseconds.append(time) }
        for _ in 0..<2 {
            let login = AppServerLogin(
                sender: SenderID(UInt64(sender.id) ?? 0), key: Redacted(Array(sender.key.utf8)))
            let client = AppServerClient(
                reactor: reactor, endpoint: try endpoint("app_server", daemon), login: login)
            client.onEvent = { [unowned self] _, event, _ in handle(event) }
            try client.connect()
            servers.append(client)
        }
        caller = HTTPClient(reactor: reactor, endpoint: try endpoint("https", daemon))
        for index in online { try connect(devices[index], daemon) }
        guard
            reactor.turn(
                seconds: Self.patience,
                until: { servers.allSatisfy(\.isReady) && online.allSatisfy { devices[$0].isReady } })
        else { throw HarnessFailure("not all clients could log in: \(daemon.words.suffix(1_000))") }
        return daemon
    }

    private func connect(_ device: Device, _ daemon: RunningDaemon) throws {
        let client = DeviceClient(
            reactor: reactor, endpoint: try endpoint("device", daemon), identity: device.identity,
            received: device.received)
        client.onEvent = { [unowned self, unowned device] _, event, _ in handle(event, device) }
        device.client = client
        device.isReady = false
        for message in device.waiting.values { client.send(message) }
        try client.connect()
    }

    private func endConnections() {
        for server in servers { server.abort() }
        caller?.close()
        for device in devices {
            device.client?.abort()
            device.received = device.client?.unconfirmed ?? device.received
            device.client = nil
            device.isReady = false
        }
        _ = reactor.turn(seconds: Self.patience) { servers.allSatisfy { !$0.isConnected } }
        servers.removeAll()
    }

    /// Exchanges messages until a condition holds. Returns `false` if it does not hold in time.
    private func exchangeMessages(seconds: Int, until isDone: () -> Bool) -> Bool {
        let end = Now.read().monotonic.advanced(seconds: seconds)
        while !isDone() {
            guard Now.read().monotonic < end else { return false }
            exchangeMessages()
            reactor.turn(waitMilliseconds: 1)
        }
        return true
    }

    private func exchangeMessages() {
        callMany()
        for server in servers where server.isReady && server.outstanding < 40 {
            let device = devices[Int.random(in: 0..<devices.count, using: &random)]
            let isForAll = Int.random(in: 0..<4, using: &random) == 0
            let receivers = isForAll ? devices : [device]
            guard receivers.allSatisfy({ $0.accepts(upTo: isForAll ? Self.allMessages : Self.ownMessages) })
            else { continue }
            count += 1
            let id = "\(isForAll ? "t" : "d")\(count)"
            for receiver in receivers {
                receiver.underway.insert(count)
                receiver.isProbed = true
            }
            let target = isForAll ? "/topics/\(Self.topicNames[count % Self.topicNames.count])" : device.token
            var message = Downstream(to: Array(target.utf8), messageID: Array(id.utf8))
            message.data = [(Array("id".utf8), Array(id.utf8))]
            server.send(message)
        }
        for device in devices where device.isReady && device.waiting.count < 15 {
            count += 1
            let id = "u\(count)"
            var message = Upstream(
                sender: SenderID(UInt64(sender.id) ?? 0), category: Array("com.example.app".utf8),
                messageID: Array(id.utf8), persistentID: Array(id.utf8))
            message.data = [(Array("id".utf8), Array(id.utf8))]
            device.waiting[id] = message
            device.client?.send(message)
        }
    }

    /// Sends a request to many that names one device several times: all messages are in one partition, and share their pairs.
    private func callMany() {
        let device = devices[Int.random(in: 0..<devices.count, using: &random)]
        guard let caller, !isCalling, device.held < Self.allMessages else { return }
        isCalling = true
        device.requests += 1
        let tokens = Array(repeating: "\"\(device.token)\"", count: Self.requestMessages)
        let text = String(repeating: "x", count: Limits.SharedBody.leastBytes)
        var call = HTTPCall("POST", "/fcm/send")
        call.add("Content-Type", "application/json")
        call.add("Authorization", "key=\(sender.key)")
        call.body = Array(
            "{\"registration_ids\":[\(tokens.joined(separator: ","))],\"data\":{\"id\":\"m\",\"text\":\"\(text)\"}}"
                .utf8)
        caller.send(call) { [unowned self] result in
            isCalling = false
            guard let body = try? result.get().body,
                let answer = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
            else { return }
            let results = answer["results"] as? [[String: Any]] ?? []
            let stored = results.compactMap { $0["message_id"] as? String }
            many.acknowledged.formUnion(stored)
            device.many.formUnion(stored.filter { many.arrivals[$0] == nil })
            device.requests -= 1
        }
    }

    private func handle(_ event: AppServerEvent) {
        switch event {
        case .acknowledged(let id, _):
            let id = String(decoding: id, as: UTF8.self)
            if id.hasPrefix("t") {
                topic.acknowledged.formUnion(devices.map { "\(id)@\($0.number)" })
            } else {
                downstream.acknowledged.insert(id)
            }
        case .upstream(let message):
            upstream.arrivals[String(decoding: message.messageID, as: UTF8.self), default: 0] += 1
        case .refused(let id, let error, let description):
            troubles.append("\(error): \(description)")
            let number = Int(String(decoding: id.dropFirst(), as: UTF8.self)) ?? 0
            for device in devices { device.underway.remove(number) }
        case .stanzaError(_, let text): troubles.append(text)
        case .streamError(let condition): troubles.append(condition)
        case .closed(let reason, let detail): troubles.append("\(reason) \(detail)")
        default: break
        }
    }

    private func handle(_ event: DeviceEvent, _ device: Device) {
        switch event {
        case .loggedIn:
            device.logIn(after: count)
        case .message(let message):
            guard let id = message["id"].map({ String(decoding: $0, as: UTF8.self) }) else { return }
            if id == "m" {
                let name = String(decoding: message.persistentID, as: UTF8.self)
                device.many.remove(name)
                return many.arrivals[name, default: 0] += 1
            }
            device.arrived(Int(id.dropFirst()) ?? 0)
            let record = id.hasPrefix("t") ? \KillWorld.topic : \KillWorld.downstream
            let name = id.hasPrefix("t") ? "\(id)@\(device.number)" : id
            self[keyPath: record].arrivals[name, default: 0] += 1
            self[keyPath: record].persistentIDs[name, default: []].insert(message.persistentID)
        case .upstreamStored(let id, _):
            let id = String(decoding: id, as: UTF8.self)
            upstream.acknowledged.insert(id)
            device.waiting[id] = nil
        default: break
        }
    }
}
