import Basics
import CLinux
import Glibc

/// Listeners and outbound connections of a reactor.
extension Reactor {
    /// Accepts connections; `accept` returns the delegate of each, or `nil` to refuse it. `plainAnswer` is asked for an answer to a
    /// client that begins without TLS where `tls` is needed.
    public func listen(
        on socket: consuming ListeningSocket, name: ListenerName, tls: TLSContextHolder?,
        pace: PaceSettings = PaceSettings(), plainAnswer: PlainAnswer? = nil,
        accept: @escaping (Connection) -> (any ConnectionDelegate)?
    ) throws(TransportError) {
        let acceptor = Acceptor(socket: socket, name: name, tls: tls, pace: pace, accept: accept)
        acceptor.plainAnswer = plainAnswer
        acceptors.append(acceptor)
        try resume(acceptor, acceptors.count - 1)
    }

    private func resume(_ acceptor: Acceptor, _ index: Int) throws(TransportError) {
        // Exclusive: if reactors share one socket, a connection wakes only one of them.
        try watch(
            acceptor.descriptor, EPOLLIN.rawValue | EPOLLEXCLUSIVE.rawValue,
            key: Key.acceptor(index))
    }

    /// Changes the settings of listeners with TLS: how many connections of one address may exist that have not logged in (0
    /// disables the limit), how many on this reactor (`Int.max` disables it), and which addresses are proxies that send a PROXY header.
    public func changeListeners(
        anonymousPerAddress: Int, beforeLogin: Int = .max, proxies: [AddressNetwork]
    ) {
        beforeLoginLimit = beforeLogin
        for case let acceptor? in acceptors where acceptor.tls != nil {
            acceptor.pace.anonymousPerAddress = anonymousPerAddress
            acceptor.proxies = proxies
        }
    }

    /// Closes all listeners, or those with one name.
    public func stopListening(_ name: ListenerName? = nil) {
        for index in acceptors.indices {
            guard let acceptor = acceptors[index], name == nil || acceptor.name == name else { continue }
            acceptors[index] = nil
            if acceptor.attention == .watched { unwatch(acceptor) }
            acceptor.stop()
        }
    }

    /// Stops accepting connections of the listeners with a name, which stay open: connections wait in their sockets until
    /// `releaseListening`.
    public func holdListening(_ name: ListenerName) {
        for case let acceptor? in acceptors where acceptor.name == name {
            if acceptor.attention == .watched { unwatch(acceptor) }
            acceptor.attention = .held
        }
    }

    /// Accepts connections again after `holdListening`, those that wait first.
    public func releaseListening(_ name: ListenerName) {
        for case (let index, let acceptor?) in acceptors.enumerated()
        where acceptor.name == name && acceptor.attention == .held {
            acceptor.attention = .watched
            do throws(TransportError) { try resume(acceptor, index) } catch {
                closeWaiting(acceptor, code: error.code)
            }
        }
    }

    private func unwatch(_ acceptor: Acceptor) {
        _ = epoll_ctl(epoll.number, EPOLL_CTL_DEL, acceptor.descriptor, nil)
    }

    /// Accepts waiting connections, up to the listener's share of a turn.
    func acceptAll(_ acceptor: Acceptor) {
        // Events of this turn may be older than a pause.
        guard acceptor.attention == .watched else { return }
        for _ in 0..<acceptor.pace.acceptsPerTurn {
            let (socket, peer) = acceptor.next()
            if socket >= 0 {
                admit(socket, peer, acceptor)
                continue
            }
            switch errno {
            case EAGAIN: return
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: return closeWaiting(acceptor, code: errno)
            default: continue  // The peer closed the connection before it was accepted.
            }
        }
    }

    private func admit(_ socket: Int32, _ peer: SocketAddress, _ acceptor: Acceptor) {
        // Behind a proxy the client's address counts, which is in the header.
        let isProxied = acceptor.expectsProxyHeader(peer)
        if let reason = refusal(socket, acceptor) { return refuse(socket, peer, acceptor, reason) }
        var tls = Optional(TLSSession.plain)
        if let context = acceptor.tls?.current { tls = TLSSession.accepting(context, staging) }
        guard let tls = tls.take() else {
            _ = OpenSSLErrors.drain()
            return refuse(socket, peer, acceptor, .noMemory)
        }
        acceptor.connections += 1
        let connection = add(
            socket, peer, tls, acceptor, acceptor.pace, isProxied ? .awaitingProxyHeader : .handshaking)
        if acceptor.tls != nil { countBeforeLogin(connection) }
        if !isProxied { countAnonymous(connection) }
        connection.stateDeadline = now.monotonic.advanced(milliseconds: acceptor.pace.handshakeMilliseconds)
        connection.delegate = acceptor.accept(connection)
        begin(connection)
    }

