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

    let daemon: Daemon
    let mailboxes: [ReactorMailbox]
    private let requestIDs = Atomic<UInt32>(1)
    /// The commands and streams of the operator API that run.
    let apiPlaces = Mutex(CommandPlaces())
    /// The latest figures that a stream has sent.
    let figures = Mutex<(at: Instant, json: JSONValue)?>(nil)

    init(daemon: Daemon) {
        self.daemon = daemon
        mailboxes = daemon.mailboxes
    }

    /// Runs one request line, passes every line of the reply to `reply`, and writes one audit line.
    func run(
        _ line: [UInt8], connection: ConnectionID, caller: ControlCaller,
        reply: @escaping (OperatorReply) -> Void
    ) {
        let request: OperatorRequest
        do throws(RequestProblem) { request = try RequestLine.request(line.raw) } catch {
            record(OperatorRecord(error), caller)
            return reply(.problem(error.problem))
        }
        run(request, connection: connection, caller: caller, reply: reply)
    }

    /// Runs a command, passes every line of the reply to `reply`, and writes one audit line.
    func run(
        _ request: OperatorRequest, connection: ConnectionID, caller: ControlCaller,
        reply: @escaping (OperatorReply) -> Void
    ) {
        do throws(OperatorProblem) {
            let done = try carryOut(request, Call(connection: connection, send: reply))
            if request.name != .showFigures {
                record(OperatorRecord(request, .done(done.auditResult), seal: daemon.seal), caller)
            }
            reply(.result(done.json))
        } catch {
            record(OperatorRecord(request, .refused(error), seal: daemon.seal), caller)
            reply(.problem(error))
        }
    }

    /// Records a command in the log and, if it is of a kind that is kept, in the audit log.
    func record(_ record: OperatorRecord, _ caller: ControlCaller) {
        daemon.commandRecords.record(record, caller)
    }

    /// The answer of a completed command.
    private struct Done {
        let json: JSONValue
        let auditResult: String

        /// Creates the result from a command and its answer, whose types must match.
        init<Command: OperatorCommand>(_ command: Command, _ answer: Command.Answer) {
            json = answer.json
            auditResult = Command.auditResult(answer)
        }
    }

    /// Routes each command to its handler. A command without a handler does not compile, nor does a handler with the answer of
    /// another command.
    private func carryOut(_ request: OperatorRequest, _ call: Call) throws(OperatorProblem) -> Done {
        switch request {
        case .showStatus(let command): Done(command, showStatus())
        case .showAuthority(let command): Done(command, try showAuthority())
        case .showConfiguration(let command): Done(command, showConfiguration(command))
        case .logLevel(let command): Done(command, changeLogLevel(command))
        case .listAuditLog(let command): Done(command, try listAuditLog(command))
        case .suspendSender(let command): Done(command, try setSuspended(true, command.sender))
        case .resumeSender(let command): Done(command, try setSuspended(false, command.sender))
        case .senderStats(let command): Done(command, try senderStatistics(command))
        case .listMessages(let command): Done(command, try listMessages(command))
        case .checkHealth(let command): Done(command, checkHealth())
        case .showFigures(let command): Done(command, showFigures())
        case .checkConfiguration(let command): Done(command, daemon.checkConfiguration().answer)
        case .reloadConfiguration(let command): Done(command, try reload(command))
        case .showClock(let command): Done(command, showClock())
        case .acceptClock(let command): Done(command, try acceptClock())
        case .advanceClock(let command): Done(command, try advanceClock(command))
        case .drainSessions(let command): Done(command, try drain(command, call))
        case .auditStore(let command): Done(command, try audit())
        case .makeBackup(let command): Done(command, try makeBackup(command, call))
        case .exportRecords(let command): Done(command, try exportRecords(command))
        case .importRecords(let command): Done(command, try importRecords(command, call))
        case .showCluster(let command): Done(command, try showCluster())
        case .handOverPartition(let command): Done(command, try handOver(command))
        case .removeNode(let command): Done(command, try removeNode(command))
        case .addOperator(let command): Done(command, try addOperator(command))
        case .listOperators(let command): Done(command, listOperators())
        case .removeOperator(let command): Done(command, try removeOperator(command))
        case .admitNode(let command): Done(command, try admitNode(command))
        case .listSessions(let command): Done(command, try listSessions(command))
        case .sendMessage(let command): Done(command, try send(command, call))
        case .addSender(let command): Done(command, try addSender(command))
        case .listSenders(let command): Done(command, listSenders())
        case .rotateKey(let command): Done(command, try rotateKey(command))
        case .removeSender(let command): Done(command, try removeSender(command))
        case .setWebhook(let command): Done(command, try setWebhook(command))
        case .showWebhook(let command): Done(command, try showWebhook(command))
        case .listWebhooks(let command): Done(command, try listWebhooks())
        case .rotateWebhookSecret(let command): Done(command, try rotateWebhookSecret(command))
        case .pauseWebhook(let command): Done(command, try setWebhook(command.sender, to: .paused))
        case .resumeWebhook(let command): Done(command, try setWebhook(command.sender, to: .active))
        case .clearWebhook(let command): Done(command, try clearWebhook(command))
        case .addAccount(let command): Done(command, try addAccount(command))
        case .listAccounts(let command): Done(command, try listAccounts(command))
        case .removeAccount(let command): Done(command, try removeAccount(command))
        case .addAPNsCredential(let command): Done(command, try addAPNsCredential(command))
        case .listAPNsCredentials(let command): Done(command, listAPNsCredentials())
        case .showAPNsCredential(let command): Done(command, try showAPNsCredential(command))
        case .testAPNsCredential(let command): Done(command, try testAPNsCredential(command))
        case .removeAPNsCredential(let command): Done(command, try removeAPNsCredential(command))
        case .listAPNsFeedback(let command): Done(command, try listAPNsFeedback(command))
        case .listDevices(let command): Done(command, try listDevices(command))
        case .showDevice(let command): Done(command, try showDevice(command))
        case .traceDevice(let command): Done(command, try traceDevice(command, call))
        case .forgetDevice(let command): Done(command, try forgetDevice(command, call))
        case .listInstallations(let command): Done(command, try listInstallations(command))
        case .showInstallation(let command): Done(command, try showInstallation(command))
        case .revokeInstallation(let command): Done(command, try revokeInstallation(command, call))
        case .listTopics(let command): Done(command, try listTopics(command))
        case .listRunningTopics(let command): Done(command, try listRunningTopics(command))
        case .addVirtualDevice, .listVirtualDevices, .changeVirtualDevice, .readVirtualDevice,
            .sendFromVirtualDevice, .listSent, .unregisterVirtualDevice, .removeVirtualDevice, .addRecorder,
            .listRecorders, .readRecorder, .clearRecorder, .removeRecorder, .addFault, .listFaults,
            .removeFault, .clearFaults, .resetTestBench, .settleVirtualDevice, .reinstallVirtualDevice:
            try carryOutOnTestBench(request, call)
        }
    }

    /// Routes the commands of the test bench.
    private func carryOutOnTestBench(_ request: OperatorRequest, _ call: Call) throws(OperatorProblem) -> Done
    {
        switch request {
        case .addVirtualDevice(let command): Done(command, try addVirtualDevice(command))
        case .listVirtualDevices(let command): Done(command, try listVirtualDevices())
        case .changeVirtualDevice(let command): Done(command, try changeVirtualDevice(command))
        case .readVirtualDevice(let command): Done(command, try readVirtualDevice(command, call))
        case .sendFromVirtualDevice(let command): Done(command, try sendFromVirtualDevice(command))
        case .listSent(let command): Done(command, try listSent(command))
        case .settleVirtualDevice(let command): Done(command, try settleVirtualDevice(command))
        case .reinstallVirtualDevice(let command): Done(command, try reinstallVirtualDevice(command))
        case .unregisterVirtualDevice(let command): Done(command, try unregisterVirtualDevice(command))
        case .removeVirtualDevice(let command): Done(command, try removeVirtualDevice(command))
        case .addRecorder(let command): Done(command, try addRecorder(command))
        case .listRecorders(let command): Done(command, try listRecorders())
        case .readRecorder(let command): Done(command, try readRecorder(command, call))
        case .clearRecorder(let command): Done(command, try clearRecorder(command))
        case .removeRecorder(let command): Done(command, try removeRecorder(command))
        case .addFault(let command): Done(command, try addFault(command))
        case .listFaults(let command): Done(command, try listFaults())
        case .removeFault(let command): Done(command, try removeFault(command))
        case .clearFaults(let command): Done(command, try clearFaults())
        case .resetTestBench(let command): Done(command, try resetTestBench())
        default: preconditionFailure("\(request.name) is no command of the test bench")
        }
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
            guard let damage = daemon.storeThreads.damage.first(where: { $0.table == error.table }) else {
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
