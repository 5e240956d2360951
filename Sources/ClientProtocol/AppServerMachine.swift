public import Basics
import Wire

/// The app server's side of one stream: bytes in, events and bytes out. It has no socket and no clock.
///
/// The counterpart of the server's session, used in the same way: each stanza is one record of the outbox.
public struct AppServerMachine: ~Copyable {
    private enum Stage {
        case idle, opened, authenticating, reopened, binding, ready, ended
    }

    private let login: AppServerLogin
    private var reader = StanzaReader()
    private var stage = Stage.idle
    private var endIsSent = false
    /// Whether messages may be sent.
    public var isReady: Bool { stage == .ready }
    /// Messages sent and neither acknowledged nor refused.
    public private(set) var outstanding = 0
    /// Whether `CONNECTION_DRAINING` was received.
    public private(set) var isDraining = false

    /// Creates a machine for one connection.
    public init(login: AppServerLogin) { self.login = login }

    /// Starts the stream; call when the connection is open.
    public mutating func open(out: inout Outbox) {
        stage = .opened
        appendHeader(&out)
    }

    /// Processes bytes from the server.
    public mutating func receive(
        _ bytes: RawSpan, out: inout Outbox, events: inout [AppServerEvent]
    ) {
        guard stage != .ended else { return }
        if stage == .ready, reader.heldBytes == 0, let payload = Self.answer(in: bytes) {
            return handle(AppServerEvent(payload: bytes.extracting(payload)), &out, &events)
        }
        do {
            try read(bytes, &out, &events)
        } catch {
            stage = .ended
            events.append(.unexpected("malformed XML stream"))
        }
    }

    private mutating func read(
        _ bytes: RawSpan, _ out: inout Outbox, _ events: inout [AppServerEvent]
    ) throws(XMLFailure) {
        var offset = 0
        while stage != .ended {
            switch try reader.next(bytes, from: &offset) {
            case .incomplete: return
            case .opened: break
            case .message(let message):
                if message.isError || message.form != .usable {
                    outstanding = max(0, outstanding - 1)
                    let text = Self.errorText(in: bytes)
                    events.append(.stanzaError(id: message.id(in: bytes) ?? "", text: text))
                } else {
                    let event = AppServerEvent(payload: message.payload(in: bytes))
                    handle(event, &out, &events)
                }
            case .element(let element): handle(element, &out, &events)
            case .closed:
                end(out: &out)
                stage = .ended
                events.append(.streamEnded)
            }
        }
    }

    private mutating func handle(
        _ event: AppServerEvent, _ out: inout Outbox, _ events: inout [AppServerEvent]
    ) {
        switch event {
        case .acknowledged, .refused: outstanding = max(0, outstanding - 1)
        case .draining: isDraining = true
        case .upstream(let message), .receipt(let message):
            if login.acknowledges { acknowledge(message, out: &out) }
        default: break
        }
        events.append(event)
    }

    private mutating func handle(
        _ element: Element, _ out: inout Outbox, _ events: inout [AppServerEvent]
    ) {
        switch (element.name, stage) {
        case ("features", .opened):
            stage = .authenticating
            out.bytes.append("<auth mechanism=\"PLAIN\" xmlns=\"urn:ietf:params:xml:ns:xmpp-sasl\">")
            out.bytes.append(text: login.plain)
            out.bytes.append("</auth>")
            out.endRecord()
        case ("success", .authenticating):
            stage = .reopened
            reader.restart()
            appendHeader(&out)
        case ("failure", .authenticating):
            events.append(.loginFailed(condition: element.children.first?.name ?? ""))
            end(out: &out)
        case ("features", .reopened):
            stage = .binding
            appendBind(&out)
        case ("iq", .binding) where element["id"] == "bind":
            let jid = element.child("bind", Namespace.bind)?.child("jid", Namespace.bind)?.text ?? ""
            stage = .ready
            events.append(.ready(jid: jid))
        case ("error", _) where element.namespace == Namespace.streams:
            events.append(.streamError(condition: element.children.first?.name ?? ""))
        default: events.append(.unexpected("<\(element.name)>"))
        }
    }

    /// Returns the content of the first `text` element; the reader only reports that a message is an error, not its text.
    private static func errorText(in bytes: RawSpan) -> String {
        let all = String(decoding: [UInt8](copying: bytes), as: UTF8.self)
        guard let opening = all.firstRange(of: "<text"),
            let start = all[opening.upperBound...].firstIndex(of: ">"),
            let end = all[start...].firstRange(of: "</text>")
        else { return "" }
        return String(all[all.index(after: start)..<end.lowerBound])
    }

    /// Returns the range of the JSON if the bytes are exactly one ACK, NACK or control stanza in the server's usual form.
    private static func answer(in bytes: RawSpan) -> Range<Int>? {
        let head: StaticString = "<message><data:gcm xmlns:data=\"google:mobile:data\">"
        let tail: StaticString = "</data:gcm></message>"
        let start = head.utf8CodeUnitCount
        let end = bytes.byteCount - tail.utf8CodeUnitCount
        guard end > start, bytes.extracting(0..<start).equals(head),
            bytes.extracting(end..<bytes.byteCount).equals(tail)
        else { return nil }
        for at in start..<end where bytes.byte(at: at) == 0x3C || bytes.byte(at: at) == 0x26 { return nil }
        return start..<end
    }

    // MARK: Sending

    /// Sends a message; only while `isReady`.
    public mutating func send(_ message: Downstream, out: inout Outbox) {
        appendStanza(&out) { message.append(to: &$0) }
        outstanding += 1
    }

    /// Acknowledges a device's message or a receipt.
    public mutating func acknowledge(_ message: ReceivedUpstream, out: inout Outbox) {
        appendStanza(&out) { message.appendAcknowledgement(to: &$0) }
    }

    /// Ends the stream; the server then closes the connection.
    public mutating func end(out: inout Outbox) {
        guard !endIsSent else { return }
        endIsSent = true
        StreamHeader.appendEnd(to: &out.bytes)
        out.endRecord()
    }

    private func appendHeader(_ out: inout Outbox) {
        out.bytes.append("<stream:stream to=\"")
        out.bytes.appendAttribute(login.domain)
        out.bytes.append(
            "\" version=\"1.0\" xmlns=\"jabber:client\" xmlns:stream=\"http://etherx.jabber.org/streams\">")
        out.endRecord()
    }

    private func appendBind(_ out: inout Outbox) {
        out.bytes.append("<iq type=\"set\" id=\"bind\"><bind xmlns=\"urn:ietf:params:xml:ns:xmpp-bind\">")
        if !login.resource.isEmpty {
            out.bytes.append("<resource>")
            out.bytes.appendText(login.resource)
            out.bytes.append("</resource>")
        }
        out.bytes.append("</bind></iq>")
        out.endRecord()
    }

    private func appendStanza(_ out: inout Outbox, _ write: (inout ByteBuffer) -> Void) {
        out.bytes.append("<message id=\"\"><gcm xmlns=\"google:mobile:data\">")
        write(&out.bytes)
        out.bytes.append("</gcm></message>")
        out.endRecord()
    }
}
