public import Basics
public import Wire

/// From the stream's first features to the bound or resumed stream (ccs-xmpp 1.3 to 1.6, 1.15).
extension AppServerMachine {
    private static var sasl: StaticString { "urn:ietf:params:xml:ns:xmpp-sasl" }

    /// Processes an element, for an owner that parses the stream itself; `receive(_:out:events:)` parses it.
    public mutating func receive(
        _ element: Element, out: inout Outbox, events: inout [AppServerEvent]
    ) {
        switch (element.name, stage) {
        case (_, .ended): return
        case ("features", .opened): writeAuth(&out)
        case ("challenge", .authenticating(let client?)): answer(element.text, client, &out, &events)
        case ("success", .authenticating(let client)):
            if let client, !client.accepts(element.text) { return distrust(&out, &events) }
            stage = .reopened
            reader.restart()
            appendHeader(&out)
        case ("failure", .authenticating):
            events.append(.loginFailed(condition: element.children.first?.name ?? ""))
            if login.endsWhenRefused { end(out: &out) }
        case ("features", .reopened):
            if let position = login.resumes, let id = position.id {
                resume(position, id, &out)
            } else {
                bind(&out)
            }
        case ("iq", .binding) where element["id"] == "bind":
            jid = element.child("bind", Namespace.bind)?.child("jid", Namespace.bind)?.text ?? ""
            if login.managesStream { enable(&out) } else { becomeReady(&events) }
        case ("error", _) where element.namespace == Namespace.streams:
            events.append(.streamError(condition: element.children.first?.name ?? ""))
        default:
            guard manage(element, &out, &events) else {
                return events.append(.unexpected("<\(element.name)>"))
            }
        }
    }

    // MARK: SASL

    /// Logs in again after the server has refused the first login (`AppServerLogin.endsWhenRefused`).
    public mutating func authenticate(_ login: AppServerLogin, out: inout Outbox) {
        guard case .authenticating = stage else { return }
        self.login = login
        writeAuth(&out)
    }

    private mutating func writeAuth(_ out: inout Outbox) {
        switch login.mechanism {
        case .plain:
            stage = .authenticating(nil)
            appendAuth("PLAIN", login.plain, &out)
        case .scram(let client):
            stage = .authenticating(client)
            appendAuth(client.mechanism, client.first(login), &out)
        }
    }

    private func appendAuth(_ mechanism: String, _ text: String, _ out: inout Outbox) {
        out.bytes.append("<auth mechanism=\"")
        out.bytes.append(text: mechanism)
        out.bytes.append("\" xmlns=\"")
        out.bytes.append(Self.sasl)
        out.bytes.append("\">")
        out.bytes.append(text: text)
        out.bytes.append("</auth>")
        out.endRecord()
    }

    private mutating func answer(
        _ challenge: String, _ client: SCRAMClient, _ out: inout Outbox, _ events: inout [AppServerEvent]
    ) {
        var client = client
        guard let text = client.answer(to: challenge, login) else {
            events.append(.unexpected("an invalid SCRAM challenge"))
            return end(out: &out)
        }
        stage = .authenticating(client)
        out.bytes.append("<response xmlns=\"")
        out.bytes.append(Self.sasl)
        out.bytes.append("\">")
        out.bytes.append(text: text)
        out.bytes.append("</response>")
        out.endRecord()
    }

    /// Ends the stream of a server that has not proved that it has the key.
    private mutating func distrust(_ out: inout Outbox, _ events: inout [AppServerEvent]) {
        events.append(.unexpected("a success without a proof that the server has the key"))
        end(out: &out)
    }

    // MARK: Binding and resumption

    private mutating func bind(_ out: inout Outbox) {
        stage = .binding
        out.bytes.append("<iq type=\"set\" id=\"bind\"><bind xmlns=\"urn:ietf:params:xml:ns:xmpp-bind\">")
        if !login.resource.isEmpty {
            out.bytes.append("<resource>")
            out.bytes.appendText(login.resource)
            out.bytes.append("</resource>")
        }
        out.bytes.append("</bind></iq>")
        out.endRecord()
    }

    private mutating func enable(_ out: inout Outbox) {
        stage = .enabling
        stream = StreamPosition(jid: jid)
        out.bytes.append("<enable xmlns=\"urn:xmpp:sm:3\" resume=\"true\"/>")
        out.endRecord()
    }

    private mutating func resume(_ position: StreamPosition, _ id: String, _ out: inout Outbox) {
        stage = .resuming(position)
        out.bytes.append("<resume xmlns=\"urn:xmpp:sm:3\" previd=\"")
        out.bytes.appendAttribute(id)
        out.bytes.append("\" h=\"")
        out.bytes.append(decimal: UInt64(position.received))
        out.bytes.append("\"/>")
        out.endRecord()
    }

    private mutating func becomeReady(_ events: inout [AppServerEvent]) {
        stage = .ready
        events.append(.ready(jid: jid))
    }

    /// Handles an element of stream management. Returns whether it was expected.
    private mutating func manage(
        _ element: Element, _ out: inout Outbox, _ events: inout [AppServerEvent]
    ) -> Bool {
        switch (element.name, stage) {
        case ("enabled", .enabling):
            stream?.id = element["id"]
            becomeReady(&events)
        case ("failed", .enabling):
            stream = nil
            becomeReady(&events)
        case ("resumed", .resuming(var position)):
            guard let handled = element["h"].flatMap({ UInt32($0) }) else { return false }
            position.sent = handled
            stream = position
            jid = position.jid
            events.append(.resumed(handled: handled))
            becomeReady(&events)
        case ("failed", .resuming):
            events.append(.notResumed)
            bind(&out)
        case ("r", _):
            guard let stream else { return false }
            StreamManagement.appendAnswer(handled: stream.received, to: &out.bytes)
            out.endRecord()
        default: return false
        }
        return true
    }
}
