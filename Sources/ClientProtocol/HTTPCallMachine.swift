public import Basics
public import Wire

/// Calls to one server over HTTP/1.1, one after the other: calls and bytes in, bytes and results out.
///
/// It knows no socket and no clock. Its owner opens a connection when there is need, reports what becomes of it, and closes
/// it when a step says that it carries no more calls.
public struct HTTPCallMachine: ~Copyable {
    /// What came of something that happened on the connection.
    public struct Step: Sendable {
        /// The result of the call that was made first of those without one.
        public var result: Result<HTTPAnswer, ClientError>?
        /// Whether the connection carries no more calls.
        public var leavesConnection = false
    }

    private enum State { case closed, opening, open }

    private var state = State.closed
    private var reader = ResponseReader()
    private var waiting: [HTTPCall] = []
    /// Whether the first of `waiting` has been sent.
    private var isSent = false
    /// Whether the connection has carried an answer before: then it may end just as the next call is sent.
    private var isReused = false

    /// A machine without calls and without a connection.
    public init() {}

    /// Whether a call waits and there is no connection for it.
    public var needsConnection: Bool { state == .closed && !waiting.isEmpty }

    /// Adds a call after those added before.
    public mutating func add(_ call: HTTPCall) { waiting.append(call) }

    /// A connection is being opened.
    public mutating func connectionOpening() {
        state = .opening
        reader = ResponseReader()
        isReused = false
    }

    /// The connection is open.
    public mutating func connectionOpened() { state = .open }

    /// Writes the next call if there is one, the connection is open and no answer is due. Returns whether it did.
    public mutating func write(host: String, to out: inout Outbox) -> Bool {
        guard state == .open, !isSent, let call = waiting.first else { return false }
        isSent = true
        call.append(host: host, to: &out.bytes)
        out.endRecord()
        return true
    }

    /// Bytes came from the server.
    public mutating func receive(_ bytes: RawSpan) -> Step {
        // What is said unasked must not be taken for the answer to the next call.
        guard isSent else { return leave() }
        reader.append(bytes)
        do throws(RequestFault) {
            guard let answer = try reader.next(isHead: waiting.first?.method == "HEAD") else { return Step() }
            return finish(.success(answer), leaves: answer.closes || !reader.isEmpty)
        } catch {
            return finish(.failure(.malformed("\(error.reason)")), leaves: true)
        }
    }

    /// The answer did not come in time.
    public mutating func timedOut() -> Step {
        isSent ? finish(.failure(.noAnswer), leaves: true) : leave()
    }

    /// The connection has ended, or could not be opened. A call that a connection in use before may not have carried is made
    /// again on the next one.
    public mutating func connectionClosed(_ reason: CloseReason, detail: String) -> Step {
        state = .closed
        if isSent, let answer = reader.finish() { return finish(.success(answer), leaves: false) }
        if isSent, isReused {
            isSent = false
            return Step()
        }
        guard !waiting.isEmpty else { return Step() }
        return finish(.failure(.connection(reason, detail: detail)), leaves: false)
    }

    private mutating func finish(_ result: Result<HTTPAnswer, ClientError>, leaves: Bool) -> Step {
        waiting.removeFirst()
        isSent = false
        isReused = true
        if leaves { state = .closed }
        return Step(result: result, leavesConnection: leaves)
    }

    private mutating func leave() -> Step {
        state = .closed
        return Step(leavesConnection: true)
    }
}
