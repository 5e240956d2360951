import Basics
import Delivery
import Operator
import Sessions
import Synchronization
import Transport
import Wire

/// A connection on the administrative port: the pages of the daemon, and the operator API if it is on.
///
/// Requests of the API are answered one after the other, each command on its own thread, as on the control socket.
final class OperatorLink: HTTPLink, CommandLink {
    /// The request that is being answered.
    private struct Current {
        let requestID: UInt32
        let caller: APICaller
        /// Whether the caller accepts a stream of events.
        let isStream: Bool
        /// Whether the stream has begun.
        var hasBegun = false
    }

    private let control: ControlServer
    var running = RunningCommand()
    private var current: Current?
    /// Requests that wait for the current one; pipelining limits them.
    private var waiting: [HostRequest] = []

    init(connection: Connection, host: ReactorHost, control: ControlServer, settings: SharedSettings) {
        self.control = control
        let isOn = control.daemon.configuration.operatorAPI
        super.init(
            kind: .admin, connection: connection, host: host, daemon: control.daemon,
            session: HTTPSession(
                connection: connection.id, settings: settings, isAdministrative: true,
                hostPrefixes: isOn ? [OperatorRoute.prefix, ConsoleFiles.prefix] : [],
                acceptedHosts: control.daemon.adminHosts,
                start: isOn ? ConsoleFiles.prefix + "/" : "/metrics", now: host.reactor.now))
        guard isOn else { return }
        call(host.reactor.now) { session, _ in
            session.checkHeads { [unowned self] head in
                (try? authenticate(head, host.reactor.now)) != nil
            }
        }
    }

    override func answer(_ request: HostRequest, now: Now) {
        switch request.question {
        case .operation:
            waiting.append(request)
            startNext(now)
        case .page(.metrics) where request.request != nil && !connection.peer.isLoopback:
            // Beyond loopback the figures are for operators, as everything else.
            do throws(APIProblem) {
                if let head = request.request { _ = try authenticate(head, now) }
                super.answer(request, now: now)
            } catch { answer(request.requestID, error.response, now) }
        case .page, .feedback, .history, .topics: super.answer(request, now: now)
        }
    }

    private func startNext(_ now: Now) {
        while current == nil, !waiting.isEmpty {
            let next = waiting.removeFirst()
            guard let request = next.request else { continue }
            if request.path.starts(with: ConsoleFiles.prefix.utf8) {
                answer(next.requestID, ConsoleFiles.embedded.response(to: request), now)
                continue
            }
            do throws(APIProblem) {
                let caller = try authenticate(request, now)
                connection.isAnonymous = false
                call(now) { session, _ in session.trustPeer() }
                try start(next.requestID, request, caller, now)
            } catch { answer(next.requestID, error.response, now) }
        }
    }

    private func start(
        _ requestID: UInt32, _ request: HTTPRequest, _ caller: APICaller, _ now: Now
    ) throws(APIProblem) {
        switch try APITarget(request) {
        case .session(let method): answer(requestID, try browserSession(method, caller, now), now)
        case .openAPI:
            answer(requestID, HTTPResponse(.ok, HTTPResponse.json, daemon.operatorOpenAPI), now)
        case .figures:
            let left = Latch<Bool>()
            let control = control
            try run(Current(requestID: requestID, caller: caller, isStream: true)) { reply in
                control.sendFigures(until: left, reply)
            }
            running.left = left
        case .operation(let route, let arguments):
            let isStream = route.isStream || EventStream.isAccepted(by: request)
            let wanted = try command(route, arguments, caller)
            let (control, id, address) = (control, connection.id, connection.peer.host)
            try run(Current(requestID: requestID, caller: caller, isStream: isStream)) { reply in
                control.run(
                    wanted, connection: id, caller: .operator(name: caller.name, address: address),
                    reply: reply)
            }
        }
    }

    /// Returns the command of a request. Throws if the role of the caller does not permit it, or an argument is invalid.
    private func command(
        _ route: OperatorRoute, _ arguments: JSONValue, _ caller: APICaller
    ) throws(APIProblem) -> any OperatorCommand {
        let operation = route.operation.command
        let summary = operation.summary
        let address = ControlCaller.operator(name: caller.name, address: connection.peer.host)
        guard summary.role == .viewer || caller.role == .operator else {
            let problem = OperatorProblem(
                "\(summary.name) needs the role \(summary.role.rawValue), but \(caller.name) is a \(caller.role.rawValue)",
                hint: "use the token of an operator with that role")
            control.record(OperatorRecord(refused: operation, problem), address)
            throw APIProblem(.forbidden, problem.text, hint: problem.hint)
        }
        do throws(FieldProblem) { return try operation.init(arguments: arguments) } catch {
            control.record(OperatorRecord(RequestProblem(error, in: operation)), address)
            throw APIProblem(error)
        }
    }

