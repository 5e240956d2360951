import Basics
import Catalogue
import Operator
import Wire

/// A command with a text form of its answer.
protocol ReportedCommand: OperatorCommand {
    /// Returns the answer as text.
    static func text(of answer: Answer) -> String

    /// Returns a line that precedes the answer as text.
    static func text(of line: Line) -> String

    /// Returns the exit code for an answer, which may be a failure although the command itself succeeded.
    static func verdict(on answer: Answer) -> ExitCode
}

extension ReportedCommand {
    static func verdict(on answer: Answer) -> ExitCode { .success }

    static func text(of line: Line) -> String { Printable.json(OperatorReply(line).json.compact) + "\n" }
}

extension OperatorRequest {
    /// The command with its text forms; a command without them does not compile.
    var reported: any ReportedCommand {
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
}
