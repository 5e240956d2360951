import Basics
import Cluster
import Delivery

/// A connection of a client, and the next one in its place when it has ended.
final class WorldConnection {
    enum Login {
        case none
        /// It waits for the answer: an app server, to this request.
        case asked(PartitionKey, request: UInt32?)
        case loggedIn(PartitionKey)

        /// The device or sender.
        var key: PartitionKey? {
            switch self {
            case .none: nil
            case .asked(let key, _), .loggedIn(let key): key
            }
        }
    }

    /// The sender of an app server that has logged in.
    var sender: SenderID? {
        if case .loggedIn(.sender(let sender)) = login { sender } else { nil }
    }

    let slot: UInt32
    var generation: UInt32 = 0
    var login = Login.none

    init(slot: UInt32) { self.slot = slot }

    func id(_ node: WorldNode) -> ConnectionID {
        ConnectionID(
            node: node.number.number, reactor: 0, slot: slot,
            generation: generation &+ UInt32(node.process) << 16)
    }
}

/// The clients of all nodes.
extension NodeWorld {
    static let secret = SecretDigest(bytes: [1])

    func work() {
        guard time < Self.loadMicroseconds else { return }
        after(draw(2_000...25_000)) { $0.work() }
        guard let node = nodes.randomElement(using: &random), node.isRunning, node.pausedUntil <= time,
            let connection = node.connections.randomElement(using: &random),
            let device = Self.devices.randomElement(using: &random),
            let sender = Self.senders.randomElement(using: &random)
        else { return }
        switch draw(0...119) {
        case 0..<12: request(.register, device, sender, connection, node)
        case 12..<20: request(.unregister, device, sender, connection, node)
        case 20..<32: login(.device(DeviceID(device)), connection, node)
        case 32..<48: request(.upstream, device, sender, connection, node)
        case 48..<52: request(.topic, device, sender, connection, node)
        case 100..<104: operate(chance(50) ? .allow : .suspend, sender, node)
        case 104..<110: login(.sender(sender), connection, node)
        case 110..<114:
            request(.nowOrNever, device, sender, connection, node, isVouched: true)
        case 114..<118: request(.message, device, sender, connection, node, isVouched: true)
        case 118...: request(.topic, device, sender, connection, node, isVouched: true)
        default:
            let session = connection.sender
            for _ in 0..<draw(1...3) {
                request(
                    .message, device, session ?? sender, connection, node, isVouched: session != nil,
                    isSession: session != nil)
            }
        }
    }

    private func request(
        _ kind: WorldChange.Kind, _ device: UInt64, _ sender: SenderID, _ connection: WorldConnection,
        _ node: WorldNode, isVouched: Bool = false, isSession: Bool = false
    ) {
        requests += 1
        let requester = Requester(connection: connection.id(node), requestID: requests)
        let key: PartitionKey =
            switch kind {
            case .register, .unregister, .message, .nowOrNever: .device(DeviceID(device))
            case .upstream, .topic, .allow, .suspend, .signIn: .sender(sender)
            }
        checkers.asked(
            kind, device, requester, of: key.partition(of: Self.partitions), time,
            through: kind == .upstream
                ? PartitionKey.device(DeviceID(device)).partition(of: Self.partitions) : nil,
            vouchedBy: isVouched ? sender : nil, isSession: isSession)
        guard let event = event(kind, device, sender, requester) else { return }
        if isVouched {
            acceptVouched(event, of: sender, requests, isSession: isSession, node)
        } else {
            accept(event, node)
        }
    }

