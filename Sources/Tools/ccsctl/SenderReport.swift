import Basics
import Operator

extension AddSender: ReportedCommand {
    static func text(of answer: Answer) -> String {
        "sender ID   \(Report.cell(answer.sender))\nproject     \(Report.cell(answer.project))\n"
            + KeyReport.text(answer.key, more: "")
    }
}

extension RotateKey: ReportedCommand {
    static func text(of answer: Answer) -> String {
        "sender ID   \(Report.cell(answer.sender))\n"
            + KeyReport.text(
                answer.key, more: "old keys    valid until \(Report.time(answer.oldKeysExpireAt))\n")
    }
}

/// The text for a new server key, which is shown only once.
private enum KeyReport {
    static func text(_ key: Redacted<String>, more: String) -> String {
        "server key  \(Report.cell(key.revealed))\n" + more
            + "\nKeep the key: only its hash is stored, so it cannot be shown again.\n"
    }
}

extension RemoveSender: ReportedCommand {
    static func text(of answer: Answer) -> String { "Sender \(Report.cell(answer.sender)) is removed.\n" }
}

extension AddAccount: ReportedCommand {
    static func text(of answer: Answer) -> String {
        "service account  \(Report.cell(answer.email))\nproject          \(Report.cell(answer.project))\n"
    }
}

extension RemoveAccount: ReportedCommand {
    static func text(of answer: Answer) -> String {
        "Service account \(Report.cell(answer.email)) is removed; its access tokens are invalid.\n"
    }
}
