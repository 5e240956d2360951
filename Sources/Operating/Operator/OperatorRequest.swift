public import Wire

/// A request with any of the commands; a switch that does not handle all of them does not compile.
public enum OperatorRequest: Sendable {
    case showStatus(ShowStatus)
    case showAuthority(ShowAuthority)
    case checkHealth(CheckHealth)
    case showFigures(ShowFigures)
    case checkConfiguration(CheckConfiguration)
    case showConfiguration(ShowConfiguration)
    case reloadConfiguration(ReloadConfiguration)
    case logLevel(ChangeLogLevel)
    case showClock(ShowClock)
    case acceptClock(AcceptClock)
    case advanceClock(AdvanceClock)
    case drainSessions(DrainSessions)
    case auditStore(AuditStore)
    case makeBackup(MakeBackup)
    case exportRecords(ExportRecords)
    case importRecords(ImportRecords)
    case listAuditLog(ListAuditLog)
    case showCluster(ShowCluster)
    case handOverPartition(HandOverPartition)
    case removeNode(RemoveNode)
    case addOperator(AddOperator)
    case listOperators(ListOperators)
    case removeOperator(RemoveOperator)
    case admitNode(AdmitNode)
    case listSessions(ListSessions)
    case sendMessage(SendMessage)
    case addSender(AddSender)
    case listSenders(ListSenders)
    case suspendSender(SuspendSender)
    case resumeSender(ResumeSender)
    case senderStats(SenderStatistics)
    case rotateKey(RotateKey)
    case removeSender(RemoveSender)
    case setWebhook(SetWebhook)
    case showWebhook(ShowWebhook)
    case listWebhooks(ListWebhooks)
    case rotateWebhookSecret(RotateWebhookSecret)
    case pauseWebhook(PauseWebhook)
    case resumeWebhook(ResumeWebhook)
    case clearWebhook(ClearWebhook)
    case addAccount(AddAccount)
    case listAccounts(ListAccounts)
    case removeAccount(RemoveAccount)
    case addAPNsCredential(AddAPNsCredential)
    case listAPNsCredentials(ListAPNsCredentials)
    case showAPNsCredential(ShowAPNsCredential)
    case testAPNsCredential(TestAPNsCredential)
    case removeAPNsCredential(RemoveAPNsCredential)
    case listAPNsFeedback(ListAPNsFeedback)
    case listMessages(ListMessages)
    case listDevices(ListDevices)
    case showDevice(ShowDevice)
    case traceDevice(TraceDevice)
    case forgetDevice(ForgetDevice)
    case listInstallations(ListInstallations)
    case showInstallation(ShowInstallation)
    case revokeInstallation(RevokeInstallation)
    case listTopics(ListTopics)
    case listRunningTopics(ListRunningTopics)
    case addVirtualDevice(AddVirtualDevice)
    case listVirtualDevices(ListVirtualDevices)
    case changeVirtualDevice(ChangeVirtualDevice)
    case readVirtualDevice(ReadVirtualDevice)
    case sendFromVirtualDevice(SendFromVirtualDevice)
    case listSent(ListSent)
    case settleVirtualDevice(SettleVirtualDevice)
    case reinstallVirtualDevice(ReinstallVirtualDevice)
    case unregisterVirtualDevice(UnregisterVirtualDevice)
    case removeVirtualDevice(RemoveVirtualDevice)
    case addRecorder(AddRecorder)
    case listRecorders(ListRecorders)
    case readRecorder(ReadRecorder)
    case clearRecorder(ClearRecorder)
    case removeRecorder(RemoveRecorder)
    case addFault(AddFault)
    case listFaults(ListFaults)
    case removeFault(RemoveFault)
    case clearFaults(ClearFaults)
    case resetTestBench(ResetTestBench)

