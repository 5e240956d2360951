import Operator
import Wire

/// The handlers of all operations, by the types of their commands.
struct CommandHandlers: Sendable {
    typealias Call = ControlServer.Call

    /// The answer of a completed command.
    struct Done {
        let json: JSONValue
        let auditResult: String
    }

    var handlers: [ObjectIdentifier: any CommandHandler] = [:]

    init() {
        addDaemon()
        addRegistry()
        addTestBench()
    }

    /// The names of the operations that have no handler.
    var missing: [String] {
        Operations.all.filter { handlers[ObjectIdentifier($0)] == nil }.map { $0.summary.name }
    }

    /// Runs a command.
    func carryOut(
        _ command: any OperatorCommand, _ server: ControlServer, _ call: Call
    ) throws(OperatorProblem) -> Done {
        guard let handler = handlers[ObjectIdentifier(type(of: command))] else {
            preconditionFailure("\(type(of: command)) is in no list of operations")
        }
        return try handler.carryOut(command, server, call)
    }

    private mutating func addDaemon() {
        on(ShowStatus.self, ControlServer.showStatus)
        on(ShowAuthority.self, ControlServer.showAuthority)
        on(CheckHealth.self, ControlServer.checkHealth)
        on(ShowFigures.self, ControlServer.showFigures)
        on(CheckConfiguration.self, ControlServer.checkConfiguration)
        on(ControlServer.showConfiguration)
        on(ControlServer.reload)
        on(ControlServer.changeLogLevel)
        on(ShowClock.self, ControlServer.showClock)
        on(AcceptClock.self, ControlServer.acceptClock)
        on(ControlServer.advanceClock)
        on(ControlServer.drain)
        on(AuditStore.self, ControlServer.audit)
        on(ControlServer.makeBackup)
        on(ControlServer.exportRecords(_:))
        on(ControlServer.importRecords)
        on(ControlServer.listAuditLog)
        on(ShowCluster.self, ControlServer.showCluster)
        on(ControlServer.handOver)
        on(ControlServer.removeNode)
        on(ControlServer.addOperator)
        on(ListOperators.self, ControlServer.listOperators)
        on(ControlServer.removeOperator)
        on(ControlServer.admitNode)
    }

    private mutating func addRegistry() {
        on(ControlServer.listSessions)
        on(ControlServer.send)
        on(ControlServer.addSender)
        on(ListSenders.self, ControlServer.listSenders)
        on(ControlServer.suspendSender)
        on(ControlServer.resumeSender)
        on(ControlServer.senderStatistics)
        on(ControlServer.rotateKey)
        on(ControlServer.removeSender)
        on(ControlServer.setWebhook(_:))
        on(ControlServer.showWebhook)
        on(ListWebhooks.self, ControlServer.listWebhooks)
        on(ControlServer.rotateWebhookSecret)
        on(ControlServer.pauseWebhook)
        on(ControlServer.resumeWebhook)
        on(ControlServer.clearWebhook)
        on(ControlServer.addAccount)
        on(ControlServer.listAccounts)
        on(ControlServer.removeAccount)
        on(ControlServer.addAPNsCredential)
        on(ListAPNsCredentials.self, ControlServer.listAPNsCredentials)
        on(ControlServer.showAPNsCredential)
        on(ControlServer.testAPNsCredential)
        on(ControlServer.removeAPNsCredential)
        on(ControlServer.listAPNsFeedback)
        on(ControlServer.listMessages)
        on(ControlServer.findMessages)
        on(ControlServer.listHistory)
        on(ControlServer.countMessages)
        on(ControlServer.countHours)
        on(ControlServer.listScheduled)
        on(ControlServer.cancelMessages)
        on(ControlServer.listDevices)
        on(ControlServer.showDevice)
        on(ControlServer.traceDevice)
        on(ControlServer.forgetDevice)
        on(ControlServer.listInstallations)
        on(ControlServer.showInstallation)
        on(ControlServer.revokeInstallation)
        on(ControlServer.listTopics)
        on(ControlServer.listRunningTopics)
    }

    private mutating func addTestBench() {
        on(ControlServer.addVirtualDevice)
        on(ListVirtualDevices.self, ControlServer.listVirtualDevices)
        on(ControlServer.changeVirtualDevice)
        on(ControlServer.readVirtualDevice)
        on(ControlServer.sendFromVirtualDevice)
        on(ControlServer.listSent)
        on(ControlServer.settleVirtualDevice)
        on(ControlServer.reinstallVirtualDevice)
        on(ControlServer.unregisterVirtualDevice)
        on(ControlServer.removeVirtualDevice)
        on(ControlServer.addRecorder)
        on(ListRecorders.self, ControlServer.listRecorders)
        on(ControlServer.readRecorder)
        on(ControlServer.clearRecorder)
        on(ControlServer.removeRecorder)
        on(ControlServer.addFault)
        on(ListFaults.self, ControlServer.listFaults)
        on(ControlServer.removeFault)
        on(ClearFaults.self, ControlServer.clearFaults)
        on(ResetTestBench.self, ControlServer.resetTestBench)
    }

    private mutating func on<Command: OperatorCommand>(
        _ run: @escaping @Sendable (ControlServer) -> (Command) throws(OperatorProblem) -> Command.Answer
    ) {
        handlers[ObjectIdentifier(Command.self)] = HandlerOf<Command>(method: .plain(run))
    }

    private mutating func on<Command: OperatorCommand>(
        _ run:
            @escaping @Sendable (ControlServer) -> (Command, Call) throws(OperatorProblem) -> Command.Answer
    ) {
        handlers[ObjectIdentifier(Command.self)] = HandlerOf<Command>(method: .called(run))
    }

    private mutating func on<Command: OperatorCommand>(
        _: Command.Type,
        _ run: @escaping @Sendable (ControlServer) -> () throws(OperatorProblem) -> Command.Answer
    ) {
        handlers[ObjectIdentifier(Command.self)] = HandlerOf<Command>(method: .alone(run))
    }
}

/// The handler of one type of commands.
protocol CommandHandler: Sendable {
    func carryOut(
        _ command: any OperatorCommand, _ server: ControlServer, _ call: ControlServer.Call
    ) throws(OperatorProblem) -> CommandHandlers.Done
}

/// A method of the server for commands of one type. It is a value, since Swift 6.3.1 crashes on closures with typed errors in a
/// dictionary.
private struct HandlerOf<Command: OperatorCommand>: CommandHandler {
    enum Method: Sendable {
        case alone(@Sendable (ControlServer) -> () throws(OperatorProblem) -> Command.Answer)
        case plain(@Sendable (ControlServer) -> (Command) throws(OperatorProblem) -> Command.Answer)
        case called(
            @Sendable (ControlServer) -> (Command, ControlServer.Call) throws(OperatorProblem) ->
                Command.Answer)
    }

    let method: Method

    func carryOut(
        _ command: any OperatorCommand, _ server: ControlServer, _ call: ControlServer.Call
    ) throws(OperatorProblem) -> CommandHandlers.Done {
        guard let command = command as? Command else {
            preconditionFailure("a handler of \(Command.self)")
        }
        let answer: Command.Answer
        switch method {
        case .alone(let run): answer = try run(server)()
        case .plain(let run): answer = try run(server)(command)
        case .called(let run): answer = try run(server)(command, call)
        }
        return CommandHandlers.Done(json: answer.json, auditResult: Command.auditResult(answer))
    }
}
