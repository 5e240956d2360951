import Basics
import Glibc

/// Input: from the socket to the owner.
extension Connection {
    /// Reads from the socket until it is empty, the owner stops reading, or this turn's share is used up.
    func readable(_ now: Now) {
        var share = pace.readBytesPerTurn
        if !unreadInput.isEmpty || hasBufferedRecords { openUnreadInput(now) }
        while state == .awaitingProxyHeader || state == .handshaking || (state == .open && isReading) {
            guard share > 0 else { return reactor.readLater(self) }
            guard !inputEnded else { return }
            let staging = reactor.staging
            let room = unsafe staging.received
            let count = SystemCall.retrying { unsafe recv(socket, room.baseAddress, room.count, 0) }
            guard count > 0 else { return noInput(count, now) }
            share -= count
            unsafe open(UnsafeRawBufferPointer(start: room.baseAddress, count: count), now)
            // A short read has emptied the socket; with edge triggering epoll reports further input.
            if count < TLSStaging.receiveBytes, !peerHungUp { return }
        }
        if state == .closing || state == .lingering { discardInput(now) }
    }

    private func openUnreadInput(_ now: Now) {
        guard isReading, state == .open else { return }
        hasBufferedRecords = false
        var bytes = ByteBuffer()
        swap(&bytes, &unreadInput)
        unsafe bytes.bytes.withUnsafeBytes { unsafe open($0, now) }
    }

    /// Handles a read without data: the socket is empty, at its end, or broken.
    private func noInput(_ result: Int, _ now: Now) {
        if result == 0 { return peerEnded(now) }
        guard errno != EAGAIN else { return }
        fail(code: errno)
    }

    /// Closes the connection for a system error.
    func fail(code: Int32) {
        failure = SystemCall.words(for: code)
        switch state {
        case .connecting: abort(.connectFailed)
        default: abort(code == ETIMEDOUT || code == EHOSTUNREACH ? .deadPeer : .peerReset)
        }
    }

    /// Passes received bytes to TLS and the decrypted bytes to the owner.
    private func open(_ bytes: UnsafeRawBufferPointer, _ now: Now) {
        guard !tls.isPlain else { return unsafe received(bytes, now) }
        let staging = reactor.staging
        unsafe staging.unread = unsafe bytes
        staging.restOfRecord = restOfRecord
        defer { restOfRecord = staging.restOfRecord }
        if state == .awaitingProxyHeader {
            guard let rest = unsafe readProxyHeader(bytes, now) else { return }
            unsafe staging.unread = unsafe rest
        }
        if state == .handshaking {
            let first = unsafe staging.unread
            continueHandshake(now)
            if state == .closed, closeReason == .handshakeFailed { unsafe answerPlain(first) }
        }
        if state == .open {
            tls.beginBatch()
            openRecords(staging, now)
            tls.endBatch()
        }
        if state == .open, !isReading {
            // Bytes after the record at which the owner stopped wait here and in OpenSSL's buffer.
            unsafe unreadInput.append(staging.unread)
            hasBufferedRecords = true
        }
        unsafe staging.unread = UnsafeRawBufferPointer(start: nil, count: 0)
        // Output of TLS itself: the end of a handshake, a key update, an alert.
        sendSealed(now)
    }

    /// Decrypts records and passes them to the owner; several at once where the owner wants it, which saves the cost of a call for
    /// each message.
    @inline(__always)
    private func openRecords(_ staging: TLSStaging, _ now: Now) {
        let most = pace.joinsRecords ? TLSStaging.plainBytes : 1
        while isReading {
            var count = 0
            var end: TLSSession.Step?
            while end == nil, count < most {
                switch tls.read(staging, at: count) {
                case .done(let added):
                    count += added
                    if unsafe staging.unread.isEmpty, !tls.hasBufferedBytes { end = .wantsMore }
                case let other: end = other
                }
            }
            if count > 0 {
                unsafe received(UnsafeRawBufferPointer(start: staging.plain.baseAddress, count: count), now)
                // If the owner has stopped reading, OpenSSL repeats the end when it continues.
                guard state == .open, isReading else { return }
            }
            switch end {
            case .done, nil: break
            case .wantsMore: return
            case .ended: return peerEnded(now)
            case .failed(let words):
                failure = words
                return abort(.protocolViolation)
            }
        }
    }

    @inline(__always)
    private func received(_ bytes: UnsafeRawBufferPointer, _ now: Now) {
        delegate?.connection(self, received: unsafe bytes.bytes, now: now)
    }

    /// Continues the TLS handshake with the bytes in the staging memory.
    func continueHandshake(_ now: Now) {
        switch tls.handshake() {
        case .done: opened(now)
        case .wantsMore: break
        case .ended: abort(.peerClosed)
        case .failed(let words):
            failure = words
            sendSealed(now)
            abort(.handshakeFailed)
        }
    }

    /// Answers a client that begins without TLS, where the listener has an answer; what the socket does not accept at once is lost.
    private func answerPlain(_ first: UnsafeRawBufferPointer) {
        guard let answer = unsafe acceptor?.plainAnswer?(first.bytes) else { return }
        let socket = socket
        _ = unsafe answer.withUnsafeBytes { answer in
            SystemCall.retrying {
                unsafe Glibc.send(socket, answer.baseAddress, answer.count, Int32(MSG_NOSIGNAL))
            }
        }
    }

    /// Opens the connection for data.
    func opened(_ now: Now) {
        state = .open
        stateDeadline = .distantFuture
        reactor.arm(self)
        delegate?.connectionOpened(self, now: now)
        if !outbox.isEmpty { setNeedsFlush() }
    }

    private func peerEnded(_ now: Now) {
        guard !inputEnded else { return }
        inputEnded = true
        switch state {
        case .awaitingProxyHeader:
            failure = "the peer closed before its PROXY header ended"
            abort(.peerClosed)
        case .handshaking:
            failure = "the peer closed during the TLS handshake"
            abort(.peerClosed)
        case .open:
            if delegate?.connectionInputEnded(self, now: now) != true { close(.peerClosed) }
        case .closing: break
        case .connecting, .lingering, .closed: abort(.peerClosed)
        }
    }

    /// Reads and discards input, so that a reset does not discard our last bytes.
    private func discardInput(_ now: Now) {
        unreadInput.removeAll()
        var share = pace.readBytesPerTurn
        while !inputEnded {
            guard share > 0 else { return reactor.readLater(self) }
            let room = unsafe reactor.staging.received
            let count = SystemCall.retrying { unsafe recv(socket, room.baseAddress, room.count, 0) }
            guard count > 0 else { return noInput(count, now) }
            share -= count
        }
    }
}
