import Basics
import Delivery
import Sessions

/// An app server that communicates in events.
final class DirectAppServerPort: AppServerPort, ClientEnd {
    private unowned let client: AppServerClient
    private unowned let link: AppServerClient.Link
    private let world: World
    private var pipe: Pipe?
    private var id: ConnectionID?
    var end: ServerEnd? { pipe?.serverEnd }
    /// Managed streams exist only in sessions.
    var stream: ManagedStream? { nil }

    init?(_ world: World, _ client: AppServerClient, _ link: AppServerClient.Link) {
        self.world = world
        self.client = client
        self.link = link
        guard let server = world.server else { return nil }
        let pipe = world.openPipe(self)
        let end = server.accept { DirectEnd($0, world, pipe) }
        pipe.attach(end)
        id = end.id
        self.pipe = pipe
    }

    /// Sends an event of this connection, if it exists.
    private func send(_ event: (ConnectionID) -> Event) {
        guard let pipe, let id else { return }
        pipe.sendToServer(.event(event(id)))
    }

    func login() {
        let key = SimulatedHost.digest(client.password(link))
        send { .appServerLogin($0, client.sender, key: key) }
    }

    func submit(_ draft: DownstreamDraft) {
        var content = MessageContent(
            messageID: draft.messageID, collapseKey: draft.collapseKey.map { [$0] },
            lifetimeSeconds: draft.lifetimeSeconds, wantsReceipt: draft.wantsReceipt,
            delaysWhileIdle: draft.delaysWhileIdle, isDryRun: draft.isDryRun, body: draft.messageID)
        content.sendAt = draft.sendAt
        content.replaces = draft.replaces?.id
        let recipient: Recipient
        switch draft.target {
        case .registration(let name): recipient = .registration(name)
        case .topic(let condition):
            guard let target = condition.target else {
                return world.fail("topics", "no target: \(condition)")
            }
            recipient = .topic(target)
        }
        let request = SendRequest(sender: client.sender, recipient: recipient, content: content)
        send { request.event(replyTo: Requester(connection: $0, requestID: UInt32(draft.number))) }
    }

    func resolve(_ handle: UpstreamHandle, isRefused: Bool) {
        guard case .sequence(let sequence) = handle else { return }
        let outcome: UpstreamOutcome = isRefused ? .refused : .acknowledged
        send { .upstreamFinished($0, client.sender, sequence, outcome) }
    }

    func acknowledgeUnknown() {
        let sequence = SequenceNumber(UInt64(world.random(1...(.max))))
        send { .upstreamFinished($0, client.sender, sequence, .acknowledged) }
    }

    func close() {
        pipe?.closeByClient()
        pipe = nil
    }

    func endInput() { pipe?.endInput() }

    func cut() { pipe?.cut() }

    func received(_ cargo: Cargo) {
        guard case .command(let command) = cargo else { return }
        switch command {
        case .appServer(.loginAccepted):
            send { .appServerBound($0, client.sender) }
            client.receive(.loggedIn, link)
        case .appServer(.loginRefused): client.receive(.refusedLogin, link)
        case .submission(let requestID, .accepted(_, let canonical)):
            client.receive(
                .answer(number: Int(requestID), .acknowledged(canonical: canonical?.registration)), link)
        case .submission(let requestID, .refused(let refusal)):
            client.receive(.answer(number: Int(requestID), .refused(refusal)), link)
        case .appServer(.deliver(let upstream)):
            guard let number = upstream.draftNumber else { return }
            let handle = UpstreamHandle.sequence(upstream.sequence)
            client.receive(
                upstream.kind == .message
                    ? .upstream(number: number, handle: handle) : .receipt(number: number, handle: handle),
                link)
        case .appServer(.release(let receipt)):
            send { .upstreamFinished($0, client.sender, receipt, .unanswered) }
        case .connection(.drain): client.receive(.draining, link)
        default: break
        }
    }

    func lost() {
        pipe = nil
        client.receive(.lost, link)
    }
}

