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
    case unregisterVirtualDevice(UnregisterVirtualDevice)
    case removeVirtualDevice(RemoveVirtualDevice)

    /// Decodes the arguments of an operation. Throws `FieldProblem` for the first invalid one.
    public init(_ name: OperationName, arguments json: JSONValue) throws(FieldProblem) {
        switch name {
        case .showStatus: self = .showStatus(try ShowStatus(arguments: json))
        case .showAuthority: self = .showAuthority(try ShowAuthority(arguments: json))
        case .checkHealth: self = .checkHealth(try CheckHealth(arguments: json))
        case .showFigures: self = .showFigures(try ShowFigures(arguments: json))
        case .checkConfiguration: self = .checkConfiguration(try CheckConfiguration(arguments: json))
        case .showConfiguration: self = .showConfiguration(try ShowConfiguration(arguments: json))
        case .reloadConfiguration: self = .reloadConfiguration(try ReloadConfiguration(arguments: json))
        case .logLevel: self = .logLevel(try ChangeLogLevel(arguments: json))
        case .showClock: self = .showClock(try ShowClock(arguments: json))
        case .acceptClock: self = .acceptClock(try AcceptClock(arguments: json))
        case .drainSessions: self = .drainSessions(try DrainSessions(arguments: json))
        case .auditStore: self = .auditStore(try AuditStore(arguments: json))
        case .makeBackup: self = .makeBackup(try MakeBackup(arguments: json))
        case .exportRecords: self = .exportRecords(try ExportRecords(arguments: json))
        case .importRecords: self = .importRecords(try ImportRecords(arguments: json))
        case .listAuditLog: self = .listAuditLog(try ListAuditLog(arguments: json))
        case .showCluster: self = .showCluster(try ShowCluster(arguments: json))
        case .handOverPartition: self = .handOverPartition(try HandOverPartition(arguments: json))
        case .removeNode: self = .removeNode(try RemoveNode(arguments: json))
        case .addOperator: self = .addOperator(try AddOperator(arguments: json))
        case .listOperators: self = .listOperators(try ListOperators(arguments: json))
        case .removeOperator: self = .removeOperator(try RemoveOperator(arguments: json))
        case .admitNode: self = .admitNode(try AdmitNode(arguments: json))
        case .listSessions: self = .listSessions(try ListSessions(arguments: json))
        case .sendMessage: self = .sendMessage(try SendMessage(arguments: json))
        case .addSender: self = .addSender(try AddSender(arguments: json))
        case .listSenders: self = .listSenders(try ListSenders(arguments: json))
        case .suspendSender: self = .suspendSender(try SuspendSender(arguments: json))
        case .resumeSender: self = .resumeSender(try ResumeSender(arguments: json))
        case .senderStats: self = .senderStats(try SenderStatistics(arguments: json))
        case .rotateKey: self = .rotateKey(try RotateKey(arguments: json))
        case .removeSender: self = .removeSender(try RemoveSender(arguments: json))
        case .setWebhook: self = .setWebhook(try SetWebhook(arguments: json))
        case .showWebhook: self = .showWebhook(try ShowWebhook(arguments: json))
        case .listWebhooks: self = .listWebhooks(try ListWebhooks(arguments: json))
        case .rotateWebhookSecret: self = .rotateWebhookSecret(try RotateWebhookSecret(arguments: json))
        case .pauseWebhook: self = .pauseWebhook(try PauseWebhook(arguments: json))
        case .resumeWebhook: self = .resumeWebhook(try ResumeWebhook(arguments: json))
        case .clearWebhook: self = .clearWebhook(try ClearWebhook(arguments: json))
        case .addAccount: self = .addAccount(try AddAccount(arguments: json))
        case .listAccounts: self = .listAccounts(try ListAccounts(arguments: json))
        case .removeAccount: self = .removeAccount(try RemoveAccount(arguments: json))
        case .addAPNsCredential: self = .addAPNsCredential(try AddAPNsCredential(arguments: json))
        case .listAPNsCredentials: self = .listAPNsCredentials(try ListAPNsCredentials(arguments: json))
        case .showAPNsCredential: self = .showAPNsCredential(try ShowAPNsCredential(arguments: json))
        case .testAPNsCredential: self = .testAPNsCredential(try TestAPNsCredential(arguments: json))
        case .removeAPNsCredential: self = .removeAPNsCredential(try RemoveAPNsCredential(arguments: json))
        case .listAPNsFeedback: self = .listAPNsFeedback(try ListAPNsFeedback(arguments: json))
        case .listMessages: self = .listMessages(try ListMessages(arguments: json))
        case .listDevices: self = .listDevices(try ListDevices(arguments: json))
        case .showDevice: self = .showDevice(try ShowDevice(arguments: json))
        case .traceDevice: self = .traceDevice(try TraceDevice(arguments: json))
        case .forgetDevice: self = .forgetDevice(try ForgetDevice(arguments: json))
        case .listInstallations: self = .listInstallations(try ListInstallations(arguments: json))
        case .showInstallation: self = .showInstallation(try ShowInstallation(arguments: json))
        case .revokeInstallation: self = .revokeInstallation(try RevokeInstallation(arguments: json))
        case .listTopics: self = .listTopics(try ListTopics(arguments: json))
        case .listRunningTopics: self = .listRunningTopics(try ListRunningTopics(arguments: json))
        case .addVirtualDevice: self = .addVirtualDevice(try AddVirtualDevice(arguments: json))
        case .listVirtualDevices: self = .listVirtualDevices(try ListVirtualDevices(arguments: json))
        case .changeVirtualDevice: self = .changeVirtualDevice(try ChangeVirtualDevice(arguments: json))
        case .readVirtualDevice: self = .readVirtualDevice(try ReadVirtualDevice(arguments: json))
        case .sendFromVirtualDevice: self = .sendFromVirtualDevice(try SendFromVirtualDevice(arguments: json))
        case .unregisterVirtualDevice:
            self = .unregisterVirtualDevice(try UnregisterVirtualDevice(arguments: json))
        case .removeVirtualDevice: self = .removeVirtualDevice(try RemoveVirtualDevice(arguments: json))
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
        case .unregisterVirtualDevice(let command): command
        case .removeVirtualDevice(let command): command
        }
    }

    /// The name of the operation.
    public var name: OperationName { type(of: command).summary.name }

    /// The arguments that the audit line records.
    public var auditEntries: [AuditEntry] { command.auditEntries }
}
