import Basics
import Delivery
import Wire

/// XEP-0198, where it is switched on (ccs-xmpp 1.15).
extension AppServerSession {
    /// Ends a stanza's record, and counts the stanza where the stream is managed; `isKept`: it is sent again after a loss.
    ///
    /// Upstream messages and receipts are not kept, since the core offers them again; nor is the notice of draining, which
    /// holds for one connection.
    func endStanza(isKept: Bool = true, _ io: inout SessionIO) {
        guard let stream else { return io.out.endRecord() }
        let start = io.out.recordEnds.last ?? 0
        let end = io.out.bytes.count
        guard end > start else { return }
        let stanza = isKept ? [UInt8](copying: io.out.bytes.bytes.extracting(start..<end)) : nil
        let isDue = stream.note(stanza)
        io.out.endRecord()
        guard isDue else { return }
        StreamManagement.appendRequest(to: &io.out.bytes)
        io.out.endRecord()
    }

    /// A request of the client's.
    mutating func received(_ request: StreamManagement.Request, _ io: inout SessionIO) {
        switch request {
        case .enable(let resumes) where stage.isReady && stream == nil: manage(resumes: resumes, &io)
        case .request where stream != nil:
            StreamManagement.appendAnswer(handled: stream?.handled ?? 0, to: &io.out.bytes)
            io.out.endRecord()
        case .answer(let handled) where stream != nil:
            guard let handled else { return refuseStream(.badRequest, &io) }
            if let stream, !stream.confirm(handled) { failHandled(handled, sent: stream.sent, &io) }
        case .resume(let id, let handled) where stage.isBinding:
            guard let handled, let sender else { return refuseStream(.badRequest, &io) }
            stage = .resuming
            resumedAt = handled
            io.events.append(.appServerStreamRequested(connection, sender, id: id))
        default: refuseStream(.unexpectedRequest, &io)
        }
    }

    private mutating func manage(resumes: Bool, _ io: inout SessionIO) {
        guard let sender else { return }
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

    /// The core has what is left of the stream: it goes on where it was, and what may be lost is sent again.
    mutating func resume(_ remains: ResumableStream, _ io: inout SessionIO) {
        guard case .resuming = stage, let sender else { return }
        guard let stream = AppServerStream(remains, handled: resumedAt) else {
            return failHandled(resumedAt, sent: remains.sent, &io)
        }
        self.stream = stream
        jid = remains.jid
        stage = .ready
        StreamManagement.appendResumed(id: remains.id, handled: remains.handled, to: &io.out.bytes)
        io.out.endRecord()
        for stanza in stream.takeUnconfirmed() {
            io.out.bytes.append(stanza)
            endStanza(&io)
        }
        io.events.append(.appServerBound(connection, sender))
        io.events.append(.appServerStreamManaged(connection, sender, id: remains.id))
        if isDraining { announceDraining(&io) }
        readHeld(&io)
    }

    /// The core has no such stream: the client may bind a new one.
    mutating func resumeFailed(_ io: inout SessionIO) {
        guard case .resuming = stage else { return }
        stage = .binding
        refuseStream(.itemNotFound, &io)
        readHeld(&io)
    }

    /// The connection is lost or given up: hands what is left of the stream to the core, once.
    mutating func detach(_ io: inout SessionIO) {
        guard stage.isReady, let sender, let remains = stream?.remains(jid: jid) else { return }
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
