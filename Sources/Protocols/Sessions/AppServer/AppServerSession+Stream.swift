import Basics
import Delivery
import Wire

/// Stream management (XEP-0198), if it is enabled (ccs-xmpp 1.15).
extension AppServerSession {
    /// Ends a stanza's record, and counts the stanza in a managed stream; with `isKept`, it is sent again after a resumption.
    ///
    /// Upstream messages and receipts are not kept, because the core delivers them again; nor is the notice of draining, which
    /// applies to one connection.
    func endStanza(isKept: Bool = true, _ io: inout SessionIO) {
        guard let stream else { return io.out.endRecord() }
        let start = io.out.recordEnds.last ?? 0
        let end = io.out.bytes.count
        guard end > start else { return }
        let stanza = isKept ? [UInt8](copying: io.out.bytes.bytes.extracting(start..<end)) : nil
        let isDue = stream.countSent(stanza)
        io.out.endRecord()
        guard isDue else { return }
        StreamManagement.appendRequest(to: &io.out.bytes)
        io.out.endRecord()
    }

    /// Handles a stream management element from the client.
    mutating func received(_ request: StreamManagement.Request, _ io: inout SessionIO) {
        switch request {
        case .enable(let resumes) where stream == nil: manage(resumes: resumes, &io)
        case .request where stream != nil:
            StreamManagement.appendAnswer(handled: stream?.handled ?? 0, to: &io.out.bytes)
            io.out.endRecord()
        case .answer(let handled) where stream != nil:
            guard let handled else { return refuseStream(.badRequest, &io) }
            if let stream, !stream.confirm(handled) { failHandled(handled, sent: stream.sent, &io) }
        case .resume(let id, let handled):
            guard case .binding(let account) = state else { return refuseStream(.unexpectedRequest, &io) }
            guard let handled else { return refuseStream(.badRequest, &io) }
            state = .resuming(account, handled: handled)
            io.events.append(.appServerStreamRequested(connection, account.sender, id: id))
        default: refuseStream(.unexpectedRequest, &io)
        }
    }

    private mutating func manage(resumes: Bool, _ io: inout SessionIO) {
        guard case .ready(let sender) = state else { return refuseStream(.unexpectedRequest, &io) }
        var id: String?
        if resumes {
            var text = ByteBuffer()
            for _ in 0..<2 { Hex.appendUpper(settings.random(), to: &text) }
            id = String(decoding: text.copied(), as: UTF8.self)
        }
        stream = AppServerStream(id: id)
        StreamManagement.appendEnabled(id: id, seconds: Limits.AppServer.resumptionSeconds, to: &io.out.bytes)
        io.out.endRecord()
        if let id { io.events.append(.appServerStreamManaged(connection, sender, id: id)) }
    }

    /// Resumes the stream from the state that the core has saved, and sends again what may be lost.
    mutating func resume(_ remains: ResumableStream, _ io: inout SessionIO) {
        guard case .resuming(let account, let handled) = state else { return }
        guard let stream = AppServerStream(remains, handled: handled) else {
            return failHandled(handled, sent: remains.sent, &io)
        }
        self.stream = stream
        jid = remains.jid
        state = .ready(account.sender)
        StreamManagement.appendResumed(id: remains.id, handled: remains.handled, to: &io.out.bytes)
        io.out.endRecord()
        for stanza in stream.takeUnconfirmed() {
            io.out.bytes.append(stanza)
            endStanza(&io)
        }
        io.events.append(.appServerBound(connection, account.sender))
        io.events.append(.appServerStreamManaged(connection, account.sender, id: remains.id))
        if isDraining { announceDraining(&io) }
        readEarlyBytes(&io)
    }

    /// Refuses the resumption, because the core has no such stream; the client may bind a new one.
    mutating func resumeFailed(_ io: inout SessionIO) {
        guard case .resuming(let account, _) = state else { return }
        state = .binding(account)
        refuseStream(.itemNotFound, &io)
        readEarlyBytes(&io)
    }

    /// Passes the state of the stream to the core, once, when the connection is lost or replaced.
    mutating func detach(_ io: inout SessionIO) {
        guard case .ready(let sender) = state, let remains = stream?.remains(jid: jid) else { return }
        stream = nil
        io.events.append(.appServerStreamDetached(connection, sender, remains))
    }

    private func refuseStream(_ failure: StreamManagement.Failure, _ io: inout SessionIO) {
        failure.append(to: &io.out.bytes)
        io.out.endRecord()
    }

    private mutating func failHandled(_ handled: UInt32, sent: UInt32, _ io: inout SessionIO) {
        StreamManagement.appendHandledTooHigh(handled, sent: sent, to: &io.out.bytes)
        io.out.endRecord()
        end(.protocolViolation, &io)
    }
}
