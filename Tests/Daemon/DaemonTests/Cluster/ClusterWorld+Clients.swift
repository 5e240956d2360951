import Basics
import Client
import ClientProtocol
import Foundation
import Transport

/// The connections of the load.
extension ClusterWorld {
    /// Milliseconds without a word, with something to be answered, after which a client goes to another node.
    private static let silence: Int64 = 6_000
    /// Milliseconds before a client tries the next node.
    private static let pause: Int64 = 50

    /// Connects clients that have no connection, and ends connections that say nothing.
    func connect(_ now: Instant) {
        for server in servers {
            if let client = server.client {
                let isIdle = client.isReady && server.unanswered.isEmpty && server.unansweredTopics.isEmpty
                if isIdle { server.heard = now }
                if now.milliseconds(since: server.heard) > Self.silence { client.abort() }
            } else if server.retry <= now {
                connect(server, now)
            }
        }
        for device in devices {
            if let client = device.client {
                if client.isReady, device.waiting.isEmpty { device.heard = now }
                if now.milliseconds(since: device.heard) > Self.silence { client.abort() }
            } else if device.retry <= now {
                connect(device, now)
            }
        }
    }

    /// Ends all connections, and waits for that.
    func disconnect() {
        for server in servers { server.client?.abort() }
        for device in devices { device.client?.abort() }
        _ = reactor.turn(seconds: 20) {
            servers.allSatisfy { $0.client == nil } && devices.allSatisfy { $0.client == nil }
        }
    }

    private func moveOn(_ client: ClusterClient, _ now: Instant) {
        client.node =
            (client.node + Int.random(in: 1..<max(2, cluster.count), using: &random)) % cluster.count
        client.retry = now.advanced(milliseconds: Self.pause)
    }

    private func connect(_ server: ClusterAppServer, _ now: Instant) {
        guard let endpoint = try? endpoint("app_server", server.node) else { return moveOn(server, now) }
        let login = AppServerLogin(
            sender: SenderID(UInt64(server.sender.id) ?? 0), key: Redacted(Array(server.sender.key.utf8)))
        let client = AppServerClient(reactor: reactor, endpoint: endpoint, login: login)
        client.onEvent = { [unowned self, unowned server] _, event, now in
            handle(event, server, now.monotonic)
        }
        server.heard = now
        connections += 1
        server.connection = connections
        do {
            try client.connect()
            server.client = client
        } catch { moveOn(server, now) }
    }

    private func connect(_ device: ClusterDevice, _ now: Instant) {
        guard let endpoint = try? endpoint("device", device.node) else { return moveOn(device, now) }
        let client = DeviceClient(
            reactor: reactor, endpoint: endpoint, identity: device.identity, received: device.received)
        client.onEvent = { [unowned self, unowned device] _, event, now in
            handle(event, device, now.monotonic)
        }
        for message in device.waiting.values { client.send(message) }
        device.heard = now
        do {
            try client.connect()
            device.client = client
        } catch { moveOn(device, now) }
    }

    // MARK: Events

    private func handle(_ event: AppServerEvent, _ server: ClusterAppServer, _ now: Instant) {
        server.heard = now
        switch event {
        case .acknowledged(let id, _):
            let id = String(decoding: id, as: UTF8.self)
            if server.unansweredTopics.remove(id) != nil {
                // Which members a message to others than "news" is meant for depends on the moment.
                guard id.hasPrefix("t") else { break }
                let all = devices.filter { $0.sender.id == server.sender.id }
                for device in all { topics.acknowledged.insert("\(id)@\(device.number)") }
            } else if let sent = server.unanswered.removeValue(forKey: id) {
                downstream.acknowledged.insert(id)
                noteWait(of: server, sent, now)
                sent.device.isAnsweredDown = true
                sent.device.down.acknowledged(now, isLast: !isAwaited(sent.device))
            }
        case .refused(let id, let error, let text):
            let id = String(decoding: id, as: UTF8.self)
            if ClusterAnswers.isFalse(refusal: error) { violations.append("answer: \(id): \(error) \(text)") }
            if server.unansweredTopics.remove(id) != nil {
                topics.refusals[error, default: 0] += 1
                release(topic: id, of: server, now)
            } else if let sent = server.unanswered.removeValue(forKey: id) {
                downstream.refusals[error, default: 0] += 1
                noteWait(of: server, sent, now)
                release(id, sent.device, now)
            }
        case .upstream(let message):
            upstream.arrivals[String(decoding: message.messageID, as: UTF8.self), default: 0] += 1
        case .loginFailed(let condition):
            oddities["app server login \(condition)", default: 0] += 1
            if ClusterAnswers.isFalse(loginCondition: condition) {
                violations.append("login: app server \(condition)")
            }
        case .unexpected(let what): oddities["app server: \(what)", default: 0] += 1
        case .closed(let reason, _):
            oddities["app server closed \(reason.rawValue)", default: 0] += 1
            for (id, sent) in server.unanswered {
                noteWait(of: server, sent, now)
                release(id, sent.device, now)
            }
            for id in server.unansweredTopics { release(topic: id, of: server, now) }
            server.unanswered = [:]
            server.unansweredTopics = []
            server.client = nil
            moveOn(server, now)
        default: break
        }
    }

