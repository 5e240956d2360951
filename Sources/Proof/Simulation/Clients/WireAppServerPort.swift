import Basics
import ClientProtocol
import Delivery
import Sessions
import Wire

/// An app server that speaks XMPP with the machine of the tools: bytes in pieces of any size.
///
/// It proves its key in every way, tries wrong keys first, resumes lost streams, and usually reads with `HastyReader`. The machine
/// acknowledges nothing by itself, so that the app server may do so late, twice, or for messages that it was never sent.
final class WireAppServerPort: AppServerPort, ClientEnd {
    private unowned let client: AppServerClient
    private unowned let link: AppServerClient.Link
    private let world: World
    private var pipe: Pipe?
    /// `nil` before the login.
    private var machine: AppServerMachine?
    /// Replaces the strict reader of the machine on most connections.
    private var hasty: HastyReader?
    var end: ServerEnd? { pipe?.serverEnd }
    /// The rule that the current login reaches, unless it is by PLAIN.
    private var provenRule: Rule?
    private var managed: ManagedStream?
    /// The server process that it is connected to.
    private let process: Int
    /// Whether the stream was closed, so that it cannot be resumed.
    private var isEnded = false
    var stream: ManagedStream? {
        guard !isEnded, var managed, let position = machine?.stream, position.id != nil else { return nil }
        managed.position = position
        return managed
    }
    /// Received messages to acknowledge.
    private var unanswered: [UpstreamHandle: ReceivedUpstream] = [:]

    init?(_ world: World, _ client: AppServerClient, _ link: AppServerClient.Link) {
        self.world = world
        self.client = client
        self.link = link
        process = world.boots
        hasty = link.number % 6 == 0 ? nil : HastyReader()
        guard let server = world.server else { return nil }
        let pipe = world.openPipe(self)
        pipe.attach(server.accept { world.makeAppServerEnd($0, pipe) })
        self.pipe = pipe
    }

    // MARK: Sending

    /// Lets the machine write, and sends each record that it has written.
    private func transmit(_ write: (inout AppServerMachine, inout Outbox) -> Void) {
        guard var machine = self.machine.take() else { return }
        var out = Outbox()
        write(&machine, &out)
        self.machine = consume machine
        if !out.isEmpty { pipe?.sendToServer(.bytes(out.bytes.copied())) }
    }

    func login() {
        machine = AppServerMachine(login: nextLogin())
        transmit { $0.open(out: &$1) }
    }

    /// The next attempt to log in, by any mechanism that the world has.
    private func nextLogin() -> AppServerLogin {
        var login = AppServerLogin(sender: client.sender, key: Redacted(client.password(link)))
        login.resource = ""
        login.acknowledges = false
        login.endsWhenRefused = false
        login.resumes = link.resuming?.position
        login.managesStream = world.settings.managesStreams && world.chance(3, in: 4)
        provenRule = nil
        if world.settings.scram != .none, world.chance(2, in: 3) {
            let isBound = world.settings.scram == .bound && world.chance(1, in: 2)
            provenRule = isBound ? .boundLogin : .provenLogin
            login.mechanism = .scram(
                SCRAMClient(
                    functions: SimulatedHost.scramClient, nonce: "c\(UInt64(world.random(0...(.max))))",
                    binding: isBound ? SimulatedHost.binding : nil))
        }
        return login
    }

    func submit(_ draft: DownstreamDraft) {
        var message = Downstream(to: [], messageID: draft.messageID)
        switch draft.target {
        case .registration(let name): message.to = Array(world.token(name).utf8)
        case .topic(.topic(let name)): message.to = Array("/topics/".utf8) + name.bytes
        case .topic(let condition): message.condition = condition.text
        }
        message.data = [(Array("n".utf8), draft.messageID)]
        message.collapseKey = draft.collapseKey.map { "k\($0)" }
        message.lifetimeSeconds = draft.lifetimeSeconds
        message.sendAt = draft.sendAt
        message.replaces = draft.replaces?.id
        message.wantsReceipt = draft.wantsReceipt
        message.delaysWhileIdle = draft.delaysWhileIdle
        message.isDryRun = draft.isDryRun
        transmit { $0.send(message, out: &$1) }
        if let stream = machine?.stream { managed?.recordSent(draft, number: stream.sent) }
    }

    func resolve(_ handle: UpstreamHandle, isRefused: Bool) {
        guard let message = unanswered[handle] else { return }
        transmit {
            if isRefused { $0.refuse(message, out: &$1) } else { $0.acknowledge(message, out: &$1) }
        }
    }

    func acknowledgeUnknown() {
        var never = ReceivedUpstream()
        (never.from, never.messageID) = (Array("absent".utf8), Array("never".utf8))
        transmit { $0.acknowledge(never, out: &$1) }
    }

    func endInput() {
        if world.chance(1, in: 2) { endStream() }
        pipe?.endInput()
    }