    /// Decodes the arguments of an operation. Throws `FieldProblem` for the first invalid one.
    public init(_ name: OperationName, arguments: JSONValue) throws(FieldProblem) {
        switch name {
        case .showStatus: self = .showStatus(try ShowStatus(arguments: arguments))
        case .showAuthority: self = .showAuthority(try ShowAuthority(arguments: arguments))
        case .checkHealth: self = .checkHealth(try CheckHealth(arguments: arguments))
        case .showFigures: self = .showFigures(try ShowFigures(arguments: arguments))
        case .checkConfiguration: self = .checkConfiguration(try CheckConfiguration(arguments: arguments))
        case .showConfiguration: self = .showConfiguration(try ShowConfiguration(arguments: arguments))
        case .reloadConfiguration: self = .reloadConfiguration(try ReloadConfiguration(arguments: arguments))
        case .logLevel: self = .logLevel(try ChangeLogLevel(arguments: arguments))
        case .showClock: self = .showClock(try ShowClock(arguments: arguments))
        case .acceptClock: self = .acceptClock(try AcceptClock(arguments: arguments))
        case .advanceClock: self = .advanceClock(try AdvanceClock(arguments: arguments))
        case .drainSessions: self = .drainSessions(try DrainSessions(arguments: arguments))
        case .auditStore: self = .auditStore(try AuditStore(arguments: arguments))
        case .makeBackup: self = .makeBackup(try MakeBackup(arguments: arguments))
        case .exportRecords: self = .exportRecords(try ExportRecords(arguments: arguments))
        case .importRecords: self = .importRecords(try ImportRecords(arguments: arguments))
        case .listAuditLog: self = .listAuditLog(try ListAuditLog(arguments: arguments))
        case .showCluster: self = .showCluster(try ShowCluster(arguments: arguments))
        case .handOverPartition: self = .handOverPartition(try HandOverPartition(arguments: arguments))
        case .removeNode: self = .removeNode(try RemoveNode(arguments: arguments))
        case .addOperator: self = .addOperator(try AddOperator(arguments: arguments))
        case .listOperators: self = .listOperators(try ListOperators(arguments: arguments))
        case .removeOperator: self = .removeOperator(try RemoveOperator(arguments: arguments))
        case .admitNode: self = .admitNode(try AdmitNode(arguments: arguments))
        case .listSessions: self = .listSessions(try ListSessions(arguments: arguments))
        case .sendMessage: self = .sendMessage(try SendMessage(arguments: arguments))
        case .addSender: self = .addSender(try AddSender(arguments: arguments))
        case .listSenders: self = .listSenders(try ListSenders(arguments: arguments))
        case .suspendSender: self = .suspendSender(try SuspendSender(arguments: arguments))
        case .resumeSender: self = .resumeSender(try ResumeSender(arguments: arguments))
        case .senderStats: self = .senderStats(try SenderStatistics(arguments: arguments))
        case .rotateKey: self = .rotateKey(try RotateKey(arguments: arguments))
        case .removeSender: self = .removeSender(try RemoveSender(arguments: arguments))
        case .addAccount: self = .addAccount(try AddAccount(arguments: arguments))
        case .listAccounts: self = .listAccounts(try ListAccounts(arguments: arguments))
        case .removeAccount: self = .removeAccount(try RemoveAccount(arguments: arguments))
        case .addAPNsCredential: self = .addAPNsCredential(try AddAPNsCredential(arguments: arguments))
        case .listAPNsCredentials: self = .listAPNsCredentials(try ListAPNsCredentials(arguments: arguments))
        case .showAPNsCredential: self = .showAPNsCredential(try ShowAPNsCredential(arguments: arguments))
        case .testAPNsCredential: self = .testAPNsCredential(try TestAPNsCredential(arguments: arguments))
        case .removeAPNsCredential:
            self = .removeAPNsCredential(try RemoveAPNsCredential(arguments: arguments))
        case .listAPNsFeedback: self = .listAPNsFeedback(try ListAPNsFeedback(arguments: arguments))
        case .listMessages: self = .listMessages(try ListMessages(arguments: arguments))
        case .listDevices: self = .listDevices(try ListDevices(arguments: arguments))
        case .showDevice: self = .showDevice(try ShowDevice(arguments: arguments))
        case .traceDevice: self = .traceDevice(try TraceDevice(arguments: arguments))
        case .forgetDevice: self = .forgetDevice(try ForgetDevice(arguments: arguments))
        case .listInstallations: self = .listInstallations(try ListInstallations(arguments: arguments))
        case .showInstallation: self = .showInstallation(try ShowInstallation(arguments: arguments))
        case .revokeInstallation: self = .revokeInstallation(try RevokeInstallation(arguments: arguments))
        case .listTopics: self = .listTopics(try ListTopics(arguments: arguments))
        case .listRunningTopics: self = .listRunningTopics(try ListRunningTopics(arguments: arguments))
        case .setWebhook, .showWebhook, .listWebhooks, .rotateWebhookSecret, .pauseWebhook, .resumeWebhook,
            .clearWebhook:
            self = try Self.ofWebhooks(name, arguments)
        case .addVirtualDevice, .listVirtualDevices, .changeVirtualDevice, .readVirtualDevice,
            .sendFromVirtualDevice, .listSent, .unregisterVirtualDevice, .removeVirtualDevice, .addRecorder,
            .listRecorders, .readRecorder, .clearRecorder, .removeRecorder, .addFault, .listFaults,
            .removeFault, .clearFaults, .resetTestBench, .settleVirtualDevice, .reinstallVirtualDevice:
            self = try Self.ofTestBench(name, arguments)
        }
    }

