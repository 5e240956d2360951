import Basics
import Delivery
import Wire

extension AppServerSession {
    /// Takes a device's message or a receipt; it is written as soon as there is room.
    ///
    /// A window of escaped payloads is larger than what may wait on a connection: written at once, an app server that
    /// reads well would be taken for one that does not read.
    mutating func deliver(_ message: StoredUpstream, _ io: inout SessionIO) {
        // A session that ends keeps silent: the core offers it elsewhere once it hears of the end.
        guard stage == .ready else { return }
        if unwritten.isEmpty, hasRoom(io) { return write(message, &io) }
        unwritten.append(message)
        // The core holds messages and receipts to one window each, but forgets old receipts by itself.
        if unwritten.count > 2 * outstanding.window { write(unwritten.removeFirst(), &io) }
    }

    /// Writes what waits, as far as there is room.
    mutating func writeUnwritten(_ io: inout SessionIO) {
        var written = 0
        while stage == .ready, written < unwritten.count, hasRoom(io) {
            write(unwritten[written], &io)
            written += 1
        }
        if written > 0 { unwritten.removeFirst(written) }
    }

    private func hasRoom(_ io: borrowing SessionIO) -> Bool {
        !isCongested && io.out.bytes.count < Limits.upstreamBytesAtOnce
    }

    /// Writes the stanza of a device's message or of a receipt, and waits for its ack (ccs-xmpp 3.6, 4.1).
    private mutating func write(_ message: StoredUpstream, _ io: inout SessionIO) {
        let token = settings.seal.token(for: message.from)
        switch message.kind {
        case .message:
            UpstreamMessage.appendHead(
                sender: message.sender, isFCMDomain: message.isFCMDomain, into: &io.out.bytes)
            Translation.append(dataOf: message.body, to: &io.out.bytes)
            UpstreamMessage.appendTail(
                lifetimeSeconds: message.lifetimeSeconds, from: token.raw, messageID: message.messageID.raw,
                category: message.category.raw, into: &io.out.bytes)
        case .receipt(let sentAt):
            Receipt.append(
                sender: message.sender, isFCMDomain: message.isFCMDomain,
                originalMessageID: message.messageID.raw, token: token.raw,
                category: message.category.raw, sentAt: sentAt, into: &io.out.bytes)
        }
        endStanza(isKept: false, &io)
        outstanding.add(
            AppServerOutstanding.Entry(
                sequence: message.sequence, isReceipt: message.kind != .message, token: token,
                messageID: message.messageID))
    }

    /// An ack or nack: settles what it names on this connection; others are ignored (ccs-xmpp 4.2).
    mutating func received(acknowledgement payload: borrowing AppServerPayload, _ io: inout SessionIO) {
        guard let sender else { return }
        do throws(Refusal) {
            let answer = try Acknowledgement(payload)
            let to = payload.reader.string(answer.to)
            let id = payload.reader.string(answer.messageID)
            if let sequence = outstanding.settle(to: to, messageID: id) {
                io.events.append(
                    .upstreamSettled(
                        connection, sender, sequence, answer.isPositive ? .acknowledged : .refused))
            } else {
                io.counts.unknownAcks += 1
                if settings.strictAcks { throw .badAck(field: PayloadField.messageID.name) }
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
