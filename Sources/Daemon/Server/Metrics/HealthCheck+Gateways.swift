import Basics
import Operator

/// Whether messages leave to Apple and to webhooks.
extension HealthState {
    var gatewayTexts: [Text] {
        (apns.map { $0.compactMap { text(of: $0) } } ?? [silenceText]) + webhookTexts
    }

    private var silenceText: Text {
        (
            "APNs: \(APNsPort.silence)",
            "run ccsctl health again; if it lasts, restart ccsd and report a bug: messages to iOS apps wait"
        )
    }

    private func text(of row: APNsStateRow) -> Text? {
        let name = "the credential \(row.credential) for APNs (\(row.environment.rawValue))"
        switch row.health {
        case .refused:
            let word = [row.status.map { "\($0)" }, row.reason].compactMap { $0 }.joined(separator: " ")
            return (
                "Apple refuses \(name)\(word.isEmpty ? "" : ": \(word)"), so its messages are refused",
                "ccsctl apns list shows Apple's word; ccsctl apns test asks again, ccsctl apns add replaces the credential"
            )
        case .clockDoubted:
            return (
                "Apple finds a new provider token of \(name) too old: the clock of this machine is wrong",
                "set the clock; ccsctl apns list shows when Apple accepts it again"
            )
        case .unused, .accepted:
            guard let seconds = row.failingSeconds, seconds >= Limits.Metrics.failingGatewaySeconds else {
                return nil
            }
            return (
                "no message has reached Apple with \(name) for \(seconds) s: messages wait",
                "apns_connect_failed, apns_disconnected or apns_answer_foreign in the log has the reason: a firewall, a proxy, or another address"
            )
        }
    }

    private var webhookTexts: [Text] {
        var texts: [Text] = []
        if webhooksPaused > 0 {
            texts.append(
                (
                    "\(webhooksPaused) endpoints of webhooks fail, and their messages wait",
                    "ccsctl senders webhook list names the senders and the last failures"
                ))
        }
        if webhooksGone > 0 {
            texts.append(
                (
                    "\(webhooksGone) endpoints of webhooks have answered 410 Gone, and get no messages",
                    "ccsctl senders webhook list names the senders: set the new URL, resume or clear the webhook"
                ))
        }
        return texts
    }
}
