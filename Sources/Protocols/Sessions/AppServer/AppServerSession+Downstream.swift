import Basics
import Delivery
import Wire

extension AppServerSession {
    /// Handles a `<message>`: a downstream message, an ack, or neither (ccs-xmpp 3.4).
    mutating func received(_ message: borrowing MessageStanza, in chunk: RawSpan, _ io: inout SessionIO) {
        guard state.isReady else { return fail(.notAuthorized, .notAuthorized, &io) }
        quietSince = nil
        if message.hasFrom, !isOwn(message.from(in: chunk)) {
            return fail(.invalidFrom, .protocolViolation, &io)
        }
        let number = stream?.countReceived() ?? 0
        guard !message.isError else { return }
        switch message.form {
        case .usable: break
        case .withoutPayload:
            io.refuse(.malformed, sender: sender)
            return stanzaError(message.id(in: chunk), nil, "The message has no gcm element", &io)
        case .severalPayloads:
            io.refuse(.malformed, sender: sender)
            return stanzaError(
                message.id(in: chunk), message.payload(in: chunk), "The message has several gcm elements", &io
            )
        case .elementsInPayload:
            io.refuse(.malformed, sender: sender)
            return stanzaError(
                message.id(in: chunk), message.payload(in: chunk), "The gcm element must hold text alone", &io
            )
        }
        let text = message.payload(in: chunk)
        do throws(PayloadError) {
            let payload = try AppServerPayload(text)
            switch payload.kind {
            case .acknowledgement: received(acknowledgement: payload, &io)
            case .downstream, .cancellation:
                stream?.postpone(number)
                if isDraining || (inboundQueue.isEmpty && submissions.hasRoom && !isCongested) {
                    try submit(payload, number, receivedAt, &io)
                } else {
                    inboundQueue.append(
                        text, id: message.id(in: chunk), number: number, receivedAt: receivedAt)
                }
            }
        } catch {
            stream?.markAnswered(number)
            io.refuse(.malformed, sender: sender)
            stanzaError(message.id(in: chunk), text, error.text, &io)
        }
    }

    /// Does steps 3 to 8 of ccs-xmpp 3.4: refuses the message, or submits it to the core under a request ID.
    ///
    /// `number` is the number of the stanza in a managed stream, `receivedAt` when it arrived.
    private mutating func submit(
        _ payload: borrowing AppServerPayload, _ number: UInt32, _ receivedAt: Instant,
        _ io: inout SessionIO
    ) throws(PayloadError) {
        guard let sender else { return }
        let id = try payload.messageID()
        let hash = recentIDs.hash(id)
        do throws(Refusal) {
            guard !isDraining else { throw recentIDs.contains(hash) ? .repeatedMessageID : .draining }
            guard recentIDs.remember(hash) else { throw .repeatedMessageID }
            var to: [UInt8] = []
            guard payload.kind != .cancellation else {
                let request = try CancelRequest(payload)
                let target = try target(of: request)
                let requestID = submissions.open(
                    messageID: id, to: request.to, hash: hash, number: number, receivedAt: receivedAt)
                return cancel(request, of: target, sender, requestID, &io)
            }
            let request = try translator.sendRequest(
                payload, messageID: id, to: &to, sender: sender, seal: settings.seal, rules: settings.rules)
            let requestID = submissions.open(
                messageID: id, to: to, hash: hash, number: number, receivedAt: receivedAt)
            io.events.append(request.event(replyTo: Requester(connection: connection, requestID: requestID)))
        } catch {
            var to = ByteBuffer()
            payload.append(.to, to: &to)
            io.refuse(error, sender: sender, to: to.copied(), messageID: id)
            AnswerWriter.appendNack(to: to.bytes, messageID: id.raw, error, into: &io.out.bytes)
            stream?.markAnswered(number)
            endStanza(&io)
        }
    }

    /// Submits the queued messages in order, as far as the window allows.
    mutating func submitQueued(_ io: inout SessionIO) {
        guard !inboundQueue.isEmpty else { return }
        var waiting = AppServerInboundQueue()
        swap(&waiting, &inboundQueue)
        while !waiting.isEmpty, isDraining || (submissions.hasRoom && !isCongested) {
            do throws(PayloadError) {
                try submit(
                    AppServerPayload(waiting.first), waiting.firstNumber, waiting.firstReceivedAt, &io)
            } catch {
                stream?.markAnswered(waiting.firstNumber)
                io.refuse(.malformed, sender: sender)
                stanzaError(waiting.firstID, waiting.first, error.text, &io)
            }
            waiting.removeFirst()
        }
        swap(&waiting, &inboundQueue)
    }

    /// Applies a new window; queued messages may be submitted now.
    mutating func changePendingWindow(_ window: Int, _ io: inout SessionIO) {
        submissions.setWindow(window)
        submitQueued(&io)
    }

    /// Writes the answer for the core's reply.
    mutating func answered(_ requestID: UInt32, _ reply: SubmissionReply, _ io: inout SessionIO) {
        switch reply {
        case .accepted(_, let canonical): acknowledge(requestID, canonical, &io)
        case .refused(let refusal): refuse(requestID, refusal, &io)
        case .group(let answer): acknowledge(requestID, answer, &io)
        }
    }

    /// Writes the ACK for a message that the core has accepted.
    private mutating func acknowledge(
        _ requestID: UInt32, _ canonical: TokenName?, _ io: inout SessionIO
    ) {
        guard state.isReady || state.isFinishing, let entry = submissions.close(requestID) else { return }
        AnswerWriter.appendAck(
            to: entry.to.raw, messageID: entry.messageID.raw,
            canonical: canonical.map { settings.seal.token(for: $0) }, into: &io.out.bytes)
        io.acknowledged.add(entry.receivedAt)
        answered(entry.number, &io)
    }

    /// Writes the NACK for a message that the core has refused. If a retry can help, its ID may be used again.
    mutating func refuse(_ requestID: UInt32, _ refusal: Refusal, _ io: inout SessionIO) {
        guard state.isReady || state.isFinishing, let entry = submissions.close(requestID) else { return }
        if refusal.isRetryable { recentIDs.forget(entry.hash) }
        AnswerWriter.appendNack(
            to: entry.to.raw, messageID: entry.messageID.raw, refusal, into: &io.out.bytes)
        answered(entry.number, &io)
    }

    /// Writes the answer for a message to a group: an ACK with the number of members, or a NACK if none was reached.
    private mutating func acknowledge(_ requestID: UInt32, _ answer: GroupAnswer, _ io: inout SessionIO) {
        if let refusal = answer.refusal { return refuse(requestID, refusal, &io) }
        guard state.isReady || state.isFinishing, let entry = submissions.close(requestID) else { return }
        AnswerWriter.appendGroupAck(
            to: entry.to.raw, messageID: entry.messageID.raw, success: answer.success,
            failed: answer.failed.map { settings.seal.token(for: $0.member) }, into: &io.out.bytes)
        io.acknowledged.add(entry.receivedAt)
        answered(entry.number, &io)
    }

    mutating func answered(_ number: UInt32, _ io: inout SessionIO) {
        stream?.markAnswered(number)
        endStanza(&io)
        submitQueued(&io)
    }

    /// Answers a message with a stanza error, because a NACK is not possible (ccs-xmpp 3.5).
    private func stanzaError(_ id: String?, _ payload: RawSpan?, _ text: String, _ io: inout SessionIO) {
        StanzaCondition.badRequest.appendMessage(
            to: jid, id: id, payload: payload, text: text, to: &io.out.bytes)
        endStanza(&io)
    }
}