    /// Whether a message to a device has no answer.
    func isAwaited(_ device: ClusterDevice) -> Bool {
        servers.contains { $0.unanswered.values.contains { $0.device === device } }
    }

    /// Notes how long an app server has waited for an answer, if it is not connected to the node that a fault touches.
    func noteWait(of server: ClusterAppServer, _ sent: ClusterSent, _ now: Instant) {
        guard server.node != touched else { return }
        let waited = now.milliseconds(since: sent.at)
        let numbers = [sent.device.identity.androidID, UInt64(sent.device.sender.id) ?? 0]
        let partitions = cluster.partitions(of: numbers)
        guard dependent.isDisjoint(with: partitions) else {
            longestDependent = max(longestDependent ?? 0, waited)
            return
        }
        for partition in partitions where touched == nil || moved.contains(partition) {
            longestElsewhere[partition] = max(longestElsewhere[partition] ?? 0, waited)
        }
    }

    /// A message to a device has no answer or was refused: it arrives soon or never.
    private func release(_ id: String, _ device: ClusterDevice, _ now: Instant) {
        device.down.note(now)
        if device.underway.remove(id) != nil { device.uncertain[id] = now }
    }

    private func release(topic id: String, of server: ClusterAppServer, _ now: Instant) {
        for device in devices where device.underway.remove(id) != nil { device.uncertain[id] = now }
    }

    private func handle(_ event: DeviceEvent, _ device: ClusterDevice, _ now: Instant) {
        device.heard = now
        switch event {
        case .message(let message) where message.isRefusal:
            let error = message["error"].map { String(decoding: $0, as: UTF8.self) } ?? "no error"
            upstream.refusals[error, default: 0] += 1
            device.waiting[message["message_id"].map { String(decoding: $0, as: UTF8.self) } ?? ""] = nil
            device.up.note(now)
        case .message(let message):
            guard let id = message["id"].map({ String(decoding: $0, as: UTF8.self) }) else {
                oddities[
                    "device: message without an id: \(message.pairs.map { String(decoding: $0.key, as: UTF8.self) })",
                    default: 0] += 1
                return
            }
            let name = id.hasPrefix("d") ? id : "\(id)@\(device.number)"
            if let wrong = identity.arrived(name, as: message.persistentID) { violations.append(wrong) }
            if id.hasPrefix("t") {
                topics.arrivals[name, default: 0] += 1
            } else if id.hasPrefix("d") {
                downstream.arrivals[id, default: 0] += 1
                order.arrived(id)
            } else {
                arrived(id, at: device)
            }
            device.underway.remove(id)
            device.uncertain[id] = nil
        case .upstreamStored(let id, _):
            let id = String(decoding: id, as: UTF8.self)
            upstream.acknowledged.insert(id)
            device.waiting[id] = nil
            device.isAnsweredUp = true
            device.up.acknowledged(now, isLast: device.waiting.isEmpty)
        case .loginRefused(let code):
            oddities["device login refused \(code)", default: 0] += 1
            if ClusterAnswers.isFalse(loginCode: Int(code)) {
                violations.append("login: device \(device.number) \(code)")
            }
        case .unexpected(let what): oddities["device: \(what)", default: 0] += 1
        case .closed(let reason, _):
            oddities["device closed \(reason.rawValue)", default: 0] += 1
            device.received = device.client?.unconfirmed ?? device.received
            device.client = nil
            device.up.note(now)
            moveOn(device, now)
        default: break
        }
    }
}