    private func event(
        _ kind: WorldChange.Kind, _ device: UInt64, _ sender: SenderID, _ requester: Requester
    ) -> Event? {
        switch kind {
        case .register:
            .register(
                RegistrationRequest(
                    requester: requester, device: DeviceID(device), token: Self.secret,
                    category: [], subtype: [], senderText: []))
        case .unregister: .forgetDevice(DeviceID(device), requester)
        case .message, .nowOrNever:
            .submitted(
                Submission(
                    requester: requester, entitlement: .account(sender),
                    target: RegistrationName(device: DeviceID(device), number: RegistrationNumber(1)),
                    content: MessageContent(
                        messageID: [],
                        lifetimeSeconds: kind == .message ? Limits.Message.lifetimeSeconds : 0, body: [])))
        case .upstream:
            .upstreamReceived(
                UpstreamSubmission(
                    requester: requester, device: DeviceID(device), sender: sender, isFCMDomain: false,
                    category: [], messageID: [], persistentID: [], lifetimeSeconds: 0, body: []))
        case .topic:
            Self.topic.map {
                .topicSubmitted(
                    TopicSubmission(
                        requester: requester, sender: sender, target: TopicTarget($0),
                        content: MessageContent(messageID: [], body: [])))
            }
        // Operators ask otherwise, and app servers log in.
        case .allow, .suspend, .signIn: nil
        }
    }

    /// The device or sender as which a connection logs in. `nil` if it has ended or has not asked.
    func key(of id: ConnectionID) -> PartitionKey? {
        let node = nodes[Int(id.node) - 1]
        return node.connections.first { $0.id(node) == id }?.login.key
    }

    /// A connection logs in once.
    private func login(_ key: PartitionKey, _ connection: WorldConnection, _ node: WorldNode) {
        guard case .none = connection.login else { return }
        let id = connection.id(node)
        switch key {
        case .device(let device):
            connection.login = .asked(key, request: nil)
            accept(
                .deviceLogin(
                    DeviceLogin(connection: id, device: device, token: Self.secret, received: [])), node)
        case .sender(let sender):
            requests += 1
            connection.login = .asked(key, request: requests)
            checkers.asked(
                .signIn, sender.number, Requester(connection: id, requestID: requests),
                of: key.partition(of: Self.partitions), time)
            accept(.appServerLogin(id, sender, key: Self.secret), node)
        default: break
        }
    }

    /// A command reaches a session of a node.
    func perform(_ command: SessionCommand, _ id: ConnectionID, _ node: WorldNode, of partition: Int?) {
        guard let connection = node.connections.first(where: { $0.id(node) == id }) else { return }
        switch command {
        case .submission(let request, let reply): checkers.answered(request, reply, self)
        case .reply(let request, let reply): checkers.answered(request, reply, self)
        case .device(.upstreamStored(let request)): checkers.answered(request, .accepted, self)
        case .device(.upstreamRefused(let request, _)): checkers.answered(request, .unavailable, self)
        case .device(.loginAccepted), .appServer(.loginAccepted):
            guard case .asked(let key, let request) = connection.login else {
                return checkers.fail("answers: a login is accepted twice")
            }
            connection.login = .loggedIn(key)
            if let request { checkers.answered(request, .accepted, self) }
        case .appServer(.loginRefused(let refusal)):
            if case .asked(_, let request?) = connection.login {
                checkers.answered(request, refusal == .suspended ? .suspended : .unavailable, self)
            }
            close(id, node)
        case .device(.loginRefused), .connection(.close): close(id, node)
        default: break
        }
    }

    /// A session ends, and its client comes back with another one.
    func close(_ id: ConnectionID, _ node: WorldNode) {
        guard let connection = node.connections.first(where: { $0.id(node) == id }) else { return }
        end(connection, node)
    }

    func end(_ connection: WorldConnection, _ node: WorldNode) {
        let id = connection.id(node)
        checkers.ended(id, time)
        if node.isRunning {
            switch connection.login.key {
            case .device(let device): accept(.deviceClosed(id, device), node)
            case .sender(let sender): accept(.appServerClosed(id, sender), node)
            default: break
            }
            if connection.login.key != nil {
                node.toCluster.jobs.append { $0.route(.ended(id), node) }
                wakeReactor(node)
            }
        }
        connection.generation += 1
        connection.login = .none
    }
}
