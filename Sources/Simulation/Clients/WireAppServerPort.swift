import Basics
import ClientProtocol
import Delivery
import Sessions
import Wire

/// An app server that speaks XMPP: bytes in pieces of any size, with the payloads of the tools.
///
/// It has a stream implementation of its own, not that of `AppServerMachine`: it logs in by SCRAM or with a wrong key, resumes lost
/// streams, and usually reads with `HastyReader`.
final class WireAppServerPort: AppServerPort, ClientEnd {
    private enum Stage {
        case opened
        case authenticating
        case reopened
        case binding
        case resuming
        case enabling
        case ready
    }

    private unowned let client: AppServerClient
    private unowned let link: AppServerClient.Link
    private let world: World
    private var pipe: Pipe?
    private var stage = Stage.opened
    private var reader = StanzaReader()
    /// Replaces the strict reader on most connections.
    private var hasty: HastyReader?
    var end: ServerEnd? { pipe?.serverEnd }
    private var scram: SCRAMLogin?
    private var managed: ManagedStream?
    /// Whether the stream was closed, so that it cannot be resumed.
    private var isEnded = false
    var stream: ManagedStream? { isEnded || managed?.id == nil ? nil : managed }
    /// Received messages to acknowledge.
    private var unanswered: [UpstreamHandle: ReceivedUpstream] = [:]

    init?(_ world: World, _ client: AppServerClient, _ link: AppServerClient.Link) {
        self.world = world
        self.client = client
        self.link = link
        hasty = link.number % 6 == 0 ? nil : HastyReader()
        guard let server = world.server else { return nil }
        let pipe = world.openPipe(self)
        pipe.attach(server.accept { world.makeAppServerEnd($0, pipe) })
        self.pipe = pipe
    }

    // MARK: Sending

    private func transmit(_ text: String) { pipe?.sendToServer(.bytes(Array(text.utf8))) }

    private func transmitHeader() {
        transmit(
            "<stream:stream to=\"gcm.googleapis.com\" version=\"1.0\" xmlns=\"jabber:client\" "
                + "xmlns:stream=\"http://etherx.jabber.org/streams\">")
    }

    private func transmit(_ draft: DownstreamDraft? = nil, payload: (inout ByteBuffer) -> Void) {
        managed?.recordSent(draft)
        var stanza = ByteBuffer()
        stanza.append("<message id=\"\"><gcm xmlns=\"google:mobile:data\">")
        payload(&stanza)
        stanza.append("</gcm></message>")
        pipe?.sendToServer(.bytes(stanza.copied()))
    }

    func login() { transmitHeader() }

    func submit(_ draft: DownstreamDraft) {
        let token =
            draft.topic.map { "/topics/" + String(decoding: $0.bytes, as: UTF8.self) }
            ?? world.token(draft.target)
        var message = Downstream(to: Array(token.utf8), messageID: draft.messageID)
        message.data = [(Array("n".utf8), draft.messageID)]
        message.collapseKey = draft.collapseKey.map { "k\($0)" }
        message.lifetimeSeconds = draft.lifetimeSeconds
        message.wantsReceipt = draft.wantsReceipt
        message.delaysWhileIdle = draft.delaysWhileIdle
        message.isDryRun = draft.isDryRun
        transmit(draft) { message.append(to: &$0) }
    }

    func resolve(_ handle: UpstreamHandle, isRefused: Bool) {
        guard let message = unanswered[handle] else { return }
        transmit { payload in
            guard isRefused else { return message.appendAcknowledgement(to: &payload) }
            let (from, id) = (String(decoding: message.from, as: UTF8.self), message.messageID)
            payload.append(text: "{\"to\":\"\(from)\",\"message_id\":\"")
            payload.append(id)
            payload.append("\",\"message_type\":\"nack\"}")
        }
    }

    func acknowledgeUnknown() {
        var never = ReceivedUpstream()
        (never.from, never.messageID) = (Array("absent".utf8), Array("never".utf8))
        transmit { never.appendAcknowledgement(to: &$0) }
    }

    func endInput() {
        if world.chance(1, in: 2) { endStream() }
        pipe?.endInput()
    }

    private func endStream() {
        transmit("</stream:stream>")
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
        do throws(XMLFailure) {
            try read(bytes.raw)
        } catch { world.fail("wire", "the server sent invalid XML: \(error)") }
    }

    private func read(_ bytes: RawSpan) throws(XMLFailure) {
        var offset = 0
        while pipe != nil {
            switch try reader.next(bytes, from: &offset) {
            case .incomplete: return
            case .opened: break
            case .closed: isEnded = true
            case .element(let element): receive(element)
            case .message(let message):
                receive(message.payload(in: bytes), isError: message.isError || message.form != .usable)
            }
        }
    }

