public import Basics
import Wire

/// What the server sends.
extension NATSSession {
    /// Handles bytes from the server.
    public mutating func receive(
        _ bytes: borrowing RawSpan, now: Instant, output: inout ByteBuffer, events: inout [Event]
    ) {
        guard state != .ended, bytes.byteCount > 0 else { return }
        lastByte = now
        guard state != .startingTLS else { return end(.bytesBeforeTLS, &events) }
        reader.append(bytes)
        do throws(NATSFault) {
            while state != .ended, let event = try reader.next() {
                do throws(NATSFailure) {
                    try handle(event, now, &output, &events)
                } catch {
                    return end(error, &events)
                }
            }
        } catch {
            end(.unreadable(error), &events)
        }
    }

    /// The TLS handshake that `.startTLS` asked for is done.
    public mutating func tlsStarted(now: Instant, output: inout ByteBuffer, events: inout [Event]) {
        guard state == .startingTLS, let info else { return }
        do throws(NATSFailure) { try logIn(info, isEncrypted: true, now, &output) } catch {
            end(error, &events)
        }
    }

    private mutating func handle(
        _ event: NATSEvent, _ now: Instant, _ output: inout ByteBuffer, _ events: inout [Event]
    ) throws(NATSFailure) {
        switch event {
        case .info(let text): try described(try NATSServerInfo(parsing: text), now, &output, &events)
        case .message(let message):
            guard state == .ready else { throw .badDescription("a message came before the login") }
            events.append(.message(message))
        case .ping: NATSWriter.pong(to: &output)
        case .pong: answered(now, &events)
        case .ok: break
        case .error(let text):
            let error = NATSServerError(text)
            guard !error.endsConnection, state == .ready else { throw .refused(error) }
            events.append(.warning(error))
        }
    }

    /// The server has described itself, for the first time or again.
    private mutating func described(
        _ found: NATSServerInfo, _ now: Instant, _ output: inout ByteBuffer, _ events: inout [Event]
    ) throws(NATSFailure) {
        info = found
        guard state == .awaitingInfo else {
            return leaveIfAsked(now, &events)
        }
        guard found.hasHeaders else { throw .badDescription("expected headers, which JetStream needs") }
        let wantsTLS =
            switch tls {
            case .never, .ifRequired: found.requiresTLS
            case .always: true
            case .first: false
            }
        guard wantsTLS else { return try logIn(found, isEncrypted: tls == .first, now, &output) }
        guard tls != .never else { throw .tlsRequired }
        guard found.offersTLS else { throw .tlsUnavailable }
        guard reader.heldBytes == 0 else { throw .bytesBeforeTLS }
        state = .startingTLS
        events.append(.startTLS)
    }

    private mutating func logIn(
        _ info: NATSServerInfo, isEncrypted: Bool, _ now: Instant, _ output: inout ByteBuffer
    ) throws(NATSFailure) {
        let answer = try login.answer(to: info.nonce)
        NATSWriter.connect(name: name, login: answer, requiresTLS: isEncrypted, to: &output)
        state = .loggingIn
        // The first answer shows that the login is accepted; the server sends an error otherwise.
        ping(now, &output)
    }

    private mutating func leaveIfAsked(_ now: Instant, _ events: inout [Event]) {
        guard state == .ready, let info, info.isLeaving, leaveAt == nil else { return }
        leaveAt = now.advanced(milliseconds: Limits.NATSConnection.leaveMilliseconds)
        events.append(.leaving)
    }

    private mutating func answered(_ now: Instant, _ events: inout [Event]) {
        if !pings.isEmpty { pings.removeFirst() }
        guard state == .loggingIn, let info else { return }
        state = .ready
        events.append(.ready(info))
        leaveIfAsked(now, &events)
    }
}
