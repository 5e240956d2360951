import Basics
import Delivery
import Sessions
import Wire

/// An app server that speaks XMPP: octets in any pieces, stanzas as its own library would write them.
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
    /// Reads in its place, on most connections.
    private var hasty: HastyReader?
    var end: ServerEnd? { pipe?.serverEnd }
    private var scram: SCRAMLogin?
    private var managed: ManagedStream?
    /// Whether the stream was ended, so that nothing is left to go on with.
    private var isEnded = false
    var stream: ManagedStream? { isEnded || managed?.id == nil ? nil : managed }
    /// Who sent what is to be answered.
    private var origins: [UpstreamHandle: String] = [:]

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

    // MARK: Speaking

    private func say(_ text: String) { pipe?.sendToServer(.bytes(Array(text.utf8))) }

    private func sayHeader() {
        say(
            "<stream:stream to=\"gcm.googleapis.com\" version=\"1.0\" xmlns=\"jabber:client\" "
                + "xmlns:stream=\"http://etherx.jabber.org/streams\">")
    }

    private func say(payload: String, _ draft: DownstreamDraft? = nil) {
        managed?.note(draft)
        say("<message id=\"\"><gcm xmlns=\"google:mobile:data\">\(payload)</gcm></message>")
    }

    func login() { sayHeader() }

    func submit(_ draft: DownstreamDraft) {
        let token =
            draft.topic.map { "/topics/" + String(decoding: $0.octets, as: UTF8.self) }
            ?? world.token(draft.target)
        var payload =
            "{\"to\":\"\(token)\",\"message_id\":\"m\(draft.number)\",\"data\":{\"n\":\"m\(draft.number)\"},"
            + "\"time_to_live\":\(draft.lifetimeSeconds)"
        if let key = draft.collapseKey { payload += ",\"collapse_key\":\"k\(key)\"" }
        if draft.wantsReceipt { payload += ",\"delivery_receipt_requested\":true" }
        if draft.delaysWhileIdle { payload += ",\"delay_while_idle\":true" }
        if draft.isDryRun { payload += ",\"dry_run\":true" }
        say(payload: payload + "}", draft)
    }

    func settle(_ handle: UpstreamHandle, isRefused: Bool) {
        guard case .messageID(let id, _) = handle, let origin = origins[handle] else { return }
        let type = isRefused ? "nack" : "ack"
        say(
            payload: "{\"to\":\"\(origin)\",\"message_id\":\"\(String(decoding: id, as: UTF8.self))\","
                + "\"message_type\":\"\(type)\"}")
    }

    func settleUnknown() {
        say(payload: "{\"to\":\"nobody\",\"message_id\":\"never\",\"message_type\":\"ack\"}")
    }

    func endInput() {
        if world.chance(1, in: 2) { endStream() }
        pipe?.endInput()
    }

    private func endStream() {
        say("</stream:stream>")
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
        client.hear(.lost, link)
    }

    // MARK: Hearing

    func received(_ cargo: Cargo) {
        guard case .bytes(let bytes) = cargo else { return }
        guard hasty == nil else { return readHastily(bytes) }
        do throws(XMLFailure) {
            try read(bytes.raw)
        } catch { world.fail("wire", "the server sent XML that cannot be read: \(error)") }
    }

    private func read(_ bytes: RawSpan) throws(XMLFailure) {
        var offset = 0
        while pipe != nil {
            switch try reader.next(bytes, from: &offset) {
            case .incomplete: return
            case .opened: break
            case .closed: isEnded = true
            case .element(let element): hear(element)
            case .message(let message):
                hear(message.payload(in: bytes), isError: message.isError || message.form != .usable)
            }
        }
    }

    private func readHastily(_ bytes: [UInt8]) {
        hasty?.append(bytes)
        while pipe != nil, let found = hasty?.next() {
            switch found {
            case .opened: break
            case .closed: isEnded = true
            case .element(let element): hear(element)
            case .message(let payload, let isError): hear(payload.raw, isError: isError)
            }
        }
    }

    private func hear(_ payload: RawSpan, isError: Bool) {
        if managed?.id != nil { managed?.heard &+= 1 }
        if isError {
            world.fail("wire", "the server answered a good stanza by a stanza error")
        } else if let payload = try? JSONValue(parsing: payload) {
            hear(payload)
        } else {
            world.fail("wire", "the server sent JSON that cannot be read")
        }
    }

    private func hear(_ element: Element) {
        switch (element.name, stage) {
        case ("features", .opened):
            stage = .authenticating
            sayAuth()
        case ("challenge", .authenticating):
            if let text = scram?.answer(to: element.text) {
                say("<response xmlns=\"urn:ietf:params:xml:ns:xmpp-sasl\">\(text)</response>")
            } else {
                world.fail("logins", "a challenge that cannot be read")
            }
        case ("success", .authenticating):
            if let scram {
                world.met(scram.mechanism.hasSuffix("PLUS") ? .boundLogin : .provenLogin)
                if !link.isWrong, !scram.accepts(element.text) {
                    world.fail("logins", "the server does not prove that it knows the key")
                }
            }
            if link.isWrong { world.fail("logins", "a wrong key was accepted") }
            stage = .reopened
            if hasty == nil { reader.restart() }
            sayHeader()
        case ("failure", .authenticating):
            client.hear(.refusedLogin, link)
            link.isWrong = false
            sayAuth()
        case ("features", .reopened):
            guard let stream = link.resuming, let id = stream.id else { return bind() }
            stage = .resuming
            say("<resume xmlns=\"urn:xmpp:sm:3\" previd=\"\(id)\" h=\"\(stream.heard)\"/>")
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
            say("<enable xmlns=\"urn:xmpp:sm:3\" resume=\"true\"/>")
        case ("enabled", .enabling):
            managed?.id = element["id"]
            ready()
        case ("r", _): say("<a xmlns=\"urn:xmpp:sm:3\" h=\"\(managed?.heard ?? 0)\"/>")
        default: break
        }
    }

    private func bind() {
        stage = .binding
        say("<iq type=\"set\" id=\"b\"><bind xmlns=\"urn:ietf:params:xml:ns:xmpp-bind\"/></iq>")
    }

    private func ready() {
        stage = .ready
        client.hear(.loggedIn, link)
    }

    private func sayAuth() {
        let namespace = "xmlns=\"urn:ietf:params:xml:ns:xmpp-sasl\""
        scram = nil
        if world.settings.scram != .none, world.chance(2, in: 3) {
            let isBound = world.settings.scram == .bound && world.chance(1, in: 2)
            let login = SCRAMLogin(
                user: "\(client.sender.number)@gcm.googleapis.com", password: client.password(link),
                nonce: UInt64(world.random(0...(.max))), binding: isBound ? SimulatedHost.binding : nil)
            scram = login
            return say("<auth mechanism=\"\(login.mechanism)\" \(namespace)>\(login.first)</auth>")
        }
        let plain = Base64.text(
            [0] + Array("\(client.sender.number)@gcm.googleapis.com".utf8) + [0] + client.password(link))
        say("<auth mechanism=\"PLAIN\" \(namespace)>\(plain)</auth>")
    }

    private func hear(_ payload: JSONValue) {
        let id = payload["message_id"]?.text ?? ""
        switch payload["message_type"]?.text {
        case "ack": answered(id, .acknowledged(canonical: canonical(payload)))
        case "nack": answered(id, .refused(Self.refusal(payload["error"]?.text ?? "")))
        case "receipt":
            guard let number = Number.of(Array((payload["data"]?["original_message_id"]?.text ?? "").utf8))
            else {
                return world.fail("wire", "a receipt without the id of its message")
            }
            client.hear(.receipt(number: number, handle: handle(id, number, payload)), link)
        case nil:
            guard let number = Number.of(Array((payload["data"]?["n"]?.text ?? "").utf8)),
                world.checkers.truth.upstream[number]?.draft.messageID == Array(id.utf8)
            else {
                return world.fail("wire", "an upstream message that nobody sent: \(id)")
            }
            client.hear(.upstream(number: number, handle: handle(id, number, payload)), link)
        case "control": client.hear(.draining, link)
        case .some(let other): world.fail("wire", "a message of type \(other)")
        }
    }

    private func handle(_ id: String, _ number: Int, _ payload: JSONValue) -> UpstreamHandle {
        let handle = UpstreamHandle.messageID(Array(id.utf8), number: number)
        origins[handle] = payload["from"]?.text ?? ""
        return handle
    }

    private func canonical(_ payload: JSONValue) -> RegistrationName? {
        guard let token = payload["registration_id"]?.text else { return nil }
        let name = world.sessionSettings.value.seal.name(of: Array(token.utf8).raw)
        if name == nil { world.fail("wire", "a token that is none") }
        return name
    }

    private func answered(_ id: String, _ answer: Answer) {
        guard let number = Number.of(Array(id.utf8)) else {
            return world.fail("wire", "an answer to '\(id)'")
        }
        managed?.settle(number)
        client.hear(.answer(number: number, answer), link)
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