    /// Counts a connection that may log in, and closes the oldest one if there are too many.
    private func countBeforeLogin(_ connection: Connection) {
        func isIn(_ id: ConnectionID) -> Bool { self.connection(id)?.isBeforeLogin == true }
        beforeLogin.append(connection.id, isIn: isIn)
        connection.isBeforeLogin = true
        guard beforeLogin.count > beforeLoginLimit, let oldest = beforeLogin.oldest(isIn: isIn) else {
            return
        }
        makeRoom(oldest, .beforeLoginFull)
    }

    /// Counts a connection of an address that is known, and closes the oldest one of that address if there are too many.
    func countAnonymous(_ connection: Connection) {
        connection.isAnonymous = true
        let oldest = connection.acceptor?.countAnonymous(connection.id, of: connection.peer) { id in
            self.connection(id)?.isAnonymous == true
        }
        if let oldest { makeRoom(oldest, .addressFull) }
    }

    /// Closes a connection that has not logged in.
    private func makeRoom(_ oldest: ConnectionID, _ reason: ConnectionRefusal) {
        guard let connection = connection(oldest) else { return }
        report?(.refused(listener: connection.listener, peer: connection.peer, reason: reason))
        // Now, since more connections may be accepted before this one is released.
        connection.isAnonymous = false
        connection.isBeforeLogin = false
        connection.abort(.tooManyConnections)
    }

    /// Returns an open connection; `nil` if it is closed.
    private func connection(_ id: ConnectionID) -> Connection? {
        guard let connection = connections[Int(id.slot)], connection.id == id else { return nil }
        return connection
    }

    /// Returns why a connection must be refused; `nil` if it is accepted.
    private func refusal(_ socket: Int32, _ acceptor: Acceptor) -> ConnectionRefusal? {
        // Listeners without TLS are the operator's own and must work when unauthenticated peers have used up the limits.
        if acceptor.tls != nil {
            if connectionCount >= connectionLimit { return .reactorFull }
            if Int(socket) >= descriptorCeiling() { return .noDescriptor }
        }
        return acceptor.connections >= acceptor.pace.connections ? .listenerFull : nil
    }

    private func refuse(
        _ socket: Int32, _ peer: SocketAddress, _ acceptor: Acceptor, _ reason: ConnectionRefusal
    ) {
        _ = Glibc.close(socket)
        report?(.refused(listener: acceptor.name, peer: peer, reason: reason))
    }

    private func begin(_ connection: Connection) {
        let mask = EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
        do throws(TransportError) {
            try watch(connection.socket, mask, key: Key.connection(connection.id))
        } catch {
            connection.failure = error.detail
            return connection.abort(.internalError)
        }
        guard connection.delegate != nil else {
            connection.isAnonymous = false
            connection.isBeforeLogin = false
            return connection.abort(.operatorRequest)
        }
        if connection.state == .handshaking, connection.isPlain {
            connection.opened(now)
        } else {
            arm(connection)
        }
    }

    private func add(
        _ socket: Int32, _ peer: SocketAddress, _ tls: consuming TLSSession, _ acceptor: Acceptor?,
        _ pace: PaceSettings, _ state: Connection.State
    ) -> Connection {
        generation &+= 1
        let slot: UInt32
        if let free = freeSlots.popLast() {
            slot = free
        } else {
            slot = UInt32(connections.count)
            connections.append(nil)
        }
        let id = ConnectionID(node: node, reactor: UInt16(index), slot: slot, generation: generation)
        let connection = Connection(
            id: id, socket: socket, peer: peer, tls: tls, reactor: self, acceptor: acceptor, pace: pace,
            state: state)
        connections[Int(slot)] = connection
        connectionCount += 1
        return connection
    }

