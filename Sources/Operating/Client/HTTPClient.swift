public import Basics
public import ClientProtocol
public import Transport
public import Wire

/// Sends requests to one server one after the other, over a connection that is opened on demand.
///
/// Used on the reactor's thread only.
public final class HTTPClient: ConnectionDelegate {
    /// The callback for the result of one request.
    public typealias Completion = (Result<HTTPAnswer, ClientError>) -> Void

    private let reactor: Reactor
    private let endpoint: Endpoint
    private var connection: Connection?
    private var machine = HTTPCallMachine()
    private var completions: [Completion] = []

    /// Creates a client that is not connected yet.
    public init(reactor: Reactor, endpoint: Endpoint) {
        self.reactor = reactor
        self.endpoint = endpoint
    }

    /// Sends a request after all earlier ones.
    public func send(_ call: HTTPCall, _ completion: @escaping Completion) {
        machine.add(call)
        completions.append(completion)
        proceed()
    }

    /// Sends a request and runs the reactor until it is answered. Must not be called from a callback.
    public func answer(
        to call: HTTPCall, seconds: Int = Limits.Client.answerSeconds
    ) throws(ClientError) -> HTTPAnswer {
        var result: Result<HTTPAnswer, ClientError>?
        send(call) { result = $0 }
        guard reactor.turn(seconds: seconds, until: { result != nil }), let result else { throw .noAnswer }
        return try result.get()
    }

    /// Closes the connection; requests in flight fail.
    public func close() { connection?.close(.responseComplete) }

    private func proceed() {
        if machine.needsConnection {
            machine.connectionOpening()
            do {
                connection = try reactor.connect(
                    to: endpoint.address, tls: endpoint.tls, serverName: endpoint.serverName, delegate: self)
            } catch { finish(machine.connectionClosed(.internalError, detail: error.description)) }
        }
        guard let connection, connection.isOpen,
            machine.write(host: endpoint.hostHeader, to: &connection.outbox)
        else { return }
        connection.deadline = reactor.now.monotonic.advanced(seconds: Limits.Client.answerSeconds)
        connection.setNeedsFlush()
    }

    /// Reports the result of a request, and continues with the next one.
    private func finish(_ step: HTTPCallMachine.Step) {
        if step.leavesConnection {
            let left = connection
            connection = nil
            left?.close(.responseComplete)
        }
        if let result = step.result, !completions.isEmpty {
            connection?.deadline = .distantFuture
            completions.removeFirst()(result)
        }
        proceed()
    }

    // MARK: ConnectionDelegate

    public func connectionOpened(_ connection: Connection, now: Now) {
        guard connection === self.connection else { return }
        machine.connectionOpened()
        proceed()
    }

    public func connection(_ connection: Connection, received bytes: RawSpan, now: Now) {
        guard connection === self.connection else { return }
        finish(machine.receive(bytes))
    }

    public func connection(_ connection: Connection, outboundIsCongested: Bool, now: Now) {}

    public func connectionDeadline(_ connection: Connection, now: Now) {
        if connection === self.connection { finish(machine.timedOut()) }
    }

    public func connectionClosed(_ connection: Connection, reason: CloseReason, now: Now) {
        guard connection === self.connection else { return }
        let detail = connection.failure
        self.connection = nil
        finish(machine.connectionClosed(reason, detail: detail))
    }
}
