import Basics
import Delivery
import Wire

extension AppServerSession {
    /// Reads what came, one event at a time, until the bytes are used up or the stage says to wait.
    mutating func read(_ bytes: RawSpan, _ io: inout SessionIO) {
        var offset = 0
        while true {
            switch stage {
            case .over, .finishing: return
            case .checking, .resuming: return hold(bytes.extracting(offset..<bytes.byteCount), &io)
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

    /// Keeps what a hasty client sends before its login is answered.
    private mutating func hold(_ bytes: RawSpan, _ io: inout SessionIO) {
        early.append(bytes)
        guard early.count > Limits.Stanza.bytesBeforeLogin else { return }
        early.removeAll()
        fail(.policyViolation, .tooLarge, &io)
    }

    /// Reads what was held while the key was being checked.
    mutating func readHeld(_ io: inout SessionIO) {
        guard !early.isEmpty else { return }
        var bytes = ByteBuffer()
        swap(&bytes, &early)
        read(bytes.bytes, &io)
    }

    /// A header: that of the first stream, the same once more, or that of the second stream.
    ///
    /// QXmpp 1.4 writes its first header twice in one go, and can read but one answer to both; a header that comes after the
    /// answer to the one before is answered like that one.
    private mutating func opened(_ header: StreamHeader, _ io: inout SessionIO) {
        if case .restarting = stage {
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

    /// Answers the last header, if that was not done.
    private mutating func answerHeader(_ io: inout SessionIO) {
        guard let header = unanswered else { return }
        unanswered = nil
        StreamHeader.appendAnswer(
            from: header.answerDomain(orElse: settings.defaultDomain), id: settings.random(),
            to: &io.out.bytes)
        io.out.endRecord()
        if stage.isBeforeLogin {
            Features.appendBeforeLogin(scram: scramOffer, to: &io.out.bytes)
            stage = .login
        } else {
            Features.appendAfterLogin(
                offersStreamManagement: settings.streamManagement, to: &io.out.bytes)
            stage = .binding
        }
        io.out.endRecord()
    }

    private mutating func received(_ element: Element, _ io: inout SessionIO) {
        if element.matches("error", Namespace.streams) {
            // The peer says why it ends its stream.
            return peerEnded(&io)
        }
        if let iq = IQ(element) {
            _ = stream?.count()
            received(iq, &io)
        } else if element.matches("presence", Namespace.client) {
            _ = stream?.count()
            // Nobody is there to be told (ccs-xmpp 1.8).
            if !stage.isReady { fail(.notAuthorized, .notAuthorized, &io) }
        } else if let step = SASL.Step(element), stage.isLoginDue {
            received(step, &io)
        } else if settings.streamManagement, stage.isReady || stage.isBinding,
            let request = StreamManagement.Request(element)
        {
            received(request, &io)
        } else {
            fail(.unsupportedStanzaType, .protocolViolation, &io)
        }
    }

    private mutating func received(_ iq: IQ, _ io: inout SessionIO) {
        guard stage.isReady || stage.isBinding else { return fail(.notAuthorized, .notAuthorized, &io) }
        guard isOwn(iq.from) else { return fail(.invalidFrom, .protocolViolation, &io) }
        switch iq.request {
        case .answer: return
        case .session: iq.appendResult(to: &io.out.bytes)
        case .bind(let resource):
            if stage.isBinding { return bind(iq, resource, &io) }
            iq.appendError(.notAllowed, to: &io.out.bytes)
        case .ping, .other:
            guard stage.isReady else { return fail(.notAuthorized, .notAuthorized, &io) }
            if iq.request == .ping {
                iq.appendPong(to: jid, in: &io.out.bytes)
            } else {
                iq.appendError(.serviceUnavailable, to: &io.out.bytes)
            }
        }
        endStanza(&io)
    }

    private mutating func bind(_ iq: IQ, _ resource: String?, _ io: inout SessionIO) {
        guard let sender else { return }
        let suffix = UInt32(truncatingIfNeeded: settings.random())
        guard let jid = Bind.jid(sender: sender, domain: domain, resource: resource, suffix: suffix) else {
            iq.appendError(.badRequest, to: &io.out.bytes)
            return io.out.endRecord()
        }
        self.jid = jid
        iq.appendBound(jid, to: &io.out.bytes)
        io.out.endRecord()
        stage = .ready
        io.events.append(.appServerBound(connection, sender))
        if isDraining { announceDraining(&io) }
    }

    /// Whether a `from` is the session's own address: absent, its full JID, or bare with any domain it may log in with.
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