    private func endStream() {
        transmit { $0.end(out: &$1) }
        isEnded = true
    }

    func close() {
        if world.chance(1, in: 2) { endStream() }
        pipe?.closeByClient()
        pipe = nil
    }

    func cut() { pipe?.cut() }

    func lost() {
        pipe = nil
        client.receive(.lost, link)
    }

    // MARK: Receiving

    func received(_ cargo: Cargo) {
        guard case .bytes(let bytes) = cargo else { return }
        guard hasty == nil else { return readHastily(bytes) }
        process { $0.receive(bytes.raw, out: &$1, events: &$2) }
    }

    /// Lets the machine process input, and handles its events.
    private func process(
        _ input: (inout AppServerMachine, inout Outbox, inout [AppServerEvent]) -> Void
    ) {
        var events: [AppServerEvent] = []
        transmit { input(&$0, &$1, &events) }
        for event in events where pipe != nil { receive(event) }
    }

    private func readHastily(_ bytes: [UInt8]) {
        hasty?.append(bytes)
        while pipe != nil, let found = hasty?.next() {
            switch found {
            case .opened: break
            case .closed: process { $0.receiveEnd(out: &$1, events: &$2) }
            case .element(let element): process { $0.receive(element, out: &$1, events: &$2) }
            case .message(_, isError: true): receive(.stanzaError(id: "", text: ""))
            case .message(let payload, isError: false):
                process { $0.receive(payload: payload.raw, out: &$1, events: &$2) }
            }
        }
    }

    private func receive(_ event: AppServerEvent) {
        switch event {
        case .ready: ready()
        case .resumed(let handled): managed = client.resumed(link, handled)
        case .notResumed: client.notResumed(link)
        case .loginFailed:
            client.receive(.refusedLogin, link)
            link.isWrong = false
            let login = nextLogin()
            transmit { $0.authenticate(login, out: &$1) }
        case .acknowledged(let id, let token): answered(id, .acknowledged(canonical: canonical(token)))
        case .refused(let id, let error, let description):
            answered(id, .refused(Self.refusal(error, description)))
        case .receipt(let receipt):
            guard let number = receipt["original_message_id"].flatMap({ Number.of(Array($0.utf8)) }) else {
                return world.fail("wire", "a receipt has no original message ID")
            }
            client.receive(.receipt(number: number, handle: handle(receipt, number)), link)
        case .upstream(let message):
            guard let number = message["n"].flatMap({ Number.of(Array($0.utf8)) }),
                world.checkers.truth.upstream[number]?.draft.messageID == message.messageID
            else {
                return world.fail("wire", "an upstream message that was not sent: \(message.messageID)")
            }
            client.receive(.upstream(number: number, handle: handle(message, number)), link)
        case .draining: client.receive(.draining, link)
        case .streamEnded: isEnded = true
        // The end of the connection follows.
        case .streamError: break
        case .stanzaError: world.fail("wire", "the server answered a valid stanza with a stanza error")
        case .unexpected, .closed: world.fail("wire", "the server sent \(event)")
        }
    }

    private func ready() {
        if let provenRule { world.reached(provenRule) }
        if managed == nil, machine?.stream != nil { managed = ManagedStream(process: process) }
        client.receive(.loggedIn, link)
    }

    private func handle(_ message: ReceivedUpstream, _ number: Int) -> UpstreamHandle {
        let handle = UpstreamHandle.messageID(
            message.messageID, from: message.from, number: number)
        unanswered[handle] = message
        return handle
    }

    private func canonical(_ token: [UInt8]?) -> RegistrationName? {
        guard let token else { return nil }
        let name = world.sessionSettings.value.seal.name(of: token.raw)
        if name == nil { world.fail("wire", "an invalid token") }
        return name
    }

    private func answered(_ id: [UInt8], _ answer: Answer) {
        guard let number = Number.of(id) else {
            return world.fail("wire", "an unexpected answer to '\(String(decoding: id, as: UTF8.self))'")
        }
        managed?.resolve(number)
        client.receive(.answer(number: number, answer), link)
    }

    private static func refusal(_ error: String, _ description: String) -> Refusal {
        switch error {
        case "INVALID_JSON" where description.contains("send_at"):
            .conflict(field: "send_at", reason: "")
        case "SERVICE_UNAVAILABLE": .unavailable
        case "DEVICE_UNREGISTERED": .notRegistered
        case "CONNECTION_DRAINING": .draining
        case "DEVICE_MESSAGE_RATE_EXCEEDED": .deviceRateExceeded
        case "BAD_REGISTRATION": .senderMismatch
        case "INVALID_JSON": .repeatedMessageID
        case "MESSAGE_SENT": .messageSent
        case "UNKNOWN_MESSAGE": .unknownMessage
        default: .internalError
        }
    }
}
