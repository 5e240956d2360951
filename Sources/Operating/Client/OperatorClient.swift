public import Basics
import ClientProtocol
public import Operator
public import Transport
import Wire

/// Sends commands to a daemon over its operator API: one connection for each command.
///
/// Calls block, as tools need it.
public final class OperatorClient: ConnectionDelegate {
    private let server: OperatorServer
    private let reactor: Reactor
    private var reader = EventAnswerReader()
    private var call = Outbox()
    /// Why the connection has ended; `nil` while it is open.
    private var ended: (reason: CloseReason, detail: String)?
    /// When the last bytes arrived.
    private var receivedAt = Instant.distantPast

    /// Creates a client, which connects for each command.
    public init(_ server: OperatorServer) throws(TransportError) {
        self.server = server
        reactor = try Reactor(index: 0)
    }

    /// Sends a command and waits for its answer. `onProgress` and `onLine` are called for each report and line before it.
    public func run<Command: OperatorCommand>(
        _ command: Command, onProgress: (OperatorProgress) -> Void = { _ in },
        onLine: (Command.Line) -> Void = { _ in }
    ) throws(Failure) -> ControlAnswer<Command.Answer> {
        var call = OperatorRoute.call(command)
        call.add("Authorization", "Bearer \(server.token.revealed)")
        reader = EventAnswerReader()
        self.call = Outbox()
        call.append(host: server.endpoint.hostHeader, to: &self.call.bytes)
        self.call.endRecord()
        ended = nil
        receivedAt = Now.read().monotonic
        let connection: Connection
        do throws(TransportError) {
            connection = try reactor.connect(
                to: server.endpoint.address, tls: server.endpoint.tls,
                serverName: server.endpoint.serverName, delegate: self)
        } catch { throw Failure(error) }
        defer {
            connection.delegate = nil
            connection.abort(.responseComplete)
            reactor.turn(waitMilliseconds: 0)
        }
        while true {
            if let answer: ControlAnswer<Command.Answer> = try nextAnswer(onProgress, onLine) {
                return answer
            }
            if let ended { throw failure(ended) }
            guard Now.read().monotonic.milliseconds(since: receivedAt) < Int64(Command.silenceSeconds) * 1_000
            else {
                throw Failure(
                    .unavailable, "no response from \(server.name) for \(Command.silenceSeconds) seconds",
                    hint: "check its log and the disk")
            }
            reactor.turn(waitMilliseconds: 1_000)
        }
    }

    /// Returns the answer, if it has arrived. Reports what precedes it.
    private func nextAnswer<Answer: Record, Line: OperatorLine>(
        _ onProgress: (OperatorProgress) -> Void, _ onLine: (Line) -> Void
    ) throws(Failure) -> ControlAnswer<Answer>? {
        while true {
            let part: EventAnswerReader.Part?
            do throws(RequestFault) { part = try reader.next() } catch { throw malformed("\(error.reason)") }
            switch part {
            case nil: return nil
            case .whole(let answer): return try whole(answer)
            case .event(let name, let data):
                let json: JSONValue
                do throws(JSONError) { json = try JSONValue(parsing: data.raw) } catch {
                    throw malformed("an event that is not JSON")
                }
                let line: Line?
                do throws(FieldProblem) {
                    switch name {
                    case EventStream.result: return .done(try Answer(json: json))
                    case EventStream.problem: return .refused(problem(try ProblemBody(json: json)))
                    case EventStream.progress:
                        onProgress(try OperatorProgress(json: json))
                        continue
                    default: line = try Line(name: name, json: json)
                    }
                } catch { throw malformed("an invalid event: \(error.text)") }
                guard let line else { throw malformed("an event of an unknown kind") }
                onLine(line)
            }
        }
    }

    private func whole<Answer: Record>(_ answer: HTTPAnswer) throws(Failure) -> ControlAnswer<Answer> {
        guard let json = try? JSONValue(parsing: answer.body.raw) else {
            throw Failure(
                .failure, "\(server.name) answered with status \(answer.status)",
                hint: "check that --server is the administrative port of a ccsd with operator_api: true")
        }
        guard answer.status != 200 else {
            do throws(FieldProblem) { return .done(try Answer(json: json)) } catch {
                throw malformed("an invalid answer: \(error.text)")
            }
        }
        guard let body = try? ProblemBody(json: json) else { throw malformed("an invalid problem") }
        switch answer.status {
        case 401, 403: throw Failure(.noPermission, body.detail, hint: body.hint)
        case 429, 503: throw Failure(.unavailable, body.detail, hint: body.hint)
        default: return .refused(problem(body))
        }
    }

    private func problem(_ body: ProblemBody) -> OperatorProblem {
        OperatorProblem(body.detail, hint: body.hint)
    }

    private func malformed(_ what: String) -> Failure {
        Failure(
            .software, "\(server.name) sent \(what)",
            hint: "check that ccsctl and ccsd have the same version: ccsctl version")
    }

    private func failure(_ ended: (reason: CloseReason, detail: String)) -> Failure {
        let words = ended.detail.isEmpty ? ended.reason.rawValue : ended.detail
        let hint =
            words.contains("certificate")
            ? "name the authority of the server with --ca-file FILE; ccsctl ca prints it on that machine"
            : "check that ccsd runs there with operator_api: true, and that --server has its admin_port"
        return Failure(.unavailable, "no connection to \(server.name): \(words)", hint: hint)
    }

    // MARK: ConnectionDelegate

    public func connectionOpened(_ connection: Connection, now: Now) {
        swap(&connection.outbox, &call)
        connection.setNeedsFlush()
    }

    public func connection(_ connection: Connection, received bytes: RawSpan, now: Now) {
        receivedAt = now.monotonic
        reader.append(bytes)
    }

    public func connection(_ connection: Connection, outboundIsCongested: Bool, now: Now) {}

    public func connectionDeadline(_ connection: Connection, now: Now) {}

    public func connectionClosed(_ connection: Connection, reason: CloseReason, now: Now) {
        ended = (reason, connection.failure)
    }
}