    private func readHastily(_ bytes: [UInt8]) {
        hasty?.append(bytes)
        while pipe != nil, let found = hasty?.next() {
            switch found {
            case .opened: break
            case .closed: isEnded = true
            case .element(let element): receive(element)
            case .message(let payload, let isError): receive(payload.raw, isError: isError)
            }
        }
    }

    private func receive(_ payload: RawSpan, isError: Bool) {
        if managed?.id != nil { managed?.received &+= 1 }
        if isError {
            world.fail("wire", "the server answered a valid stanza with a stanza error")
        } else {
            receive(AppServerEvent(payload: payload))
        }
    }

    private func receive(_ element: Element) {
        switch (element.name, stage) {
        case ("features", .opened):
            stage = .authenticating
            transmitAuth()
        case ("challenge", .authenticating):
            if let text = scram?.answer(to: element.text) {
                transmit("<response xmlns=\"urn:ietf:params:xml:ns:xmpp-sasl\">\(text)</response>")
            } else {
                world.fail("logins", "the server sent an invalid challenge")
            }
        case ("success", .authenticating):
            if let scram {
                world.reached(scram.mechanism.hasSuffix("PLUS") ? .boundLogin : .provenLogin)
                if !link.isWrong, !scram.accepts(element.text) {
                    world.fail("logins", "the server did not prove that it has the key")
                }
            }
            if link.isWrong { world.fail("logins", "a wrong key was accepted") }
            stage = .reopened
            if hasty == nil { reader.restart() }
            transmitHeader()
        case ("failure", .authenticating):
            client.receive(.refusedLogin, link)
            link.isWrong = false
            transmitAuth()
        case ("features", .reopened):
            guard let stream = link.resuming, let id = stream.id else { return bind() }
            stage = .resuming
            transmit("<resume xmlns=\"urn:xmpp:sm:3\" previd=\"\(id)\" h=\"\(stream.received)\"/>")
        case ("resumed", .resuming):
            managed = client.resumed(link, element["h"].flatMap { UInt32($0) } ?? .max)
            ready()
        case ("failed", .resuming):
            client.notResumed(link)
            bind()
        case ("iq", .binding):
            guard world.settings.managesStreams, world.chance(3, in: 4) else { return ready() }
            stage = .enabling
            managed = ManagedStream(process: world.boots)
            transmit("<enable xmlns=\"urn:xmpp:sm:3\" resume=\"true\"/>")
        case ("enabled", .enabling):
            managed?.id = element["id"]
            ready()
        case ("r", _): transmit("<a xmlns=\"urn:xmpp:sm:3\" h=\"\(managed?.received ?? 0)\"/>")
        default: break
        }
    }

    private func bind() {
        stage = .binding
        transmit("<iq type=\"set\" id=\"b\"><bind xmlns=\"urn:ietf:params:xml:ns:xmpp-bind\"/></iq>")
    }

    private func ready() {
        stage = .ready
        client.receive(.loggedIn, link)
    }

    private func transmitAuth() {
        let namespace = "xmlns=\"urn:ietf:params:xml:ns:xmpp-sasl\""
        scram = nil
        if world.settings.scram != .none, world.chance(2, in: 3) {
            let isBound = world.settings.scram == .bound && world.chance(1, in: 2)
            let login = SCRAMLogin(
                user: "\(client.sender.number)@gcm.googleapis.com", password: client.password(link),
                nonce: UInt64(world.random(0...(.max))), binding: isBound ? SimulatedHost.binding : nil)
            scram = login
            return transmit("<auth mechanism=\"\(login.mechanism)\" \(namespace)>\(login.first)</auth>")
        }
        let login = AppServerLogin(sender: client.sender, key: Redacted(client.password(link)))
        transmit("<auth mechanism=\"PLAIN\" \(namespace)>\(login.plain)</auth>")
    }

    private func receive(_ event: AppServerEvent) {
        switch event {
        case .acknowledged(let id, let token): answered(id, .acknowledged(canonical: canonical(token)))
        case .refused(let id, let error, _): answered(id, .refused(Self.refusal(error)))
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
        default: world.fail("wire", "the server sent \(event)")
        }
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

    private static func refusal(_ error: String) -> Refusal {
        switch error {
        case "SERVICE_UNAVAILABLE": .unavailable
        case "DEVICE_UNREGISTERED": .notRegistered
        case "CONNECTION_DRAINING": .draining
        case "DEVICE_MESSAGE_RATE_EXCEEDED": .deviceRateExceeded
        case "BAD_REGISTRATION": .senderMismatch
        case "INVALID_JSON": .repeatedMessageID
        default: .internalError
        }
    }
}
