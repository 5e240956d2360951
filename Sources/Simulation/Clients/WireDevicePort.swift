import Basics
import ClientProtocol
import Delivery
import Sessions
import Wire

/// A device that speaks MCS by the machine of the tools: frames in any pieces, stream acks or selective ones.
///
/// The machine acknowledges nothing by itself, so that the device may do so late, twice, for another device, or never.
final class WireDevicePort: DevicePort, ClientEnd {
    /// A message on its way to the server.
    private struct Upstream {
        var number: Int
        var messageID: [UInt8]
        var persistentID: [UInt8]
    }

    private unowned let client: DeviceClient
    private let world: World
    private var pipe: Pipe?
    private var machine: DeviceMachine
    private var onTheWay: [Upstream] = []
    /// Whether it acknowledges by counts, which say that all before has come, or by ids.
    private let usesStreamAcks: Bool

    init?(_ world: World, _ client: DeviceClient) {
        self.world = world
        self.client = client
        usesStreamAcks = client.number % 2 == 0
        machine = Self.machine(DeviceIdentity(device: DeviceID(0), token: 0), [])
        guard let server = world.server else { return nil }
        let pipe = world.openPipe(self)
        pipe.attach(server.accept { world.makeDeviceEnd($0, pipe) })
        self.pipe = pipe
    }

    private static func machine(_ identity: DeviceIdentity, _ received: [PersistentID]) -> DeviceMachine {
        DeviceMachine(
            identity: ClientProtocol.DeviceIdentity(
                androidID: identity.device.number, securityToken: Redacted(identity.token)),
            received: received.map { Array($0.text.utf8) }, acknowledgement: .manual)
    }

    // MARK: Speaking

    private func say(_ write: (inout DeviceMachine, inout Outbox) -> Void) {
        var out = Outbox()
        write(&machine, &out)
        if !out.isEmpty { pipe?.sendToServer(.bytes(out.bytes.copied())) }
    }

    func login(_ identity: DeviceIdentity, received: [PersistentID]) {
        machine = Self.machine(identity, received)
        say { $0.open(out: &$1) }
    }

    func acknowledge(_ ids: [PersistentID]) {
        if usesStreamAcks {
            client.acknowledgedAll()
            say { $0.acknowledgeAll(out: &$1) }
        } else {
            acknowledgeForeign(ids)
        }
    }

    func acknowledgeForeign(_ ids: [PersistentID]) {
        say { $0.acknowledge(ids.map { Array($0.text.utf8) }, out: &$1) }
    }

    func setIdle(_ isIdle: Bool) {
        say {
            $0.isIdle = isIdle
            $0.heartbeat(out: &$1)
        }
    }

    func send(_ draft: UpstreamDraft) {
        var message = ClientProtocol.Upstream(
            sender: draft.sender, category: draft.category, messageID: draft.messageID,
            persistentID: draft.persistentID)
        message.group = draft.group.map {
            world.sessionSettings.value.seal.groupKey(of: $0) + Array("@gcm.googleapis.com".utf8)
        }
        message.lifetimeSeconds = draft.lifetimeSeconds
        message.data = [(Array("n".utf8), draft.content)]
        say { $0.send(message, now: world.clock.honest, out: &$1) }
        onTheWay.append(
            Upstream(
                number: draft.number, messageID: draft.messageID, persistentID: draft.persistentID))
    }

    func close() {
        if world.chance(1, in: 2) { say { $0.close(out: &$1) } }
        pipe?.closeByClient()
        pipe = nil
    }

    func endInput() { pipe?.endInput() }

    func cut() { pipe?.cut() }

    func lost() {
        pipe = nil
        client.hear(.lost, self)
    }

    // MARK: Hearing

    func received(_ cargo: Cargo) {
        guard case .bytes(let bytes) = cargo else { return }
        var events: [ClientProtocol.DeviceEvent] = []
        say { $0.receive(bytes.raw, out: &$1, events: &events) }
        for event in events where pipe != nil { hear(event) }
    }

    private func hear(_ event: ClientProtocol.DeviceEvent) {
        switch event {
        case .loggedIn: client.hear(.loggedIn, self)
        case .loginRefused: client.hear(.refusedLogin, self)
        case .message(let message): hear(message)
        case .upstreamStored(let id): stored(id)
        case .heartbeat, .idleAsked, .closeRequested, .closed: break
        case .unexpected(let what): world.fail("wire", "the server sent \(what)")
        }
    }

    private func hear(_ message: DeviceMessage) {
        guard !message.isRefusal, !message.isReturn else { return hear(report: message) }
        var heard = HeardMessage(from: message.from)
        heard.id = PersistentID(text: message.persistentID.raw)
        if heard.id == nil, !message.persistentID.isEmpty {
            world.fail("wire", "a persistent id that is none")
        }
        heard.number = message["n"].flatMap { Number.of($0) }
        if message.isDeletedMarker {
            heard.deleted = message["total_deleted"].flatMap { Int(String(decoding: $0, as: UTF8.self)) }
        }
        client.hear(.message(heard), self)
    }

    /// A message of this device was refused, or came back.
    private func hear(report: DeviceMessage) {
        let messageID = report["message_id"] ?? []
        if report.persistentID != messageID { world.fail("wire", "a report under another id") }
        if report.isReturn {
            client.hear(.returned(messageID: messageID), self)
            acknowledgeReport(messageID)
        } else if let at = onTheWay.firstIndex(where: { $0.messageID == messageID }) {
            let word = String(decoding: report["error"] ?? [], as: UTF8.self)
            let refusal = UpstreamRefusal(rawValue: word) ?? .unavailable
            let number = onTheWay.remove(at: at).number
            client.hear(.upstreamRefused(number: number, refusal, mayRetry: false), self)
        }
    }

    /// Mostly: what is not acknowledged comes again.
    private func acknowledgeReport(_ messageID: [UInt8]) {
        guard world.isCalm || world.chance(3, in: 4) else { return }
        world.after(world.random(0...(world.isCalm ? 20_000_000 : 1_000_000_000))) { [self] in
            // On a connection that is replaced by now others may have come that the device has not looked at.
            guard pipe != nil, client.port === self else { return }
            guard !usesStreamAcks else { return acknowledge([]) }
            say { $0.acknowledge([messageID], out: &$1) }
        }
    }

    /// The server has stored a message: the first with this id that was sent and not yet reported.
    private func stored(_ persistentID: [UInt8]) {
        guard let at = onTheWay.firstIndex(where: { $0.persistentID == persistentID }) else {
            return world.fail("wire", "the server has stored a message that is not on its way")
        }
        client.hear(.upstreamStored(number: onTheWay.remove(at: at).number), self)
    }
}
