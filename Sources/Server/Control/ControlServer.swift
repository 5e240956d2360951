import Basics
import Delivery
import Store
import Synchronization
import Transport
import Wire

/// The operator's commands, by name. Each informs or modifies; what it may take and returns is the Catalogue's table.
final class ControlServer: Sendable {
    /// What a command works with.
    struct Request {
        var arguments: JSONValue
        var connection: ConnectionID
        /// Tells how far a long command is.
        var progress: (_ done: Int, _ total: Int, _ what: String) -> Void
        /// Says one line of many, before the answer.
        var say: (_ name: String, _ line: JSONValue) -> Void
    }

    /// Why a command was not carried out.
    struct Problem: Error {
        var text: String
        var hint = ""
    }

    let daemon: Daemon
    let mailboxes: [ReactorMailbox]
    private let tickets = Atomic<UInt32>(1)

    init(daemon: Daemon) {
        self.daemon = daemon
        mailboxes = daemon.mailboxes
    }

    private typealias Command = (ControlServer) -> (Request) throws(Problem) -> JSONValue

    private static var commands: [(name: String, run: Command)] {
        [
            ("status", status),
            ("senders add", addSender),
            ("senders list", listSenders),
            ("senders rotate-key", rotateKey),
            ("senders remove", removeSender),
            ("service-accounts add", addAccount),
            ("service-accounts list", listAccounts),
            ("service-accounts remove", removeAccount),
            ("devices list", listDevices),
            ("devices show", showDevice),
            ("devices trace", traceDevice),
            ("devices forget", forgetDevice),
            ("installations list", listInstallations),
            ("installations show", showInstallation),
            ("installations revoke", revokeInstallation),
            ("sessions list", listSessions),
            ("topics list", listTopics),
            ("topics running", listRunningTopics),
            ("send", send),
            ("clock show", showClock),
            ("clock accept", acceptClock),
            ("drain", drain),
            ("audit", audit),
            ("check", check),
            ("reload", reload),
        ]
    }

    /// The names of all commands, as `ccsctl` sends them.
    static var names: [String] { commands.map(\.name) }

    /// Carries out one request line of a user of this machine; every line for the answer goes to `reply`.
    func run(
        _ line: [UInt8], connection: ConnectionID, user: UInt32?, reply: @escaping (String) -> Void
    ) {
        var request = JSONValue.null
        let answer: ControlReply
        do {
            request = try JSONValue(parsing: line.raw)
            answer = run(request, connection: connection, reply: reply)
        } catch {
            answer = .problem(
                "the request is not JSON", hint: "one JSON object a line: {\"command\":\"status\"}")
        }
        OperatorRecord(request, answer, seal: daemon.seal, isKnown: Self.names.contains).write(
            user, daemon.log)
        reply(answer.line)
    }

    private func run(_ request: JSONValue, connection: ConnectionID, reply: @escaping (String) -> Void)
        -> ControlReply
    {
        guard let name = request["command"]?.text else {
            return .problem(
                "the request has no text 'command'", hint: "known: \(Self.names.joined(separator: ", "))")
        }
        guard let command = Self.commands.first(where: { $0.name == name }) else {
            return .problem(
                "there is no command '\(name)'", hint: "known: \(Self.names.joined(separator: ", "))")
        }
        let full = Request(
            arguments: request["arguments"] ?? .object([]), connection: connection,
            progress: { reply(ControlReply.progress(done: $0, total: $1, what: $2)) },
            say: { reply(JSONValue.object([.init($0, $1)]).compact) })
        do {
            return .result(try command.run(self)(full))
        } catch {
            return .problem(error.text, hint: error.hint)
        }
    }

    /// Asks every reactor, on its own thread, and returns their answers in order.
    func ask<Answer: Sendable>(_ question: @escaping @Sendable (ReactorHost) -> Answer) throws(Problem)
        -> [Answer]
    {
        var answers: [Answer] = []
        for latch in mailboxes.ask(question) {
            guard let answer = latch.wait() else {
                throw Problem(
                    text: "a reactor did not answer in \(Limits.controlAnswerSeconds) s",
                    hint: "see the log of ccsd")
            }
            answers.append(answer)
        }
        return answers
    }

    /// Gives an event to the core in the name of a control connection, and waits for the answer to its ticket.
    func submit(from connection: ConnectionID, _ event: (Origin) -> Event) throws(Problem) -> SessionCommand {
        let origin = origin(of: connection)
        let latch = Latch<SessionCommand>()
        let event = event(origin)
        mailboxes[Int(connection.reactor)].post { host in
            (host.link(connection) as? ControlLink)?.expect(origin.ticket, latch)
            host.accept(event, now: host.reactor.now)
        }
        guard let answer = latch.wait() else {
            throw Problem(
                text: "the core did not answer in \(Limits.controlAnswerSeconds) s",
                hint: "ccsctl status shows whether the store is well")
        }
        return answer
    }

    /// A number of its own for a request of a connection.
    func origin(of connection: ConnectionID) -> Origin {
        Origin(connection: connection, ticket: tickets.add(1, ordering: .relaxed).newValue)
    }

    /// Turns a failure of the store into words for the operator.
    func reading<Value>(_ body: () throws(StoreError) -> Value) throws(Problem) -> Value {
        do { return try body() } catch {
            throw Problem(
                text: "the store cannot be read: \(error.description)", hint: "see ccsctl audit and the log")
        }
    }
}
