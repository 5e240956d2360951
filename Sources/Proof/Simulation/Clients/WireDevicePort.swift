import Basics
import ClientProtocol
import Delivery
import Sessions

/// A device that speaks MCS with the machine of the tools: frames in pieces of any size, stream acks or selective acks.
///
/// The machine acknowledges nothing by itself, so that the device may do so late, twice, for another device, or never.
final class WireDevicePort: DevicePort, ClientEnd {
    private unowned let client: DeviceClient
    private let world: World
    private var pipe: Pipe?
    /// `nil` before the login.
    private var machine: DeviceMachine?
    /// Unconfirmed upstream messages by their frames; messages of a device may share their IDs.
    private var onTheWay: [Int32: Int] = [:]
    /// Whether it acknowledges by counts, which cover everything before, or by IDs.
    private let usesStreamAcks: Bool

    init?(_ world: World, _ client: DeviceClient) {
        self.world = world
        self.client = client
        usesStreamAcks = client.number % 2 == 0
        guard let server = world.server else { return nil }
        let pipe = world.openPipe(self)
        pipe.attach(server.accept { world.makeDeviceEnd($0, pipe) })
        self.pipe = pipe
    }

    // MARK: Sending

    /// Lets the machine write, and sends what it has written.
    private func transmit(_ write: (inout DeviceMachine, inout Outbox) -> Void) {
        guard var machine = self.machine.take() else { return }
        var out = Outbox()
        write(&machine, &out)
        self.machine = consume machine
        if !out.isEmpty { pipe?.sendToServer(.bytes(out.bytes.copied())) }
    }

    func login(_ identity: DeviceIdentity, received: [PersistentID]) {
        machine = DeviceMachine(
            identity: ClientProtocol.DeviceIdentity(
                androidID: identity.device.number, securityToken: Redacted(identity.token)),
            received: Self.texts(received), acknowledgement: .manual)
        transmit { $0.open(out: &$1) }
    }

    private static func texts(_ ids: [PersistentID]) -> [[UInt8]] { ids.map { Array($0.text.utf8) } }

    func acknowledge(_ ids: [PersistentID]) {
        guard usesStreamAcks else { return acknowledgeForeign(ids) }
        client.acknowledgedAll()
        transmit { $0.acknowledgeAll(out: &$1) }
    }

    func acknowledgeForeign(_ ids: [PersistentID]) {
        transmit { $0.acknowledge(Self.texts(ids), out: &$1) }
    }

    func setIdle(_ isIdle: Bool) {
        transmit {
            $0.isIdle = isIdle
            $0.heartbeat(out: &$1)
        }
    }

    func send(_ draft: UpstreamDraft) {
        var message = Upstream(
            sender: draft.sender, category: draft.category, messageID: draft.messageID,
            persistentID: draft.persistentID)
        message.group = draft.group.map {
            world.sessionSettings.value.seal.groupKey(of: $0) + Array("@gcm.googleapis.com".utf8)
        }
        message.lifetimeSeconds = draft.lifetimeSeconds
        message.data = [(Array("n".utf8), draft.content)]
        transmit { machine, out in
            let frame = machine.send(message, now: world.clock.honest, out: &out)
            onTheWay[frame] = draft.number
        }
    }

    func close() {
        if world.chance(1, in: 2) { transmit { $0.close(out: &$1) } }
        pipe?.closeByClient()
        pipe = nil
    }

    func endInput() { pipe?.endInput() }

    func cut() { pipe?.cut() }

    func lost() {
        pipe = nil
        client.receive(.lost, self)
    }

    // MARK: Receiving

    func received(_ cargo: Cargo) {
        guard case .bytes(let bytes) = cargo else { return }
        var events: [ClientProtocol.DeviceEvent] = []
        transmit { $0.receive(bytes.raw, out: &$1, events: &events) }
        for event in events where pipe != nil { receive(event) }
    }

    private func receive(_ event: ClientProtocol.DeviceEvent) {
        switch event {
        case .loggedIn: client.receive(.loggedIn, self)
        case .loginRefused: client.receive(.refusedLogin, self)
        case .message(let message): receive(message)
        case .upstreamStored(_, let frame?):
            if let number = onTheWay.removeValue(forKey: frame) {
                client.receive(.upstreamStored(number: number), self)
            }
        case .upstreamStored(_, nil):
            world.fail("wire", "upstream messages were acknowledged by their IDs instead of a count")
        case .heartbeat, .idleAsked, .closeRequested, .closed: break
        case .unexpected(let what): world.fail("wire", "the server sent \(what)")
        }
    }

    private func receive(_ message: DeviceMessage) {
        guard !message.isRefusal, !message.isReturn else { return receive(report: message) }
        var delivered = DeliveredMessage(from: message.from)
        delivered.id = PersistentID(text: message.persistentID.raw)
        if delivered.id == nil, !message.persistentID.isEmpty {
            world.fail("wire", "an invalid persistent ID")
        }
        delivered.number = message["n"].flatMap { Number.of($0) }
        if message.isDeletedMarker {
            delivered.deleted = message["total_deleted"].flatMap { Int(String(decoding: $0, as: UTF8.self)) }
        }
        client.receive(.message(delivered), self)
    }

    /// Handles that a message of this device was refused, or has expired.
    private func receive(report: DeviceMessage) {
        let messageID = report["message_id"] ?? []
        if report.persistentID != messageID {
            world.fail("wire", "a report has another persistent ID than its message")
        }
        if report.isReturn {
            client.receive(.returned(messageID: messageID), self)
            acknowledgeReport(messageID)
        } else if let number = report.refusedFrame.flatMap({ onTheWay.removeValue(forKey: $0) }) {
            let word = String(decoding: report["error"] ?? [], as: UTF8.self)
            let refusal = UpstreamRefusal(rawValue: word) ?? .unavailable
            client.receive(.upstreamRefused(number: number, refusal, mayRetry: false), self)
        }
    }

    /// Acknowledges a report with some probability: an unacknowledged one is sent again.
    private func acknowledgeReport(_ messageID: [UInt8]) {
        guard world.isCalm || world.chance(3, in: 4) else { return }
        world.after(world.random(0...(world.isCalm ? 20_000_000 : 1_000_000_000))) { [self] in
            // On a connection that has been replaced, others may have arrived that the device has not processed.
            guard pipe != nil, client.port === self else { return }
            guard !usesStreamAcks else { return acknowledge([]) }
            transmit { $0.acknowledge([messageID], out: &$1) }
        }
    }
}