    /// Decodes the arguments of a command for webhooks.
    private static func ofWebhooks(
        _ name: OperationName, _ arguments: JSONValue
    ) throws(FieldProblem) -> OperatorRequest {
        switch name {
        case .setWebhook: .setWebhook(try SetWebhook(arguments: arguments))
        case .showWebhook: .showWebhook(try ShowWebhook(arguments: arguments))
        case .listWebhooks: .listWebhooks(try ListWebhooks(arguments: arguments))
        case .rotateWebhookSecret: .rotateWebhookSecret(try RotateWebhookSecret(arguments: arguments))
        case .pauseWebhook: .pauseWebhook(try PauseWebhook(arguments: arguments))
        case .resumeWebhook: .resumeWebhook(try ResumeWebhook(arguments: arguments))
        case .clearWebhook: .clearWebhook(try ClearWebhook(arguments: arguments))
        default: preconditionFailure("\(name) is no command for webhooks")
        }
    }

    /// Decodes the arguments of a command of the test bench.
    private static func ofTestBench(
        _ name: OperationName, _ arguments: JSONValue
    ) throws(FieldProblem) -> OperatorRequest {
        switch name {
        case .addVirtualDevice: .addVirtualDevice(try AddVirtualDevice(arguments: arguments))
        case .listVirtualDevices: .listVirtualDevices(try ListVirtualDevices(arguments: arguments))
        case .changeVirtualDevice: .changeVirtualDevice(try ChangeVirtualDevice(arguments: arguments))
        case .readVirtualDevice: .readVirtualDevice(try ReadVirtualDevice(arguments: arguments))
        case .sendFromVirtualDevice:
            .sendFromVirtualDevice(try SendFromVirtualDevice(arguments: arguments))
        case .listSent: .listSent(try ListSent(arguments: arguments))
        case .settleVirtualDevice: .settleVirtualDevice(try SettleVirtualDevice(arguments: arguments))
        case .reinstallVirtualDevice:
            .reinstallVirtualDevice(try ReinstallVirtualDevice(arguments: arguments))
        case .unregisterVirtualDevice:
            .unregisterVirtualDevice(try UnregisterVirtualDevice(arguments: arguments))
        case .removeVirtualDevice: .removeVirtualDevice(try RemoveVirtualDevice(arguments: arguments))
        case .addRecorder: .addRecorder(try AddRecorder(arguments: arguments))
        case .listRecorders: .listRecorders(try ListRecorders(arguments: arguments))
        case .readRecorder: .readRecorder(try ReadRecorder(arguments: arguments))
        case .clearRecorder: .clearRecorder(try ClearRecorder(arguments: arguments))
        case .removeRecorder: .removeRecorder(try RemoveRecorder(arguments: arguments))
        case .addFault: .addFault(try AddFault(arguments: arguments))
        case .listFaults: .listFaults(try ListFaults(arguments: arguments))
        case .removeFault: .removeFault(try RemoveFault(arguments: arguments))
        case .clearFaults: .clearFaults(try ClearFaults(arguments: arguments))
        case .resetTestBench: .resetTestBench(try ResetTestBench(arguments: arguments))
        default: preconditionFailure("\(name) is no command of the test bench")
        }
    }