    /// Runs a command on its own thread.
    private func run(
        _ next: Current, _ body: @escaping @Sendable (@escaping (OperatorReply) -> Void) -> Void
    ) throws(APIProblem) {
        let (id, requestID, control, name) = (connection.id, next.requestID, control, next.caller.name)
        let kind = CommandPlaces.Kind(role: next.caller.role, isStream: next.isStream)
        try control.apiPlaces.withLock { (places) throws(APIProblem) in try places.take(for: name, kind) }
        current = next
        let mailbox = control.mailboxes[host.index]
        do throws(TransportError) {
            try Threads.start(name: "ccsd-operator") {
                body { reply in
                    mailbox.post { host in (host.link(id) as? OperatorLink)?.send(reply, to: requestID) }
                }
                control.apiPlaces.withLock { $0.free(for: name, kind) }
                mailbox.post { host in (host.link(id) as? OperatorLink)?.finished(requestID) }
            }
        } catch {
            control.apiPlaces.withLock { $0.free(for: name, kind) }
            current = nil
            throw APIProblem.busy(error.description)
        }
    }

    private func finished(_ requestID: UInt32) {
        guard current?.requestID == requestID else { return }
        running.finished()
        current = nil
        startNext(host.reactor.now)
    }

    // MARK: Answers

    private func answer(_ requestID: UInt32, _ response: HTTPResponse, _ now: Now) {
        call(now) { session, io in session.answer(requestID: requestID, response, now: now, io: &io) }
    }

    /// Sends a line of the reply to the current request: as an event, or the last one as the response.
    private func send(_ reply: OperatorReply, to requestID: UInt32) {
        guard let current, current.requestID == requestID else { return }
        // A viewer gets no token in a text either, such as a message's ID, that an app server has put one into.
        let reply = current.caller.role == .viewer ? reply.withoutTokens : reply
        let now = host.reactor.now
        let isLast: Bool
        switch reply {
        case .progress, .line:
            // What the caller does not read in time is left out; the steps of a trace are counted where they are made.
            guard current.isStream, !running.isCongested, recheck(now) else { return }
            isLast = false
        case .result(let json):
            guard current.isStream else {
                return answer(requestID, HTTPResponse(.ok, HTTPResponse.json, Array(json.compact.utf8)), now)
            }
            isLast = true
        case .problem(let problem):
            guard current.hasBegun else { return answer(requestID, APIProblem(problem).response, now) }
            isLast = true
        }
        var bytes = ByteBuffer()
        let event = EventStream.event(reply)
        EventStream.append(event.name, event.json, to: &bytes)
        self.current?.hasBegun = true
        let content = bytes.copied()
        call(now) { session, io in
            session.stream(
                requestID: requestID, EventStream.contentType, content, isLast: isLast, now: now, io: &io)
        }
    }

    /// Closes the connection if it has a stream whose caller is no operator any more. Returns whether the stream may go on.
    ///
    /// A command that has not sent anything yet is answered: it may be the one that has removed its own caller.
    @discardableResult
    func recheck(_ now: Now) -> Bool {
        let now = host.clock.judgedMachine(now)
        guard let current, current.hasBegun, !daemon.operators.isValid(current.caller, now: now) else {
            return true
        }
        connection.close(.credentialsRevoked)
        return false
    }

    // MARK: The connection

    override func connection(_ connection: Connection, outboundIsCongested isCongested: Bool, now: Now) {
        running.isCongested = isCongested
        super.connection(connection, outboundIsCongested: isCongested, now: now)
    }

    override func connectionClosed(_ connection: Connection, reason: CloseReason, now: Now) {
        running.callerLeft()
        super.connectionClosed(connection, reason: reason, now: now)
    }

    override func perform(_ command: SessionCommand, now: Now) {
        switch command {
        case .reply, .submission:
            guard let step = running.take(command, now: host.clock.judged(now)), let current else {
                return
            }
            send(OperatorReply(TraceDevice.Line.step(step)), to: current.requestID)
        // A stream has no end of its own.
        case .connection(.close(let reason)), .connection(.endWhenIdle(_, let reason)):
            if current?.hasBegun == true {
                connection.close(reason)
            } else {
                super.perform(command, now: now)
            }
        case .connection, .appServer, .device: super.perform(command, now: now)
        }
    }

    override func perform(_ round: inout CommandRound, now: Now) {
        while let command = round.take(for: connection.id) { perform(command, now: now) }
    }
}