    /// Handles a lack of descriptors: accepts and closes waiting connections with the reserve descriptor, and pauses the
    /// listener.
    ///
    /// Without the pause the listener would stay readable, and the loop would spin.
    private func closeWaiting(_ acceptor: Acceptor, code: Int32) {
        var dropped = 0
        if reserve >= 0 { _ = Glibc.close(reserve) }
        while dropped < acceptor.pace.acceptsPerTurn {
            let (socket, _) = acceptor.next()
            guard socket >= 0 else { break }
            _ = Glibc.close(socket)
            dropped += 1
        }
        reserve = Self.openReserve()
        guard let index = acceptors.firstIndex(where: { $0 === acceptor }) else { return }
        acceptor.attention = .awaitingDescriptors
        unwatch(acceptor)
        let reason: ConnectionRefusal = code == EMFILE || code == ENFILE ? .noDescriptor : .noMemory
        report?(.acceptFailed(listener: acceptor.name, reason: reason, code: code, dropped: dropped))
        schedule(at: now.monotonic.advanced(milliseconds: Int64(Limits.Connection.acceptPauseMilliseconds))) {
            [weak self, weak acceptor] _ in
            guard let self, let acceptor, self.acceptors[index] === acceptor,
                acceptor.attention == .awaitingDescriptors
            else { return }
            acceptor.attention = .watched
            do throws(TransportError) {
                try self.resume(acceptor, index)
                self.report?(.acceptResumed(listener: acceptor.name))
            } catch {
                self.closeWaiting(acceptor, code: error.code)
            }
        }
    }

    /// Opens a connection, from `source` if given; success or failure is reported to the delegate.
    public func connect(
        to address: SocketAddress, from source: SocketAddress? = nil, tls settings: TLSClientSettings? = nil,
        serverName: String? = nil, pace: PaceSettings = .outgoing, delegate: any ConnectionDelegate
    ) throws(TransportError) -> Connection {
        let tls = try session(settings, serverName, address)
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let number = socket(address.family, kind, 0)
        guard number >= 0 else { throw SystemCall.failure("open a socket for \(address)") }
        if address.family != AF_UNIX {
            ListeningSocket.setStreamOptions(number, silenceSeconds: pace.silenceSeconds)
        }
        if let source, unsafe source.withSocketAddress({ unsafe Glibc.bind(number, $0, $1) }) != 0 {
            let failure = SystemCall.failure("bind a connection to \(source)")
            _ = Glibc.close(number)
            throw failure
        }
        let result = unsafe address.withSocketAddress { target, length in
            SystemCall.retrying { unsafe Glibc.connect(number, target, length) }
        }
        let code = errno
        guard let result else {
            _ = Glibc.close(number)
            throw TransportError("connect to \(address)", detail: "the path is too long for a socket")
        }
        return begin(number, address, tls, pace, delegate, code: result == 0 ? 0 : code)
    }

    /// Opens a connection over a connected socket: the peer may have sent bytes on it before TLS.
    public func connect(
        over connected: consuming Descriptor, to address: SocketAddress, tls settings: TLSClientSettings,
        serverName: String? = nil, pace: PaceSettings = .outgoing, delegate: any ConnectionDelegate
    ) throws(TransportError) -> Connection {
        let tls = try session(settings, serverName, address)
        let number = connected.release()
        _ = fcntl(number, F_SETFL, O_NONBLOCK)
        if address.family != AF_UNIX { ListeningSocket.setStreamOptions(number) }
        return begin(number, address, tls, pace, delegate, code: 0)
    }

    func session(
        _ settings: TLSClientSettings?, _ serverName: String?, _ address: SocketAddress
    ) throws(TransportError) -> TLSSession {
        guard let settings else { return .plain }
        let tls = TLSSession.connecting(settings, staging, serverName: serverName, address: address)
        guard let tls else { throw OpenSSLErrors.failure("set up TLS for \(address)") }
        return tls
    }

    /// Takes ownership of an outbound socket whose connect has succeeded, is in progress, or has failed with a code.
    private func begin(
        _ socket: Int32, _ address: SocketAddress, _ tls: consuming TLSSession, _ pace: PaceSettings,
        _ delegate: any ConnectionDelegate, code: Int32
    ) -> Connection {
        // Tools connect between turns, and the last turn may be long ago: deadlines would have passed at once.
        now = Now.read()
        let connection = add(socket, address, tls, nil, pace, .connecting)
        connection.stateDeadline = now.monotonic.advanced(milliseconds: pace.handshakeMilliseconds)
        connection.delegate = delegate
        if code == 0 || code == EINPROGRESS { begin(connection) } else { connection.fail(code: code) }
        return connection
    }
}

extension PaceSettings {
    /// Settings of outbound connections.
    public static var outgoing: PaceSettings {
        var pace = PaceSettings()
        pace.handshakeMilliseconds = Int64(Limits.Connection.connectDeadlineSeconds) * 1_000
        return pace
    }
}
