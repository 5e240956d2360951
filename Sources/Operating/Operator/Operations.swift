/// The operations of the daemon.
public enum Operations {
    /// The types of the commands of all operations, in the order of the documents. A command that is not here does not exist for any
    /// front end.
    public static let all: [any OperatorCommand.Type] = [
        ShowStatus.self, ShowAuthority.self, CheckHealth.self, ShowFigures.self, CheckConfiguration.self,
        ShowConfiguration.self, ReloadConfiguration.self, ChangeLogLevel.self, ShowClock.self,
        AcceptClock.self, AdvanceClock.self, DrainSessions.self, AuditStore.self, MakeBackup.self,
        ExportRecords.self, ImportRecords.self, ListAuditLog.self, ShowCluster.self, HandOverPartition.self,
        RemoveNode.self, AddOperator.self, ListOperators.self, RemoveOperator.self, AdmitNode.self,
        ListSessions.self, SendMessage.self, AddSender.self, ListSenders.self, SuspendSender.self,
        ResumeSender.self, SenderStatistics.self, RotateKey.self, RemoveSender.self, SetWebhook.self,
        ShowWebhook.self, ListWebhooks.self, RotateWebhookSecret.self, PauseWebhook.self, ResumeWebhook.self,
        ClearWebhook.self, AddAccount.self, ListAccounts.self, RemoveAccount.self, AddAPNsCredential.self,
        ListAPNsCredentials.self, ShowAPNsCredential.self, TestAPNsCredential.self,
        RemoveAPNsCredential.self, ListAPNsFeedback.self, ListMessages.self, FindMessages.self,
        ListHistory.self, CountMessages.self, CountHours.self, ListScheduled.self, CancelMessages.self,
        ListDevices.self,
        ShowDevice.self,
        TraceDevice.self, ForgetDevice.self, ListInstallations.self, ShowInstallation.self,
        RevokeInstallation.self, ListTopics.self, ListRunningTopics.self, AddVirtualDevice.self,
        ListVirtualDevices.self, ChangeVirtualDevice.self, ReadVirtualDevice.self,
        SendFromVirtualDevice.self, ListSent.self, SettleVirtualDevice.self, ReinstallVirtualDevice.self,
        UnregisterVirtualDevice.self, RemoveVirtualDevice.self, AddRecorder.self, ListRecorders.self,
        ReadRecorder.self, ClearRecorder.self, RemoveRecorder.self, AddFault.self, ListFaults.self,
        RemoveFault.self, ClearFaults.self, ResetTestBench.self,
    ]

    private static let byName: [String: any OperatorCommand.Type] = Dictionary(
        uniqueKeysWithValues: all.map { ($0.summary.name, $0) })

    /// Returns the type of the command of an operation. Returns `nil` if no operation has the name.
    public static func named(_ name: String) -> (any OperatorCommand.Type)? { byName[name] }
}
