public import Basics
import Transport

/// A node that this one dials.
struct Dial {
    /// What is being done about it.
    enum State {
        /// It is dialled again at this time.
        case waiting(TimerID)
        /// Its name is being looked up.
        case lookingUp(UInt64)
        /// A connection to one of its addresses is being made; the others are tried next.
        case linking(NodeLink, rest: ArraySlice<SocketAddress>)
    }

    var host: String
    var port: UInt16
    var backoff: Backoff
    var state: State?
}

/// Connections to the nodes with higher numbers.
extension NodeLinkHost {
    /// Keeps a link to a node at `host:port`. Ignores the nodes that dial this one, and what is no address.
    ///
    /// A node that is called here again has shown that it is there: what waits for its next attempt begins at once, with short waits.
    public func dial(_ node: NodeNumber, at address: String) {
        guard node > identity.node, let (host, port) = Self.parts(of: address) else { return }
        if var dial = dials[node] {
            let isMoved = dial.host != host || dial.port != port
            dial.backoff.reset()
            (dial.host, dial.port) = (host, port)
            dials[node] = dial
            // A link stays where it is; what waits or is under way begins again.
            switch dial.state {
            case .linking(let link, _):
                if isMoved, link.identity == nil { link.end(.dropped, reactor.now) }
                return
            case .lookingUp where !isMoved: return
            case .lookingUp, .waiting, nil: cancel(node)
            }
        } else {
            dials[node] = Dial(
                host: host, port: port,
                backoff: Backoff(
                    minimumMilliseconds: Limits.NodeLinks.redialMilliseconds,
                    maximumMilliseconds: Limits.NodeLinks.longestRedialMilliseconds, seed: random.next()))
        }
        lookUp(node)
    }

    /// Ends the link to a node, and dials it no more.
    public func forget(_ node: NodeNumber) {
        cancel(node)
        let dial = dials.removeValue(forKey: node)
        if case .linking(let link, _) = dial?.state { link.end(.dropped, reactor.now) }
    }

    private func cancel(_ node: NodeNumber) {
        if case .waiting(let timer) = dials[node]?.state { reactor.cancel(timer) }
    }

    static func parts(of address: String) -> (host: String, port: UInt16)? {
        guard let colon = address.lastIndex(of: ":"),
            let port = UInt16(address[address.index(after: colon)...]),
            port > 0
        else { return nil }
        var host = address[..<colon]
        if host.first == "[", host.last == "]" { host = host.dropFirst().dropLast() }
        return host.isEmpty ? nil : (String(host), port)
    }

    private func lookUp(_ node: NodeNumber) {
        guard let dial = dials[node] else { return }
        if let literal = SocketAddress(literal: dial.host, port: dial.port) {
            return connect(node, [literal][...], .unreachable(""), reactor.now)
        }
        lookups += 1
        let number = lookups
        dials[node]?.state = .lookingUp(number)
        reactor.lookUp(dial.host, port: dial.port) { [weak self] found in self?.lookedUp(node, number, found)
        }
    }

    /// The name of a node was looked up; that may have begun again meanwhile.
    private func lookedUp(
        _ node: NodeNumber, _ number: UInt64, _ found: Result<[SocketAddress], TransportError>
    ) {
        guard case .lookingUp(number) = dials[node]?.state else { return }
        switch found {
        case .success(let addresses): connect(node, addresses[...], .unreachable(""), reactor.now)
        case .failure(let error): connect(node, [], .unreachable(error.description), reactor.now)
        }
    }

    /// Connects to the first address; without any, waits and begins again.
    private func connect(
        _ node: NodeNumber, _ addresses: ArraySlice<SocketAddress>, _ failure: LinkFailure, _ now: Now
    ) {
        var (addresses, failure) = (addresses, failure)
        while let address = addresses.popFirst() {
            let link = NodeLink(host: self, dialled: node)
            do throws(TransportError) {
                dials[node]?.state = .linking(link, rest: addresses)
                link.attach(
                    try reactor.connect(
                        to: address, tls: client, serverName: NodeName.text(node, in: identity.cluster),
                        pace: .nodeLinks, delegate: link))
                add(link)
                return
            } catch { failure = .unreachable(error.description) }
        }
        isUnreachable(node, failure)
        wait(node, now)
    }

    /// The link to a dialled node is over.
    func redial(_ node: NodeNumber, after link: NodeLink, _ now: Now) {
        guard case .linking(let current, let rest) = dials[node]?.state, current === link else { return }
        if let since = link.upSince {
            let span = now.monotonic.milliseconds(since: since)
            if span > Limits.NodeLinks.longestRedialMilliseconds { dials[node]?.backoff.reset() }
        } else if !rest.isEmpty {
            return connect(node, rest, .unreachable(""), now)
        }
        wait(node, now)
    }

    private func wait(_ node: NodeNumber, _ now: Now) {
        guard let pause = dials[node]?.backoff.next() else { return }
        let timer = reactor.schedule(at: now.monotonic.advanced(milliseconds: pause)) { [weak self] _ in
            self?.lookUp(node)
        }
        dials[node]?.state = .waiting(timer)
    }
}
