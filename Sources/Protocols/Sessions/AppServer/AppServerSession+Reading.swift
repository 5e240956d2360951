import Basics
import Delivery
import Wire

extension AppServerSession {
    /// Parses and handles one event at a time, until the bytes are consumed or the session has to wait for the core.
    mutating func read(_ bytes: RawSpan, _ io: inout SessionIO) {
        var offset = 0
        while true {
            switch state {
            case .ended, .finishing: return
            case .lookingUpKeys, .checking, .resuming:
                return bufferEarly(bytes.extracting(offset..<bytes.byteCount), &io)
            default: break
            }
            do throws(XMLFailure) {
                switch try reader.next(bytes, from: &offset) {
                case .incomplete: return answerHeader(&io)
                case .opened(let header): opened(header, &io)
                case .message(let message):
                    answerHeader(&io)
                    received(message, in: bytes, &io)
                case .element(let element):
                    answerHeader(&io)
                    received(element, &io)
                case .closed:
                    answerHeader(&io)
                    peerEnded(&io)
                }
            } catch {
                answerHeader(&io)
                return fail(error.condition, error.closeReason, &io)
            }
        }
    }

    /// Buffers bytes that a client sends before its login is answered.
    private mutating func bufferEarly(_ bytes: RawSpan, _ io: inout SessionIO) {
        earlyBytes.append(bytes)
        guard earlyBytes.count > Limits.Stanza.bytesBeforeLogin else { return }
        earlyBytes.removeAll()
        fail(.policyViolation, .tooLarge, &io)
    }

    /// Reads the bytes that were buffered while waiting for the core.
    mutating func readEarlyBytes(_ io: inout SessionIO) {
        guard !earlyBytes.isEmpty else { return }
        var bytes = ByteBuffer()
        swap(&bytes, &earlyBytes)
        read(bytes.bytes, &io)
    }

    /// Handles a stream header: of the first stream, a repeated one, or of the second stream.
    ///
    /// QXmpp 1.4 writes its first header twice at once and can read only one answer to both. A header that is received after the
    /// answer to the previous one gets an answer of its own.
    private mutating func opened(_ header: StreamHeader, _ io: inout SessionIO) {
        if case .restarting = state {
            unanswered = header
            return answerHeader(&io)
        }
        headers += 1
        if headers > Limits.Login.streamHeaders {
            answerHeader(&io)
            return fail(.policyViolation, .protocolViolation, &io)
        }
        unanswered = header
    }

    /// Answers the last header unless that is done.
    private mutating func answerHeader(_ io: inout SessionIO) {
        guard let header = unanswered else { return }
        unanswered = nil
        StreamHeader.appendAnswer(
            from: header.answerDomain(orElse: settings.defaultDomain), id: settings.random(),
            to: &io.out.bytes)
        io.out.endRecord()
        switch state {
        case .restarting(let account), .binding(let account):
            Features.appendAfterLogin(
                offersStreamManagement: settings.streamManagement, to: &io.out.bytes)
            state = .binding(account)
        case .opening, .login:
            Features.appendBeforeLogin(scram: scramOffer, to: &io.out.bytes)
            state = .login
        // The reader reports no header after the first element of a stream.
        case .challenged, .lookingUpKeys, .checking, .resuming, .ready, .finishing, .ended: return
        }
        io.out.endRecord()
    }

    private mutating func received(_ element: Element, _ io: inout SessionIO) {
        if element.matches("error", Namespace.streams) {
            // A stream error from the peer ends its stream.
            return peerEnded(&io)
        }
        if let iq = IQ(element) {
            _ = stream?.countReceived()
            received(iq, &io)
        } else if element.matches("presence", Namespace.client) {
            _ = stream?.countReceived()
            // Presence is ignored: there are no subscribers (ccs-xmpp 1.8).
            if !state.isReady { fail(.notAuthorized, .notAuthorized, &io) }
        } else if let step = SASL.Step(element), state.isLoginDue {
            received(step, &io)
        } else if settings.streamManagement, state.isReady || state.isBinding,
            let request = StreamManagement.Request(element)
        {
            received(request, &io)
        } else {
            fail(.unsupportedStanzaType, .protocolViolation, &io)
        }
    }

    private mutating func received(_ iq: IQ, _ io: inout SessionIO) {
        guard state.isReady || state.isBinding else { return fail(.notAuthorized, .notAuthorized, &io) }
        guard isOwn(iq.from) else { return fail(.invalidFrom, .protocolViolation, &io) }
        switch iq.request {
        case .answer: return
        case .session: iq.appendResult(to: &io.out.bytes)
        case .bind(let resource):
            if case .binding(let account) = state { return bind(iq, resource, account, &io) }
            iq.appendError(.notAllowed, to: &io.out.bytes)
        case .ping, .other:
            guard state.isReady else { return fail(.notAuthorized, .notAuthorized, &io) }
            if iq.request == .ping {
                iq.appendPong(to: jid, in: &io.out.bytes)
            } else {
                iq.appendError(.serviceUnavailable, to: &io.out.bytes)
            }
        }
        endStanza(&io)
    }

    /// Binds the resource of an account, which then sends and receives messages.
    private mutating func bind(
        _ iq: IQ, _ resource: String?, _ account: Account, _ io: inout SessionIO
    ) {
        let suffix = UInt32(truncatingIfNeeded: settings.random())
        let jid = Bind.jid(
            sender: account.sender, domain: account.domain, resource: resource, suffix: suffix)
        guard let jid else {
            iq.appendError(.badRequest, to: &io.out.bytes)
            return io.out.endRecord()
        }
        self.jid = jid
        iq.appendBound(jid, to: &io.out.bytes)
        io.out.endRecord()
        state = .ready(account.sender)
        io.events.append(.appServerBound(connection, account.sender))
        if isDraining { announceDraining(&io) }
    }

    /// Returns whether a `from` is the session's own address: absent, its full JID, or bare with any accepted domain.
    func isOwn(_ from: String?) -> Bool {
        guard let from, from != jid else { return true }
        guard let sender, let at = from.firstIndex(of: "@"), from[..<at] == String(sender.number) else {
            return false
        }
        let rest = from[from.index(after: at)...].split(
            separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let host = rest.first, settings.acceptedDomains.contains(host.lowercased()) else {
            return false
        }
        return rest.count == 1 || jid.hasSuffix("/" + rest[1])
    }
}
