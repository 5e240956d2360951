import Basics
import Glibc

/// Output: from the owner to the socket.
extension Connection {
    /// The socket can accept bytes (again).
    func writable(_ now: Now) {
        switch state {
        case .connecting: connectEnded(now)
        case .awaitingProxyHeader, .handshaking, .open, .closing: if !waiting.isEmpty { flush(now) }
        case .lingering, .closed: break
        }
    }

    /// Sends as much as the socket accepts, and finishes closing once everything is sent.
    func flush(_ now: Now) {
        needsFlush = false
        guard state != .closed, state != .lingering else { return }
        if !waiting.isEmpty { sendWaiting(now) }
        if waiting.isEmpty, !outbox.isEmpty, state == .open || state == .closing { sendOutbox(now) }
        if state == .closing, outboundCount == 0 { finishClosing(now) }
        checkOutbound(now)
    }

    private func sendOutbox(_ now: Now) {
        var batch = Outbox()
        swap(&batch, &outbox)
        if tls.isPlain {
            send(batch.bytes.bytes, now)
        } else if unsafe batch.bytes.bytes.withUnsafeBytes({ unsafe sealRecords($0, batch.recordEnds) }) {
            sendSealed(now)
        } else {
            abort(.peerClosed)
        }
        // A busy connection reuses the memory of its outbox; an idle one frees it soon.
        let isSmall = batch.bytes.count <= Limits.Connection.warmOutboxBytes
        batch.removeAll(keepingCapacity: isSmall)
        guard isSmall, state == .open else { return }
        swap(&batch, &outbox)
        reactor.keepWarm(self)
    }

    /// Encrypts each record of the outbox by itself: one stanza, one TLS record (ccs-xmpp 1.2).
    private func sealRecords(_ bytes: UnsafeRawBufferPointer, _ ends: [Int]) -> Bool {
        var start = 0
        if ends.count > 1 { tls.beginBatch() }
        for (at, end) in ends.enumerated() {
            if at > 0, at == ends.count - 1 { tls.endBatchAfterNext() }
            guard unsafe tls.seal(UnsafeRawBufferPointer(rebasing: bytes[start..<end])) else { return false }
            start = end
        }
        guard start < bytes.count else { return true }
        return unsafe tls.seal(UnsafeRawBufferPointer(rebasing: bytes[start...]))
    }

    /// Sends what TLS has written into the staging memory.
    func sendSealed(_ now: Now) {
        let staging = reactor.staging
        guard !staging.sealed.isEmpty else { return }
        if state == .closed, !waiting.isEmpty {
            // An alert that cannot be sent at once is dropped.
        } else if waiting.isEmpty {
            send(staging.sealed.bytes, now)
        } else {
            waiting.append(staging.sealed.bytes)
        }
        staging.sealed.removeAll(keepingCapacity: staging.sealed.count <= Limits.Connection.outboundBytes)
    }

    /// Writes bytes to the socket; those that it does not accept wait.
    private func send(_ bytes: borrowing RawSpan, _ now: Now) {
        let sent = write(bytes)
        guard sent >= 0 else { return }
        if sent < bytes.byteCount {
            waiting.append(bytes.extracting(sent..<bytes.byteCount))
            writeDeadline = now.monotonic.advanced(milliseconds: pace.writeMilliseconds)
            reactor.arm(self)
        }
    }

    private func sendWaiting(_ now: Now) {
        let sent = write(waiting.bytes)
        guard sent > 0 else { return }
        waiting.removeFirst(sent)
        writeDeadline =
            waiting.isEmpty ? .distantFuture : now.monotonic.advanced(milliseconds: pace.writeMilliseconds)
    }

    /// Writes bytes to the socket. Returns how many it accepted, or -1 if the connection failed.
    private func write(_ bytes: borrowing RawSpan) -> Int {
        let socket = socket
        let sent = unsafe bytes.withUnsafeBytes { bytes in
            SystemCall.retrying {
                unsafe Glibc.send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
        }
        if sent >= 0 { return sent }
        if errno == EAGAIN { return 0 }
        fail(code: errno)
        return -1
    }

    /// Enforces the limit of pending output, and notifies the owner of congestion.
    private func checkOutbound(_ now: Now) {
        guard state == .open || state == .closing else { return }
        let count = outboundCount
        if count > pace.outboundBytes { return abort(.slowConsumer) }
        guard state == .open else { return }
        if !isCongested, count > pace.outboundLowBytes {
            isCongested = true
        } else if isCongested, count <= pace.outboundLowBytes / 2 {
            isCongested = false
        } else {
            return
        }
        reactor.hasFollowUp = true
        delegate?.connection(self, outboundIsCongested: isCongested, now: now)
    }

    /// Handles the end of an outbound TCP connect.
    private func connectEnded(_ now: Now) {
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        _ = unsafe getsockopt(socket, SOL_SOCKET, SO_ERROR, &code, &length)
        guard code == 0 else { return fail(code: code) }
        guard !tls.isPlain else { return opened(now) }
        state = .handshaking
        continueHandshake(now)
        sendSealed(now)
    }

    /// Ends TLS and the outbound direction of TCP after everything is sent, and notifies the owner.
    private func finishClosing(_ now: Now) {
        if !tls.isPlain, !endIsSealed {
            endIsSealed = true
            tls.sealEnd()
            sendSealed(now)
            guard waiting.isEmpty, state == .closing else { return }
        }
        shutOutput()
        notifyClosed(now)
        guard !inputEnded, pace.lingerMilliseconds > 0 else { return abort(closeReason) }
        state = .lingering
        writeDeadline = .distantFuture
        stateDeadline = now.monotonic.advanced(milliseconds: pace.lingerMilliseconds)
        reactor.arm(self)
        reactor.readLater(self)
    }

    /// Shuts down the outbound direction of TCP.
    private func shutOutput() { _ = shutdown(socket, Int32(SHUT_WR)) }

    /// Ends the outbound direction of TLS and TCP and keeps reading, as a half-closed peer does. Nothing may be sent
    /// afterwards; bytes that the socket has not accepted are lost.
    public func endOutput() {
        guard state == .open, !endIsSealed else { return }
        flush(reactor.now)
        guard state == .open else { return }
        if !tls.isPlain {
            endIsSealed = true
            tls.sealEnd()
            sendSealed(reactor.now)
        }
        shutOutput()
    }

    /// Notifies the owner of the close, and releases it.
    func notifyClosed(_ now: Now) {
        guard let owner = delegate else { return }
        delegate = nil
        isAnonymous = false
        isBeforeLogin = false
        reactor.hasFollowUp = true
        owner.connectionClosed(self, reason: closeReason, now: now)
    }

    /// Handles the timer: acts on deadlines that have passed, and arms it for the next one.
    func handleTimer(_ now: Now) {
        if stateDeadline <= now.monotonic {
            stateDeadline = .distantFuture
            switch state {
            case .connecting, .awaitingProxyHeader, .handshaking: abort(.handshakeDeadline)
            case .open: break
            case .closing, .lingering, .closed: abort(closeReason)
            }
        } else if writeDeadline <= now.monotonic, !waiting.isEmpty {
            abort(.slowConsumer)
        } else if deadline <= now.monotonic, state == .open {
            deadline = .distantFuture
            delegate?.connectionDeadline(self, now: now)
        }
        if state != .closed { reactor.arm(self) }
    }
}
