public import Basics
public import Wire

/// Sends calls to one server over HTTP/1.1, one after the other: calls and bytes in, bytes and results out.
///
/// It has no socket and no clock. The owner opens a connection if `needsConnection`, reports its events, and closes it
/// when a step has `leavesConnection`.
public struct HTTPCallMachine: ~Copyable {
    /// The consequence of an event on the connection.
    public struct Step: Sendable {
        /// The result of the oldest unfinished call, if it is now finished.
        public var result: Result<HTTPAnswer, ClientError>?
        /// Whether the owner must close the connection.
        public var leavesConnection = false
    }

    private enum State { case closed, opening, open }

    private var state = State.closed
    private var reader = ResponseReader()
    private var waiting: [HTTPCall] = []
    /// Whether the first of `waiting` has been sent.
    private var isSent = false
    /// Whether the connection has carried an answer; the server may then close it just as the next call is sent.
    private var isReused = false

    /// Creates a machine without calls and without a connection.
    public init() {}

    /// Whether a call is waiting and there is no connection.
    public var needsConnection: Bool { state == .closed && !waiting.isEmpty }

    /// Appends a call to the queue.
    public mutating func add(_ call: HTTPCall) { waiting.append(call) }

    /// Call when a connection is being opened.
    public mutating func connectionOpening() {
        state = .opening
        reader = ResponseReader()
        isReused = false
    }

    /// Call when the connection is open.
    public mutating func connectionOpened() { state = .open }

    /// Writes the next call if the connection is open and no answer is due. Returns whether a call was written.
    public mutating func write(host: String, to out: inout Outbox) -> Bool {
        guard state == .open, !isSent, let call = waiting.first else { return false }
        isSent = true
        call.append(host: host, to: &out.bytes)
        out.endRecord()
        return true
    }

    /// Processes bytes from the server.
    public mutating func receive(_ bytes: RawSpan) -> Step {
        // Unsolicited bytes must not be mistaken for the answer to the next call.
        guard isSent else { return leave() }
        reader.append(bytes)
        do throws(RequestFault) {
            guard let answer = try reader.next(isHead: waiting.first?.method == "HEAD") else { return Step() }
            return finish(.success(answer), leaves: answer.closes || !reader.isEmpty)
        } catch {
            return finish(.failure(.malformed("\(error.reason)")), leaves: true)
        }
    }

    /// Call when the answer did not arrive in time.
    public mutating func timedOut() -> Step {
        isSent ? finish(.failure(.noAnswer), leaves: true) : leave()
    }

    /// Call when the connection has ended or could not be opened. A call on a reused connection may not have reached the
    /// server, so it is sent again on the next one.
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
