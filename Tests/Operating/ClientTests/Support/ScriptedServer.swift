public import Basics
public import Client
public import Transport

/// A server on loopback that answers each piece it reads by a closure.
public final class ScriptedServer: ConnectionDelegate {
    /// Its reactor.
    public let reactor: Reactor
    /// Where it listens.
    public private(set) var address = SocketAddress.loopback(port: 0)
    /// How many connections it has accepted.
    public private(set) var accepted = 0
    /// How many of them have ended.
    public private(set) var closed = 0
    private let answer: (ScriptedServer, [UInt8]) -> [UInt8]?

    /// Listens, on a reactor of its own or one shared with others.
    public init(
        on shared: Reactor? = nil, _ answer: @escaping (ScriptedServer, [UInt8]) -> [UInt8]?
    ) throws(TransportError) {
        reactor = if let shared { shared } else { try Reactor(index: 0) }
        self.answer = answer
        let socket = try ListeningSocket(tcp: .loopback(port: 0))
        address = socket.address
        try reactor.listen(on: socket, name: "test", tls: nil) { [unowned self] _ in
            accepted += 1
            return self
        }
    }

    /// How clients reach it.
    public var endpoint: Endpoint { Endpoint(address: address, tls: nil) }

    public func connectionOpened(_ connection: Connection, now: Now) {}
    public func connection(_ connection: Connection, received bytes: RawSpan, now: Now) {
        guard let reply = answer(self, [UInt8](copying: bytes)) else {
            return connection.close(.responseComplete)
        }
        connection.outbox.bytes.append(reply)
        connection.outbox.endRecord()
        connection.setNeedsFlush()
    }
    public func connection(_ connection: Connection, outboundIsCongested: Bool, now: Now) {}
    public func connectionDeadline(_ connection: Connection, now: Now) {}
    public func connectionClosed(_ connection: Connection, reason: CloseReason, now: Now) { closed += 1 }
}