/// A device that communicates in events.
final class DirectDevicePort: DevicePort, ClientEnd {
    private unowned let client: DeviceClient
    private let world: World
    private var pipe: Pipe?
    private var id: ConnectionID?
    /// The device as which it has logged in.
    private var device: DeviceID?

    init?(_ world: World, _ client: DeviceClient) {
        self.world = world
        self.client = client
        guard let server = world.server else { return nil }
        let pipe = world.openPipe(self)
        let end = server.accept { DirectEnd($0, world, pipe) }
        pipe.attach(end)
        id = end.id
        self.pipe = pipe
    }

    /// Sends an event of this connection, if it exists and has logged in.
    private func send(_ event: (ConnectionID, DeviceID) -> Event) {
        guard let pipe, let id, let device else { return }
        pipe.sendToServer(.event(event(id, device)))
    }

    func login(_ identity: DeviceIdentity, received: [PersistentID]) {
        device = identity.device
        send {
            .deviceLogin(
                DeviceLogin(
                    connection: $0, device: $1, token: SimulatedHost.digest(identity.token),
                    received: received))
        }
    }

    func acknowledge(_ ids: [PersistentID]) {
        send { .deviceAcknowledged($0, $1, ids.map(\.sequence)) }
    }

    /// Acknowledges a report with some probability: an unacknowledged one is sent again.
    private func acknowledgeReport(_ id: PersistentID) {
        guard world.isCalm || world.chance(3, in: 4) else { return }
        world.after(world.random(0...(world.isCalm ? 20_000_000 : 1_000_000_000))) { [self] in
            if pipe != nil { acknowledge([id]) }
        }
    }

    func acknowledgeForeign(_ ids: [PersistentID]) {
        // Sequence numbers of two partitions may be equal; the full IDs, which sessions compare, are not.
        let sequences = ids.map { SequenceNumber($0.sequence.number ^ 1 << 60) }
        send { .deviceAcknowledged($0, $1, sequences) }
    }

    func setIdle(_ isIdle: Bool) {
        send { .deviceIdleChanged($0, $1, isIdle: isIdle) }
    }

    func send(_ draft: UpstreamDraft) {
        send { id, device in
            var upstream = UpstreamSubmission(
                requester: Requester(connection: id, requestID: UInt32(draft.number)), device: device,
                sender: draft.sender,
                isFCMDomain: false, category: draft.category, messageID: draft.messageID,
                persistentID: draft.persistentID, lifetimeSeconds: draft.lifetimeSeconds, body: draft.content)
            upstream.group = draft.group
            upstream.sentAt = world.clock.honest
            return .upstreamReceived(upstream)
        }
    }

    func close() {
        pipe?.closeByClient()
        pipe = nil
    }

    func endInput() { pipe?.endInput() }

    func cut() { pipe?.cut() }

    func received(_ cargo: Cargo) {
        guard case .command(let command) = cargo else { return }
        switch command {
        case .device(.loginAccepted): client.receive(.loggedIn, self)
        case .device(.loginRefused): client.receive(.refusedLogin, self)
        case .device(.deliver(let delivery)):
            let message = delivery.message
            if message.kind.isReport {
                client.receive(.returned(messageID: message.messageID), self)
                return acknowledgeReport(message.persistentID)
            }
            var delivered = DeliveredMessage(from: delivery.from)
            delivered.id = delivery.isStored ? message.persistentID : nil
            switch message.kind {
            case .message: delivered.number = Number.of(message.body)
            case .discardedMarker(let count): delivered.deleted = count
            case .sendError: break
            }
            client.receive(.message(delivered), self)
        case .device(.upstreamStored(let requestID)):
            client.receive(.upstreamStored(number: Int(requestID)), self)
        case .device(.upstreamRefused(let requestID, let refusal)):
            client.receive(
                .upstreamRefused(number: Int(requestID), refusal, mayRetry: refusal == .unavailable), self)
        default: break
        }
    }

    func lost() {
        pipe = nil
        client.receive(.lost, self)
    }
}
