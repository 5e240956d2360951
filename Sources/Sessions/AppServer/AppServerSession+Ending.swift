import Basics
import Delivery
import Wire

extension AppServerSession {
    /// Ends the stream with an error, whatever the stage (ccs-xmpp 1.11).
    mutating func fail(_ condition: StreamCondition, _ reason: CloseReason, _ io: inout SessionIO) {
        if case .over = stage { return }
        if stage.isOpening {
            // A stream error stands in a stream of ours (RFC 6120, 4.9.1.2).
            StreamHeader.appendAnswer(from: settings.defaultDomain, id: settings.random(), to: &io.out.bytes)
            io.out.endRecord()
        }
        condition.append(to: &io.out.bytes)
        io.out.endRecord()
        end(reason, &io)
    }

    /// The app server has ended its stream: what it still waits for is answered first, if that is soon.
    mutating func peerEnded(_ io: inout SessionIO) {
        guard stage.isReady, owesAnswers else { return end(.peerEndedStream, &io) }
        sayFarewell(.peerEndedStream)
    }

    /// Whether the app server has sent messages that are not answered.
    var owesAnswers: Bool { submissions.count > 0 || !held.isEmpty }

    /// The app server sends no more; its messages are answered, then the connection ends for this reason.
    mutating func sayFarewell(_ reason: CloseReason) {
        stage = .finishing(reason)
        stageDeadline = .distantFuture
    }

    /// The wait for answers is over.
    mutating func finish(_ io: inout SessionIO) {
        if case .finishing(let reason) = stage { end(reason, &io) }
    }

    /// The host or the core ends the connection.
    mutating func close(_ reason: CloseReason, _ io: inout SessionIO) {
        switch reason {
        case .systemShutdown where !isDraining || stage.isOpening || submissions.count > 0:
            fail(.systemShutdown, reason, &io)
        case .credentialsRevoked: fail(.reset, reason, &io)
        case .storeFailed, .internalError: fail(.internalServerError, reason, &io)
        case .tooManyConnections: fail(.resourceConstraint, reason, &io)
        case .streamResumed:
            // Before the end, so that the other connection need not wait for the rest of this one.
            detach(&io)
            reportEnd(&io)
            fail(.conflict, reason, &io)
        case .deadPeer: fail(.connectionTimeout, reason, &io)
        // A planned end does not come between a message and its answer.
        case .connectionDraining where stage.isReady && owesAnswers: sayFarewell(reason)
        case .connectionDraining where stage.isFinishing: break
        default:
            if stage.isOpening {
                // There is no stream of ours to end yet.
                fail(.undefinedCondition, reason, &io)
            } else {
                end(reason, &io)
            }
        }
    }

    /// Announces that no new messages are taken; what is on its way still is (ccs-xmpp 3.7).
    mutating func drain(_ io: inout SessionIO) {
        guard !isDraining else { return }
        isDraining = true
        if stage.isReady { announceDraining(&io) }
    }

    /// When a drained connection has had its chance: nothing is owed either way, and nothing came for a while (ccs-xmpp 3.7).
    ///
    /// Receipts need no answer. An app server that goes on sending keeps its connection until the host ends it.
    var idleDeadline: Instant {
        guard let idleEnd, let quietSince, isDraining, !owesAnswers, outstanding.messageCount == 0,
            unwritten.isEmpty, !isCongested
        else { return .distantFuture }
        return max(idleEnd.from, quietSince.advanced(milliseconds: Limits.Shutdown.drainQuietMilliseconds))
    }

    /// Ends a drained connection before its time.
    mutating func endIdle(_ io: inout SessionIO) {
        if let idleEnd { end(idleEnd.reason, &io) }
    }

    /// Tells both sides, and refuses what was held.
    mutating func announceDraining(_ io: inout SessionIO) {
        AnswerWriter.appendDraining(
            messageID: settings.controlMessageID ? settings.random() : nil, into: &io.out.bytes)
        endStanza(isKept: false, &io)
        if let sender { io.events.append(.appServerDraining(connection, sender)) }
        submitHeld(&io)
    }

    /// Tells the core that a session it knows of is gone; once.
    ///
    /// A login that is still being checked counts: the core may have let it in meanwhile.
    mutating func reportEnd(_ io: inout SessionIO) {
        guard let sender else { return }
        self.sender = nil
        io.events.append(.appServerClosed(connection, sender))
    }

    /// Writes the end of the stream, and asks for that of the connection.
    mutating func end(_ reason: CloseReason, _ io: inout SessionIO) {
        if case .over = stage { return }
        StreamHeader.appendEnd(to: &io.out.bytes)
        io.out.endRecord()
        stage = .over
        io.close = reason
        held = AppServerHeldMessages()
        unwritten = []
        early.removeAll()
    }
}
