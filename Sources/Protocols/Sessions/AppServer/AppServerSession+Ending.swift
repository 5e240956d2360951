import Basics
import Delivery
import Wire

extension AppServerSession {
    /// Ends the stream with an error, in any state (ccs-xmpp 1.11).
    mutating func fail(_ condition: StreamCondition, _ reason: CloseReason, _ io: inout SessionIO) {
        if case .ended = state { return }
        if state.isOpening {
            // A stream error must be sent within a stream, so the header comes first (RFC 6120, 4.9.1.2).
            StreamHeader.appendAnswer(from: settings.defaultDomain, id: settings.random(), to: &io.out.bytes)
            io.out.endRecord()
        }
        condition.append(to: &io.out.bytes)
        io.out.endRecord()
        end(reason, &io)
    }

    /// Handles the end of the app server's stream; its unanswered messages are answered first, within a short time.
    mutating func peerEnded(_ io: inout SessionIO) {
        guard state.isReady, owesAnswers else { return end(.peerEndedStream, &io) }
        finishAfterAnswers(.peerEndedStream)
    }

    /// Whether any message of the app server is unanswered.
    var owesAnswers: Bool { submissions.count > 0 || !inboundQueue.isEmpty }

    /// Ends the connection for this reason once all messages are answered; nothing more is read.
    mutating func finishAfterAnswers(_ reason: CloseReason) {
        guard case .ready(let sender) = state else { return }
        state = .finishing(sender, reason)
        stateDeadline = nil
    }

    /// Ends the connection after the wait for answers.
    mutating func finish(_ io: inout SessionIO) {
        if case .finishing(_, let reason) = state { end(reason, &io) }
    }

    /// Ends the connection for the host or the core.
    mutating func close(_ reason: CloseReason, _ io: inout SessionIO) {
        switch reason {
        case .systemShutdown where !isDraining || state.isOpening || submissions.count > 0:
            fail(.systemShutdown, reason, &io)
        case .credentialsRevoked, .senderSuspended: fail(.reset, reason, &io)
        case .ownerChanged where state.isReady:
            drain(&io)
            if owesAnswers { finishAfterAnswers(reason) } else { end(reason, &io) }
        case .ownerChanged where state.isFinishing: break
        case .ownerChanged: fail(.systemShutdown, reason, &io)
        case .storeFailed, .storeDamaged, .internalError: fail(.internalServerError, reason, &io)
        case .tooManyConnections: fail(.resourceConstraint, reason, &io)
        case .streamResumed:
            // Reported at once, so that the other connection need not wait for this one to close.
            detach(&io)
            fail(.conflict, reason, &io)
            reportEnd(&io)
        case .deadPeer: fail(.connectionTimeout, reason, &io)
        // A planned end waits for unanswered messages.
        case .connectionDraining where state.isReady && owesAnswers: finishAfterAnswers(reason)
        case .connectionDraining where state.isFinishing: break
        default:
            if state.isOpening {
                // The server's stream is not open yet, so it cannot be ended.
                fail(.undefinedCondition, reason, &io)
            } else {
                end(reason, &io)
            }
        }
    }

    /// Announces that new messages are refused; those already submitted are answered (ccs-xmpp 3.7).
    mutating func drain(_ io: inout SessionIO) {
        guard !isDraining else { return }
        isDraining = true
        if state.isReady { announceDraining(&io) }
    }

    /// When a draining connection ends as idle: no answer is due in either direction, and nothing was received for a while
    /// (ccs-xmpp 3.7).
    ///
    /// Receipts need no answer. An app server that keeps sending keeps its connection until the host ends it.
    var idleDeadline: Instant {
        guard let idleEnd, let quietSince, isDraining, !owesAnswers, outstanding.messageCount == 0,
            unwritten.isEmpty, !isCongested
        else { return .distantFuture }
        return max(idleEnd.from, quietSince.advanced(milliseconds: Limits.Shutdown.drainQuietMilliseconds))
    }

    /// Ends an idle draining connection before the host does.
    mutating func endIdle(_ io: inout SessionIO) {
        if let idleEnd { end(idleEnd.reason, &io) }
    }

    /// Notifies the app server and the core, and refuses the queued messages.
    mutating func announceDraining(_ io: inout SessionIO) {
        AnswerWriter.appendDraining(
            messageID: settings.controlMessageID ? settings.random() : nil, into: &io.out.bytes)
        endStanza(isKept: false, &io)
        if let sender { io.events.append(.appServerDraining(connection, sender)) }
        submitQueued(&io)
    }

    /// Reports the end of the session to the core, once.
    ///
    /// This includes a login that is still being checked, because the core may have accepted it meanwhile.
    mutating func reportEnd(_ io: inout SessionIO) {
        guard case .ended(let sender?) = state else { return }
        state = .ended(unreported: nil)
        io.events.append(.appServerClosed(connection, sender))
    }

    /// Writes the end of the stream and closes the connection.
    mutating func end(_ reason: CloseReason, _ io: inout SessionIO) {
        if case .ended = state { return }
        StreamHeader.appendEnd(to: &io.out.bytes)
        io.out.endRecord()
        state = .ended(unreported: sender)
        io.close = reason
        inboundQueue = AppServerInboundQueue()
        unwritten = []
        earlyBytes.removeAll()
    }
}
