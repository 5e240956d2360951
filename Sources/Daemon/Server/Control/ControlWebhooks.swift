import Basics
import Delivery
import Operator
import Webhooks

/// The commands for webhooks.
extension ControlServer {
    func setWebhook(_ command: SetWebhook) throws(OperatorProblem) -> SetWebhook.Answer {
        let secret = try changing { () throws(Senders.Problem) in
            try daemon.senders.setWebhook(
                command.sender, url: command.url, secret: command.secret,
                reach: daemon.configuration.webhookReach, secrets: daemon.gateways.webhookSecrets,
                now: daemon.clock.now().wall)
        }
        return SetWebhook.Answer(
            sender: command.sender, url: command.url, secret: secret.map { WebhookSecrets.text($0) })
    }

    func rotateWebhookSecret(
        _ command: RotateWebhookSecret
    ) throws(OperatorProblem) -> RotateWebhookSecret.Answer {
        let (secret, end) = try changing { () throws(Senders.Problem) in
            try daemon.senders.rotateWebhookSecret(
                command.sender, overlapSeconds: command.overlapSeconds, secret: command.secret,
                secrets: daemon.gateways.webhookSecrets, now: daemon.clock.now().wall)
        }
        return RotateWebhookSecret.Answer(
            sender: command.sender, secret: WebhookSecrets.text(secret), oldSecretExpiresAt: end)
    }

    func pauseWebhook(_ command: PauseWebhook) throws(OperatorProblem) -> WebhookState {
        try setWebhook(command.sender, to: .paused)
    }

    func resumeWebhook(_ command: ResumeWebhook) throws(OperatorProblem) -> WebhookState {
        try setWebhook(command.sender, to: .active)
    }

    private func setWebhook(
        _ sender: SenderID, to state: WebhookRecord.State
    ) throws(OperatorProblem) -> WebhookState {
        let isChanged = try changing { () throws(Senders.Problem) in
            try daemon.senders.setWebhook(sender, to: state)
        }
        guard state == .active else {
            return WebhookState(sender: sender, state: WebhookStateName(state), isChanged: isChanged)
        }
        let endsPause = statuses(of: [sender])[sender]?.pausedMilliseconds != nil
        daemon.gateways.webhooks.retry(sender)
        return WebhookState(
            sender: sender, state: .active, isChanged: isChanged || endsPause, endsFailurePause: endsPause)
    }

    func clearWebhook(_ command: ClearWebhook) throws(OperatorProblem) -> ClearWebhook.Answer {
        try changing { () throws(Senders.Problem) in try daemon.senders.clearWebhook(command.sender) }
        return ClearWebhook.Answer(sender: command.sender)
    }

    func showWebhook(_ command: ShowWebhook) throws(OperatorProblem) -> WebhookReport {
        try requireSender(command.sender)
        guard let record = daemon.senders.directory[command.sender], let webhook = record.webhook else {
            let problem = Senders.withoutWebhook(command.sender)
            throw OperatorProblem(problem.text, hint: problem.hint)
        }
        var status = statuses(of: [command.sender])[command.sender]
        var reads = Limits.Webhook.countedWaiting
        try countStored(of: command.sender, in: &status, &reads)
        return report(command.sender, webhook, status)
    }

    func listWebhooks() throws(OperatorProblem) -> ListWebhooks.Answer {
        let records = daemon.senders.directory.all.filter { $0.webhook != nil }
        let statuses = statuses(of: records.map(\.sender))
        var reports: [WebhookReport] = []
        var reads = Limits.Webhook.countedWaiting
        for record in records {
            guard let webhook = record.webhook else { continue }
            var status = statuses[record.sender]
            try countStored(of: record.sender, in: &status, &reads)
            reports.append(report(record.sender, webhook, status))
        }
        return ListWebhooks.Answer(webhooks: reports)
    }

    /// Adds the messages that a webhook has still to get to those at its thread: while it is stopped, or has just been resumed, they are
    /// in the store only. Reads up to `reads` messages, and subtracts those from it.
    private func countStored(
        of sender: SenderID, in status: inout WebhookStatus?, _ reads: inout Int
    ) throws(OperatorProblem) {
        guard let known = status, reads > 0 else { return }
        let most = reads
        var stored = 0
        try forEachUpstream(of: sender) { _ in
            stored += 1
            return stored < most
        }
        reads -= stored
        status?.waiting = max(known.waiting, stored - known.inFlight)
    }

    /// Returns what this daemon has seen of the endpoints of senders, with one question to their thread.
    private func statuses(of senders: [SenderID]) -> [SenderID: WebhookStatus] {
        daemon.gateways.webhooks.ask { host in
            senders.reduce(into: [:]) { $0[$1] = host.status(of: $1) }
        } ?? [:]
    }

    private func report(
        _ sender: SenderID, _ webhook: WebhookRecord, _ status: WebhookStatus?
    ) -> WebhookReport {
        let now = daemon.clock.now().wall
        let secrets = webhook.secrets.filter { ($0.expiresAt ?? .max) > now }
        return WebhookReport(
            sender: sender, url: webhook.url, state: WebhookStateName(webhook.state),
            createdAt: webhook.createdAt, secretsMadeAt: secrets.map(\.createdAt),
            oldSecretExpiresAt: secrets.first?.expiresAt, delivery: status.map { WebhookDelivery($0) })
    }
}

extension WebhookStateName {
    init(_ state: WebhookRecord.State) {
        switch state {
        case .active: self = .active
        case .paused: self = .paused
        case .gone: self = .gone
        }
    }
}

extension WebhookRecord.State {
    init(_ name: WebhookStateName) {
        switch name {
        case .active: self = .active
        case .paused: self = .paused
        case .gone: self = .gone
        }
    }
}

extension WebhookDelivery {
    init(_ status: WebhookStatus) {
        self.init(
            acknowledged: status.acknowledged, failed: status.failed, failuresInRow: status.failuresInRow,
            inFlight: status.inFlight, waiting: status.waiting,
            retriesInSeconds: status.pausedMilliseconds.map { Int($0 / 1_000) },
            lastFailure: status.lastFailure, lastFailureAt: status.lastFailureAt,
            lastAcknowledgedAt: status.lastAcknowledgedAt)
    }
}
