import Basics
import Delivery
import Wire

/// An upstream message or receipt that a session has not written yet.
struct UnwrittenUpstream {
    let message: StoredUpstream
    /// Whether it is a receipt that is to be reported as unanswered once it is written.
    var isReleased = false
}

extension AppServerSession {
    /// Writes an upstream message or a receipt as soon as there is room.
    ///
    /// A window of escaped payloads may exceed the outbound buffer: written at once, it would make an app server that reads
    /// well look like a slow consumer.
    mutating func deliver(_ message: StoredUpstream, _ now: Now, _ io: inout SessionIO) {
        // An ending session ignores it: the core delivers the message elsewhere once the end is reported.
        guard state.isReady else { return }
        let upstream = UnwrittenUpstream(message: message)
        if unwritten.isEmpty, hasRoom(io) { return write(upstream, now, &io) }
        // The core's window bounds the list: what it withdraws leaves the list too.
        unwritten.append(upstream)
    }

    /// Reports a receipt as unanswered, now or when it is written.
    mutating func release(_ receipt: SequenceNumber, _ io: inout SessionIO) {
        if let index = unwritten.firstIndex(where: { $0.message.sequence == receipt }) {
            unwritten[index].isReleased = true
        } else if outstanding.withdraw(receipt) {
            reportResult(receipt, .unanswered, &io)
        }
    }

    /// Forgets what has left the core's window.
    mutating func withdraw(_ sequence: SequenceNumber) {
        if let index = unwritten.firstIndex(where: { $0.message.sequence == sequence }) {
            unwritten.remove(at: index)
        } else {
            _ = outstanding.withdraw(sequence)
        }
    }

    /// Writes the waiting messages, as far as there is room.
    mutating func writeUnwritten(_ now: Now, _ io: inout SessionIO) {
        var written = 0
        while state.isReady, written < unwritten.count, hasRoom(io) {
            write(unwritten[written], now, &io)
            written += 1
        }
        if written > 0 { unwritten.removeFirst(written) }
    }

    /// Reports to the core that the app server has stopped reading, or that all waiting messages have been written.
    mutating func reportCongestion(_ io: inout SessionIO) {
        guard state.isReady, let sender else { return }
        if isCongested, !isCongestionReported {
            isCongestionReported = true
            io.events.append(.appServerCongested(connection, sender))
        } else if isCongestionReported, !isCongested, unwritten.isEmpty {
            isCongestionReported = false
            io.events.append(.appServerWritable(connection, sender))
        }
    }

    /// Returns whether it is too late to write a message.
    private func hasExpired(_ message: borrowing StoredUpstream, _ now: Now) -> Bool {
        let isPrompt = message.kind == .message && message.lifetimeSeconds == 0
        guard message.expiresAt <= now.expiryCutoff else { return false }
        return !isPrompt || now.expiryCutoff - message.expiresAt >= Limits.Message.promptMilliseconds
    }

    private func reportResult(_ sequence: SequenceNumber, _ outcome: UpstreamOutcome, _ io: inout SessionIO) {
        guard let sender else { return }
        io.events.append(.upstreamFinished(connection, sender, sequence, outcome))
    }

    private func hasRoom(_ io: borrowing SessionIO) -> Bool {
        !isCongested && io.out.bytes.count < Limits.Mailbox.upstreamBytesAtOnce
    }

    /// Writes the stanza of a device's message or of a receipt, and waits for its ack (ccs-xmpp 3.6, 4.1).
    private mutating func write(_ upstream: UnwrittenUpstream, _ now: Now, _ io: inout SessionIO) {
        let message = upstream.message
        guard !hasExpired(message, now) else { return reportResult(message.sequence, .expired, &io) }
        let token = tokens.token(for: message.token, settings.seal)
        let entry = AppServerOutstanding.Entry(
            sequence: message.sequence, token: token, messageID: message.messageID)
        switch message.kind {
        case .message:
            UpstreamMessage.appendHead(
                sender: message.sender, isFCMDomain: message.isFCMDomain, into: &io.out.bytes)
            PayloadTranslator.append(dataOf: message.body, to: &io.out.bytes)
            UpstreamMessage.appendTail(
                lifetimeSeconds: message.lifetimeSeconds, from: token.raw, messageID: message.messageID.raw,
                category: message.category.raw, into: &io.out.bytes)
            outstanding.add(message: entry)
        case .receipt(let sentAt):
            Receipt.append(
                sender: message.sender, isFCMDomain: message.isFCMDomain,
                originalMessageID: message.messageID.raw, token: token.raw,
                category: message.category.raw, sentAt: sentAt,
                isForwarded: message.isForwardedReceipt, into: &io.out.bytes)
            outstanding.add(receipt: entry)
        }
        endStanza(isKept: false, &io)
        if upstream.isReleased, outstanding.withdraw(message.sequence) {
            reportResult(message.sequence, .unanswered, &io)
        }
    }

    /// Handles an ack or nack for a message or receipt of this connection; others are ignored (ccs-xmpp 4.2).
    mutating func received(acknowledgement payload: borrowing AppServerPayload, _ io: inout SessionIO) {
        do throws(Refusal) {
            let answer = try Acknowledgement(payload)
            let to = payload.reader.string(answer.to)
            let id = payload.reader.string(answer.messageID)
            switch outstanding.removeAnswered(to: to, messageID: id) {
            case .outstanding(let sequence):
                reportResult(sequence, answer.isPositive ? .acknowledged : .refused, &io)
            case .withdrawn: break
            case .unknown:
                io.counts.unknownAcks += 1
                if settings.strictAcks { throw answer.unknown(in: payload) }
            }
        } catch {
            var to = ByteBuffer()
            var id = ByteBuffer()
            payload.append(.to, to: &to)
            payload.append(.messageID, to: &id)
            AnswerWriter.appendNack(to: to.bytes, messageID: id.bytes, error, into: &io.out.bytes)
            endStanza(&io)
        }
    }
}
