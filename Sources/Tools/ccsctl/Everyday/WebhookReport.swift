import Basics
import Operator

extension SetWebhook: ReportedCommand {
    static func text(of answer: Answer) -> String {
        "sender ID  \(Report.cell(answer.sender))\nurl        \(Report.cell(answer.url))\n"
            + (answer.secret.map { SecretReport.text($0) } ?? "The secret is as before.\n")
    }
}

extension RotateWebhookSecret: ReportedCommand {
    static func text(of answer: Answer) -> String {
        "sender ID  \(Report.cell(answer.sender))\n"
            + "old secret signs as well until \(Report.time(answer.oldSecretExpiresAt))\n"
            + SecretReport.text(answer.secret)
    }
}

/// The text for a new secret, which is shown only once.
private enum SecretReport {
    static func text(_ secret: Redacted<String>) -> String {
        "secret     \(Report.cell(secret.revealed))\n\nKeep the secret: it cannot be shown again.\n"
    }
}

extension ShowWebhook: ReportedCommand {
    static func text(of answer: Answer) -> String {
        var lines = [
            ("sender ID", Report.cell(answer.sender)), ("url", Report.cell(answer.url)),
            ("state", answer.state.rawValue), ("set at", Report.time(answer.createdAt)),
            ("secrets", Report.cell(answer.secretsMadeAt.count)),
        ]
        if let end = answer.oldSecretExpiresAt { lines.append(("old secret until", Report.time(end))) }
        if let delivery = answer.delivery { lines += rows(of: delivery) }
        return lines.map { name, value in
            name + String(repeating: " ", count: max(1, 20 - name.count)) + value + "\n"
        }.joined()
    }

    private static func rows(of delivery: WebhookDelivery) -> [(String, String)] {
        var rows = [
            ("acknowledged", Report.cell(delivery.acknowledged)), ("failed", Report.cell(delivery.failed)),
            ("failures in a row", Report.cell(delivery.failuresInRow)),
            ("in flight", Report.cell(delivery.inFlight)), ("waiting", Report.cell(delivery.waiting)),
        ]
        if let seconds = delivery.retriesInSeconds { rows.append(("tried again in", "\(seconds) s")) }
        if let failure = delivery.lastFailure {
            let time = delivery.lastFailureAt.map { " (\(Report.time($0)))" } ?? ""
            rows.append(("last failure", Report.cell(failure) + time))
        }
        if let time = delivery.lastAcknowledgedAt { rows.append(("last acknowledged", Report.time(time))) }
        return rows
    }
}

extension ListWebhooks: ReportedCommand {
    static func text(of answer: Answer) -> String {
        ListReport<WebhookReport>(
            columns: [
                ("SENDER_ID", { Report.cell($0.sender) }), ("STATE", { $0.state.rawValue }),
                ("FAILURES", { Report.cell($0.delivery?.failuresInRow ?? 0) }),
                ("LAST_FAILURE", { Report.cell($0.delivery?.lastFailure ?? "-") }),
                ("URL", { Report.cell($0.url) }),
            ], none: "No webhooks yet: set one with ccsctl senders webhook set."
        ).text(answer.webhooks)
    }
}

extension PauseWebhook: ReportedCommand {
    static func text(of answer: Answer) -> String { WebhookStateReport.text(answer) }
}

extension ResumeWebhook: ReportedCommand {
    static func text(of answer: Answer) -> String { WebhookStateReport.text(answer) }
}

private enum WebhookStateReport {
    static func text(_ answer: WebhookState) -> String {
        if answer.endsFailurePause {
            return
                "The webhook of sender \(Report.cell(answer.sender)) is active, and tried at once: its pause after failures has ended.\n"
        }
        let already = answer.isChanged ? "" : "already "
        return "The webhook of sender \(Report.cell(answer.sender)) is \(already)\(answer.state.rawValue).\n"
    }
}

extension ClearWebhook: ReportedCommand {
    static func text(of answer: Answer) -> String {
        "The webhook of sender \(Report.cell(answer.sender)) is removed.\n"
    }
}
