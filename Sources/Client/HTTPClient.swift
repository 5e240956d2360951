public import Basics
public import Transport
public import Wire

/// Requests to one server over one connection, one after the other; it is opened when it is needed.
///
/// Used on the reactor's thread only.
public final class HTTPClient: ConnectionDelegate {
    /// What is told of one request, once.
    public typealias Completion = (Result<HTTPAnswer, ClientError>) -> Void

    private let reactor: Reactor
    private let endpoint: Endpoint
    private var connection: Connection?
    private var reader = ResponseReader()
    private var waiting: [(call: HTTPCall, completion: Completion)] = []
    /// Whether the first of `waiting` has been sent.
    private var isSent = false
    /// Whether the connection has carried an answer before: then it may end just as the next request is sent.
    private var isReused = false

    /// A client that is not connected yet.
    public init(reactor: Reactor, endpoint: Endpoint) {
        self.reactor = reactor
        self.endpoint = endpoint
    }

    /// Makes a request after those made before.
    public func send(_ call: HTTPCall, _ completion: @escaping Completion) {
        waiting.append((call, completion))
        proceed()
    }

    /// Makes a request and turns the reactor until it is answered; not from within a callback.
    public func answer(
        to call: HTTPCall, seconds: Int = Limits.clientAnswerSeconds
    ) throws(ClientError) -> HTTPAnswer {
        var result: Result<HTTPAnswer, ClientError>?
        send(call) { result = $0 }
        guard reactor.turn(seconds: seconds, until: { result != nil }), let result else { throw .noAnswer }
        return try result.get()
    }

    /// Ends the connection; requests under way fail.
    public func close() { connection?.close(.responseComplete) }

    private func proceed() {
        guard let first = waiting.first, !isSent else { return }
        guard let connection else {
            do {
                reader = ResponseReader()
                isReused = false
                connection = try reactor.connect(
                    to: endpoint.address, tls: endpoint.tls, serverName: endpoint.serverName, delegate: self)
            } catch { finish(.failure(.connection(.internalError, detail: error.description))) }
            return
        }
        guard connection.isOpen else { return }
        isSent = true
        connection.deadline = reactor.now.monotonic.advanced(seconds: Limits.clientAnswerSeconds)
        first.call.append(host: endpoint.hostHeader, to: &connection.outbox.bytes)
        connection.outbox.endRecord()
        connection.setNeedsFlush()
    }

    /// Tells the first request's outcome, and goes on with the next.
    private func finish(_ result: Result<HTTPAnswer, ClientError>) {
        guard !waiting.isEmpty else { return }
        let completion = waiting.removeFirst().completion
        isSent = false
        isReused = true
        connection?.deadline = .distantFuture
        completion(result)
        proceed()
    }

    // MARK: ConnectionDelegate

    public func connectionOpened(_ connection: Connection, now: Now) { proceed() }

    public func connection(_ connection: Connection, received bytes: RawSpan, now: Now) {
        reader.append(bytes)
        do throws(RequestFault) {
            while let answer = try reader.next(isHead: waiting.first?.call.method == "HEAD") {
                if answer.closes { leave(connection) }
                finish(.success(answer))
            }
        } catch {
            leave(connection)
            finish(.failure(.malformed("\(error.reason)")))
        }
    }

    /// Lets go of a connection that carries no more answers.
    private func leave(_ connection: Connection) {
        self.connection = nil
        connection.close(.responseComplete)
    }

    public func connection(_ connection: Connection, outboundIsCongested: Bool, now: Now) {}

    public func connectionDeadline(_ connection: Connection, now: Now) {
        leave(connection)
        finish(.failure(.noAnswer))
    }

    public func connectionClosed(_ connection: Connection, reason: CloseReason, now: Now) {
        guard connection === self.connection else { return }
        let detail = connection.failure
        self.connection = nil
        if isSent, let answer = reader.finish() { return finish(.success(answer)) }
        if isSent, isReused {
            isSent = false
            return proceed()
        }
        if !waiting.isEmpty { finish(.failure(.connection(reason, detail: detail))) }
    }
}