    /// The command as an existential.
    public var command: any OperatorCommand {
        switch self {
        case .showStatus(let command): command
        case .showAuthority(let command): command
        case .checkHealth(let command): command
        case .showFigures(let command): command
        case .checkConfiguration(let command): command
        case .showConfiguration(let command): command
        case .reloadConfiguration(let command): command
        case .logLevel(let command): command
        case .showClock(let command): command
        case .acceptClock(let command): command
        case .advanceClock(let command): command
        case .drainSessions(let command): command
        case .auditStore(let command): command
        case .makeBackup(let command): command
        case .exportRecords(let command): command
        case .importRecords(let command): command
        case .listAuditLog(let command): command
        case .showCluster(let command): command
        case .handOverPartition(let command): command
        case .removeNode(let command): command
        case .addOperator(let command): command
        case .listOperators(let command): command
        case .removeOperator(let command): command
        case .admitNode(let command): command
        case .listSessions(let command): command
        case .sendMessage(let command): command
        case .addSender(let command): command
        case .listSenders(let command): command
        case .suspendSender(let command): command
        case .resumeSender(let command): command
        case .senderStats(let command): command
        case .rotateKey(let command): command
        case .removeSender(let command): command
        case .setWebhook(let command): command
        case .showWebhook(let command): command
        case .listWebhooks(let command): command
        case .rotateWebhookSecret(let command): command
        case .pauseWebhook(let command): command
        case .resumeWebhook(let command): command
        case .clearWebhook(let command): command
        case .addAccount(let command): command
        case .listAccounts(let command): command
        case .removeAccount(let command): command
        case .addAPNsCredential(let command): command
        case .listAPNsCredentials(let command): command
        case .showAPNsCredential(let command): command
        case .testAPNsCredential(let command): command
        case .removeAPNsCredential(let command): command
        case .listAPNsFeedback(let command): command
        case .listMessages(let command): command
        case .listDevices(let command): command
        case .showDevice(let command): command
        case .traceDevice(let command): command
        case .forgetDevice(let command): command
        case .listInstallations(let command): command
        case .showInstallation(let command): command
        case .revokeInstallation(let command): command
        case .listTopics(let command): command
        case .listRunningTopics(let command): command
        case .addVirtualDevice(let command): command
        case .listVirtualDevices(let command): command
        case .changeVirtualDevice(let command): command
        case .readVirtualDevice(let command): command
        case .sendFromVirtualDevice(let command): command
        case .listSent(let command): command
        case .settleVirtualDevice(let command): command
        case .reinstallVirtualDevice(let command): command
        case .unregisterVirtualDevice(let command): command
        case .removeVirtualDevice(let command): command
        case .addRecorder(let command): command
        case .listRecorders(let command): command
        case .readRecorder(let command): command
        case .clearRecorder(let command): command
        case .removeRecorder(let command): command
        case .addFault(let command): command
        case .listFaults(let command): command
        case .removeFault(let command): command
        case .clearFaults(let command): command
        case .resetTestBench(let command): command
        }
    }

    /// The name of the operation.
    public var name: OperationName { type(of: command).summary.name }

    /// The arguments that the audit line records.
    public var auditEntries: [AuditEntry] { command.auditEntries }
}
