public import Basics
import Wire

/// The app server's side of one stream: bytes in, events and bytes out. It has no socket and no clock.
///
/// The counterpart of the server's session, used in the same way: each stanza is one record of the outbox.
public struct AppServerMachine: ~Copyable {
    /// Where the negotiation is.
    enum Stage {
        case idle, opened
        /// A login is being checked; with its state if it is by SCRAM.
        case authenticating(SCRAMClient?)
        case reopened, binding, enabling
        /// The server is looking up the stream.
        case resuming(StreamPosition)
        case ready, ended
    }

    var login: AppServerLogin
    var reader = StanzaReader()
    var stage = Stage.idle
    /// The JID that the server has bound.
    var jid = ""
    private var endIsSent = false
    /// Whether messages may be sent.
    public var isReady: Bool { if case .ready = stage { true } else { false } }
    private var isEnded: Bool { if case .ended = stage { true } else { false } }
    /// Messages sent on this connection and neither acknowledged nor refused.
    public private(set) var outstanding = 0
    /// Whether `CONNECTION_DRAINING` was received.
    public private(set) var isDraining = false
    /// The managed stream, once it is requested or resumed (`AppServerLogin.managesStream`).
    public internal(set) var stream: StreamPosition?

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
        guard !isEnded else { return }
        if isReady, reader.heldBytes == 0, let payload = Self.answer(in: bytes) {
            return receive(payload: bytes.extracting(payload), out: &out, events: &events)
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
        while !isEnded {
            switch try reader.next(bytes, from: &offset) {
            case .incomplete: return
            case .opened: break
            case .message(let message):
                if message.isError || message.form != .usable {
                    outstanding = max(0, outstanding - 1)
                    countReceived()
                    let text = Self.errorText(in: bytes)
                    events.append(.stanzaError(id: message.id(in: bytes) ?? "", text: text))
                } else {
                    receive(payload: message.payload(in: bytes), out: &out, events: &events)
                }
            case .element(let element): receive(element, out: &out, events: &events)
            case .closed: receiveEnd(out: &out, events: &events)
            }
        }
    }

    /// Processes the end of the stream, for an owner that parses it itself.
    public mutating func receiveEnd(out: inout Outbox, events: inout [AppServerEvent]) {
        end(out: &out)
        stage = .ended
        events.append(.streamEnded)
    }

    /// Counts a stanza of a managed stream.
    private mutating func countReceived() { if stream?.id != nil { stream?.received &+= 1 } }

    /// Processes the JSON of a message, for an owner that parses the stream itself.
    public mutating func receive(
        payload: RawSpan, out: inout Outbox, events: inout [AppServerEvent]
    ) {
        guard !isEnded else { return }
        countReceived()
        let event = AppServerEvent(payload: payload)
        switch event {
        case .acknowledged, .refused: outstanding = max(0, outstanding - 1)
        case .draining: isDraining = true
        case .upstream(let message), .receipt(let message):
            if login.acknowledges { acknowledge(message, out: &out) }
        default: break
        }
        events.append(event)
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

    /// Refuses a device's message, which the server then sends to no other connection.
    public mutating func refuse(_ message: ReceivedUpstream, out: inout Outbox) {
        appendStanza(&out) { message.appendRefusal(to: &$0) }
    }

    /// Ends the stream; the server then closes the connection.
    public mutating func end(out: inout Outbox) {
        guard !endIsSent else { return }
        endIsSent = true
        StreamHeader.appendEnd(to: &out.bytes)
        out.endRecord()
    }

    func appendHeader(_ out: inout Outbox) {
        out.bytes.append("<stream:stream to=\"")
        out.bytes.appendAttribute(login.domain)
        out.bytes.append(
            "\" version=\"1.0\" xmlns=\"jabber:client\" xmlns:stream=\"http://etherx.jabber.org/streams\">")
        out.endRecord()
    }

    private mutating func appendStanza(_ out: inout Outbox, _ write: (inout ByteBuffer) -> Void) {
        stream?.sent &+= 1
        out.bytes.append("<message id=\"\"><gcm xmlns=\"google:mobile:data\">")
        write(&out.bytes)
        out.bytes.append("</gcm></message>")
        out.endRecord()
    }
}
