import Basics
import Delivery
import Operator
import Store
import Synchronization
import Transport
import Wire

/// Carries out the operator's commands. What each may be given and returns is its type in Operator.
final class ControlServer: Sendable {
    /// What a command works with besides its arguments.
    struct Call {
        /// The connection that it came on.
        var connection: ConnectionID
        /// Sends a line before the answer.
        var send: (OperatorReply) -> Void

        /// Reports how far a long command is.
        func report(_ done: Int, _ total: Int, _ what: String) {
            send(.progress(OperatorProgress(done: done, total: total, what: what)))
        }
    }

    let daemon: Daemon
    let mailboxes: [ReactorMailbox]
    private let tickets = Atomic<UInt32>(1)

    init(daemon: Daemon) {
        self.daemon = daemon
        mailboxes = daemon.mailboxes
    }

    /// Carries out one request line; every line that comes back goes to `reply`. It leaves one audit line.
    func run(
        _ line: [UInt8], connection: ConnectionID, caller: ControlCaller,
        reply: @escaping (OperatorReply) -> Void
    ) {
        let request: OperatorRequest
        do throws(RequestProblem) { request = try RequestLine.request(line.raw) } catch {
            OperatorRecord(error).write(caller, daemon.log)
            return reply(.problem(error.problem))
        }
        do throws(OperatorProblem) {
            let done = try carryOut(request, Call(connection: connection, send: reply))
            OperatorRecord(request, .done(done.auditResult), seal: daemon.seal).write(caller, daemon.log)
            reply(.result(done.json))
        } catch {
            OperatorRecord(request, .refused(error), seal: daemon.seal).write(caller, daemon.log)
            reply(.problem(error))
        }
    }

    /// The answer of a command that was carried out.
    private struct Done {
        let json: JSONValue
        let auditResult: String

        /// Takes the answer of a command of its own type alone.
        init<Command: OperatorCommand>(_ command: Command, _ answer: Command.Answer) {
            json = answer.json
            auditResult = Command.auditResult(answer)
        }
    }

    /// Hands each command to its handler: one without a handler does not compile, and neither does one that returns the answer
    /// of another.
    private func carryOut(_ request: OperatorRequest, _ call: Call) throws(OperatorProblem) -> Done {
        switch request {
        case .showStatus(let command): Done(command, showStatus())
        case .checkConfiguration(let command): Done(command, daemon.checkConfiguration().answer)
        case .reloadConfiguration(let command): Done(command, try reload(command))
        case .showClock(let command): Done(command, showClock())
        case .acceptClock(let command): Done(command, try acceptClock())
        case .drainSessions(let command): Done(command, try drain(command, call))
        case .auditStore(let command): Done(command, try audit())
        case .listSessions(let command): Done(command, try listSessions(command))
        case .sendMessage(let command): Done(command, try send(command, call))
        case .addSender(let command): Done(command, try addSender(command))
        case .listSenders(let command): Done(command, listSenders())
        case .rotateKey(let command): Done(command, try rotateKey(command))
        case .removeSender(let command): Done(command, try removeSender(command))
        case .addAccount(let command): Done(command, try addAccount(command))
        case .listAccounts(let command): Done(command, try listAccounts(command))
        case .removeAccount(let command): Done(command, try removeAccount(command))
        case .listDevices(let command): Done(command, try listDevices(command))
        case .showDevice(let command): Done(command, try showDevice(command))
        case .traceDevice(let command): Done(command, try traceDevice(command, call))
        case .forgetDevice(let command): Done(command, try forgetDevice(command, call))
        case .listInstallations(let command): Done(command, try listInstallations(command))
        case .showInstallation(let command): Done(command, try showInstallation(command))
        case .revokeInstallation(let command): Done(command, try revokeInstallation(command, call))
        case .listTopics(let command): Done(command, try listTopics(command))
        case .listRunningTopics(let command): Done(command, try listRunningTopics(command))
        }
    }

    /// Asks every reactor, on its own thread, and returns their answers in order.
    func ask<Answer: Sendable>(
        _ question: @escaping @Sendable (ReactorHost) -> Answer
    ) throws(OperatorProblem) -> [Answer] {
        var answers: [Answer] = []
        for latch in mailboxes.ask(question) {
            guard let answer = latch.wait() else {
                throw OperatorProblem(
                    "a reactor did not answer in \(Limits.Operator.answerSeconds) s",
                    hint: "see the log of ccsd")
            }
            answers.append(answer)
        }
        return answers
    }

    /// Gives an event to the core in the name of a control connection, and waits for the answer to its ticket.
    func submit(
        from connection: ConnectionID, _ event: (Origin) -> Event
    ) throws(OperatorProblem) -> SessionCommand {
        let origin = origin(of: connection)
        let latch = Latch<SessionCommand>()
        let event = event(origin)
        mailboxes[Int(connection.reactor)].post { host in
            (host.link(connection) as? ControlLink)?.expect(origin.ticket, latch)
            host.accept(event, now: host.reactor.now)
        }
        guard let answer = latch.wait() else {
            throw OperatorProblem(
                "the core did not answer in \(Limits.Operator.answerSeconds) s",
                hint: "ccsctl status shows whether the store is well")
        }
        return answer
    }

    /// A number of its own for a request of a connection.
    func origin(of connection: ConnectionID) -> Origin {
        Origin(connection: connection, ticket: tickets.add(1, ordering: .relaxed).newValue)
    }

    /// Turns a failure of the store into words for the operator.
    func reading<Value>(_ body: () throws(StoreError) -> Value) throws(OperatorProblem) -> Value {
        do { return try body() } catch {
            throw OperatorProblem(
                "the store cannot be read: \(error.description)", hint: "see ccsctl audit and the log")
        }
    }

    /// Turns what the senders refuse into words for the operator.
    func changing<Value>(_ body: () throws(Senders.Problem) -> Value) throws(OperatorProblem) -> Value {
        do { return try body() } catch { throw OperatorProblem(error.text, hint: error.hint) }
    }

    /// Throws if there is no such sender.
    func requireSender(_ sender: SenderID) throws(OperatorProblem) {
        guard daemon.senders.directory[sender] == nil else { return }
        throw OperatorProblem(
            "there is no sender \(sender.number)", hint: "ccsctl senders list shows those there are")
    }
}
