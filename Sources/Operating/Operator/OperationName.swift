/// The name of an operation in requests, `ccsctl` and audit lines; no other place spells it.
public enum OperationName: String, CaseIterable, Sendable {
    case showStatus = "status"
    case showAuthority = "ca"
    case checkHealth = "health"
    case showFigures = "top"
    case checkConfiguration = "check"
    case showConfiguration = "config show"
    case reloadConfiguration = "reload"
    case logLevel = "log level"
    case showClock = "clock show"
    case acceptClock = "clock accept"
    case advanceClock = "clock advance"
    case drainSessions = "drain"
    case auditStore = "audit"
    case makeBackup = "backup"
    case exportRecords = "export"
    case importRecords = "import"
    case listAuditLog = "audit-log"
    case showCluster = "cluster status"
    case handOverPartition = "cluster handover"
    case removeNode = "cluster remove"
    case addOperator = "operators add"
    case listOperators = "operators list"
    case removeOperator = "operators remove"
    case admitNode = "cluster admit"
    case listSessions = "sessions list"
    case sendMessage = "send"
    case addSender = "senders add"
    case listSenders = "senders list"
    case suspendSender = "senders suspend"
    case resumeSender = "senders resume"
    case senderStats = "senders stats"
    case rotateKey = "senders rotate-key"
    case removeSender = "senders remove"
    case setWebhook = "senders webhook set"
    case showWebhook = "senders webhook show"
    case listWebhooks = "senders webhook list"
    case rotateWebhookSecret = "senders webhook rotate"
    case pauseWebhook = "senders webhook pause"
    case resumeWebhook = "senders webhook resume"
    case clearWebhook = "senders webhook clear"
    case addAccount = "service-accounts add"
    case listAccounts = "service-accounts list"
    case removeAccount = "service-accounts remove"
    case addAPNsCredential = "apns add"
    case listAPNsCredentials = "apns list"
    case showAPNsCredential = "apns show"
    case testAPNsCredential = "apns test"
    case removeAPNsCredential = "apns remove"
    case listAPNsFeedback = "apns feedback"
    case listMessages = "messages list"
    case listDevices = "devices list"
    case showDevice = "devices show"
    case traceDevice = "devices trace"
    case forgetDevice = "devices forget"
    case listInstallations = "installations list"
    case showInstallation = "installations show"
    case revokeInstallation = "installations revoke"
    case listTopics = "topics list"
    case listRunningTopics = "topics running"
    case addVirtualDevice = "virtual-devices add"
    case listVirtualDevices = "virtual-devices list"
    case changeVirtualDevice = "virtual-devices change"
    case readVirtualDevice = "virtual-devices messages"
    case sendFromVirtualDevice = "virtual-devices send"
    case listSent = "virtual-devices sent"
    case settleVirtualDevice = "virtual-devices settle"
    case reinstallVirtualDevice = "virtual-devices reinstall"
    case unregisterVirtualDevice = "virtual-devices unregister"
    case removeVirtualDevice = "virtual-devices remove"
    case addRecorder = "recorders add"
    case listRecorders = "recorders list"
    case readRecorder = "recorders messages"
    case clearRecorder = "recorders clear"
    case removeRecorder = "recorders remove"
    case addFault = "faults add"
    case listFaults = "faults list"
    case removeFault = "faults remove"
    case clearFaults = "faults clear"
    case resetTestBench = "test-bench reset"

    /// The type of the operation's command.
    public var command: any OperatorCommand.Type {
        switch self {
        case .showStatus: ShowStatus.self
        case .showAuthority: ShowAuthority.self
        case .checkHealth: CheckHealth.self
        case .showFigures: ShowFigures.self
        case .checkConfiguration: CheckConfiguration.self
        case .showConfiguration: ShowConfiguration.self
        case .reloadConfiguration: ReloadConfiguration.self
        case .logLevel: ChangeLogLevel.self
        case .showClock: ShowClock.self
        case .acceptClock: AcceptClock.self
        case .advanceClock: AdvanceClock.self
        case .drainSessions: DrainSessions.self
        case .auditStore: AuditStore.self
        case .makeBackup: MakeBackup.self
        case .exportRecords: ExportRecords.self
        case .importRecords: ImportRecords.self
        case .listAuditLog: ListAuditLog.self
        case .showCluster: ShowCluster.self
        case .handOverPartition: HandOverPartition.self
        case .removeNode: RemoveNode.self
        case .addOperator: AddOperator.self
        case .listOperators: ListOperators.self
        case .removeOperator: RemoveOperator.self
        case .admitNode: AdmitNode.self
        case .listSessions: ListSessions.self
        case .sendMessage: SendMessage.self
        case .addSender: AddSender.self
        case .listSenders: ListSenders.self
        case .suspendSender: SuspendSender.self
        case .resumeSender: ResumeSender.self
        case .senderStats: SenderStatistics.self
        case .rotateKey: RotateKey.self
        case .removeSender: RemoveSender.self
        case .setWebhook: SetWebhook.self
        case .showWebhook: ShowWebhook.self
        case .listWebhooks: ListWebhooks.self
        case .rotateWebhookSecret: RotateWebhookSecret.self
        case .pauseWebhook: PauseWebhook.self
        case .resumeWebhook: ResumeWebhook.self
        case .clearWebhook: ClearWebhook.self
        case .addAccount: AddAccount.self
        case .listAccounts: ListAccounts.self
        case .removeAccount: RemoveAccount.self
        case .addAPNsCredential: AddAPNsCredential.self
        case .listAPNsCredentials: ListAPNsCredentials.self
        case .showAPNsCredential: ShowAPNsCredential.self
        case .testAPNsCredential: TestAPNsCredential.self
        case .removeAPNsCredential: RemoveAPNsCredential.self
        case .listAPNsFeedback: ListAPNsFeedback.self
        case .listMessages: ListMessages.self
        case .listDevices: ListDevices.self
        case .showDevice: ShowDevice.self
        case .traceDevice: TraceDevice.self
        case .forgetDevice: ForgetDevice.self
        case .listInstallations: ListInstallations.self
        case .showInstallation: ShowInstallation.self
        case .revokeInstallation: RevokeInstallation.self
        case .listTopics: ListTopics.self
        case .listRunningTopics: ListRunningTopics.self
        case .addVirtualDevice: AddVirtualDevice.self
        case .listVirtualDevices: ListVirtualDevices.self
        case .changeVirtualDevice: ChangeVirtualDevice.self
        case .readVirtualDevice: ReadVirtualDevice.self
        case .sendFromVirtualDevice: SendFromVirtualDevice.self
        case .listSent: ListSent.self
        case .settleVirtualDevice: SettleVirtualDevice.self
        case .reinstallVirtualDevice: ReinstallVirtualDevice.self
        case .unregisterVirtualDevice: UnregisterVirtualDevice.self
        case .removeVirtualDevice: RemoveVirtualDevice.self
        case .addRecorder: AddRecorder.self
        case .listRecorders: ListRecorders.self
        case .readRecorder: ReadRecorder.self
        case .clearRecorder: ClearRecorder.self
        case .removeRecorder: RemoveRecorder.self
        case .addFault: AddFault.self
        case .listFaults: ListFaults.self
        case .removeFault: RemoveFault.self
        case .clearFaults: ClearFaults.self
        case .resetTestBench: ResetTestBench.self
        }
    }

    /// The operation with its fields, for documentation and front ends.
    public var definition: OperationDefinition { command.definition }
}
