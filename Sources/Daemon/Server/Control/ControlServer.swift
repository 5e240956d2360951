import Basics
import Delivery
import Operator
import Store
import Synchronization
import Transport
import Wire

/// Runs the operator's commands, whose arguments and answers are defined in the module Operator.
final class ControlServer: Sendable {
    /// The context of a command.
    struct Call {
        /// The connection that the command came from.
        var connection: ConnectionID
        /// Sends a line before the answer.
        var send: (OperatorReply) -> Void

        /// Reports the progress of a long command.
        func report(_ done: Int, _ total: Int, _ what: String) {
            send(.progress(OperatorProgress(done: done, total: total, what: what)))
        }
    }

    private static let handlers = CommandHandlers()

    let daemon: Daemon
    let mailboxes: [ReactorMailbox]
    private let requestIDs = Atomic<UInt32>(1)
    /// The commands and streams of the operator API that run.
    let apiPlaces = Mutex(CommandPlaces())
    /// The latest figures that a stream has sent.
    let figures = Mutex<(at: Instant, json: JSONValue)?>(nil)

    init(daemon: Daemon) {
        self.daemon = daemon
        mailboxes = daemon.core.mailboxes
        let missing = Self.handlers.missing
        precondition(missing.isEmpty, "no handler for \(missing)")
    }

    /// Runs one request line, passes every line of the reply to `reply`, and writes one audit line.
    func run(
        _ line: [UInt8], connection: ConnectionID, caller: ControlCaller,
        reply: @escaping (OperatorReply) -> Void
    ) {
        let request: any OperatorCommand
        do throws(RequestProblem) { request = try RequestLine.request(line.raw) } catch {
            record(OperatorRecord(error), caller)
            return reply(.problem(error.problem))
        }
        run(request, connection: connection, caller: caller, reply: reply)
    }

    /// Runs a command, passes every line of the reply to `reply`, and writes one audit line.
    func run(
        _ request: any OperatorCommand, connection: ConnectionID, caller: ControlCaller,
        reply: @escaping (OperatorReply) -> Void
    ) {
        do throws(OperatorProblem) {
            let done = try Self.handlers.carryOut(request, self, Call(connection: connection, send: reply))
            if !(request is ShowFigures) {
                record(OperatorRecord(request, .done(done.auditResult), seal: daemon.secrets.seal), caller)
            }
            reply(.result(done.json))
        } catch {
            record(OperatorRecord(request, .refused(error), seal: daemon.secrets.seal), caller)
            reply(.problem(error))
        }
    }

    /// Records a command in the log and, if it is of a kind that is kept, in the audit log.
    func record(_ record: OperatorRecord, _ caller: ControlCaller) {
        daemon.commandRecords.record(record, caller)
    }

    /// Runs a query on every reactor's thread. Returns the answers in the order of the reactors.
    func ask<Answer: Sendable>(
        _ question: @escaping @Sendable (ReactorHost) -> Answer
    ) throws(OperatorProblem) -> [Answer] {
        var answers: [Answer] = []
        for latch in mailboxes.ask(question) {
            guard let answer = latch.wait() else {
                throw OperatorProblem(
                    "a reactor did not answer within \(Limits.Operator.answerSeconds) s",
                    hint: "see the log of ccsd")
            }
            answers.append(answer)
        }
        return answers
    }

    /// Submits an event to the core for a control connection, and waits for the answer with its request ID.
    func submit(
        from connection: ConnectionID, _ event: (Requester) -> Event
    ) throws(OperatorProblem) -> SessionCommand {
        let requester = requester(of: connection)
        let latch = Latch<SessionCommand>()
        let event = event(requester)
        mailboxes[Int(connection.reactor)].post { host in
            (host.link(connection) as? any CommandLink)?.running.expect(requester.requestID, latch)
            host.accept(event)
        }
        guard let answer = latch.wait() else {
            throw OperatorProblem(
                "the core did not answer within \(Limits.Operator.answerSeconds) s",
                hint: "ccsctl status shows whether the store is healthy")
        }
        return answer
    }

    /// Submits several events, and waits for the answers with their request IDs, in order.
    func submit(
        from connection: ConnectionID, _ events: [(requestID: UInt32, event: Event)]
    ) throws(OperatorProblem) -> [SessionCommand] {
        let latches = events.map { _ in Latch<SessionCommand>() }
        mailboxes[Int(connection.reactor)].post { host in
            let link = host.link(connection) as? any CommandLink
            for (event, latch) in zip(events, latches) {
                link?.running.expect(event.requestID, latch)
                host.accept(event.event)
            }
        }
        var answers: [SessionCommand] = []
        for latch in latches {
            guard let answer = latch.wait() else {
                throw OperatorProblem(
                    "the core did not answer within \(Limits.Operator.answerSeconds) s",
                    hint: "ccsctl status shows whether the store is healthy")
            }
            answers.append(answer)
        }
        return answers
    }

    /// Returns a reply-to address with a new request ID for a connection.
    func requester(of connection: ConnectionID) -> Requester {
        Requester(connection: connection, requestID: requestIDs.add(1, ordering: .relaxed).newValue)
    }

    /// Converts an error of the store into a problem for the operator.
    func reading<Value>(_ body: () throws(StoreError) -> Value) throws(OperatorProblem) -> Value {
        do { return try body() } catch {
            guard let damage = daemon.storage.threads.damage.first(where: { $0.table == error.table }) else {
                throw OperatorProblem(
                    "the store cannot be read: \(error.description)", hint: "see ccsctl audit and the log")
            }
            throw OperatorProblem(
                "the store is damaged and cannot read this: \(damage)",
                hint: "restore a backup: see \"A damaged store\" in docs/operations.md")
        }
    }

    /// Converts a refused change of the senders into a problem for the operator.
    func changing<Value>(_ body: () throws(Senders.Problem) -> Value) throws(OperatorProblem) -> Value {
        do { return try body() } catch { throw OperatorProblem(error.text, hint: error.hint) }
    }

    /// Throws if the sender is unknown.
    func requireSender(_ sender: SenderID) throws(OperatorProblem) {
        guard daemon.senders.directory[sender] == nil else { return }
        throw OperatorProblem(
            "unknown sender \(sender.number)", hint: "ccsctl senders list shows all senders")
    }
}
