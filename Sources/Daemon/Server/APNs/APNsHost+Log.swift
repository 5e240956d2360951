import APNsGateway
import Basics
import Delivery
import Transport

extension APNsHost {
    /// Logs what the gateway has noticed.
    func write(_ notice: APNsNotice) {
        switch notice {
        case .credentialOff(let endpoint, let verdict):
            log.error(
                "apns_credential_off",
                fields(of: endpoint, "reason", .text(verdict?.words ?? "connection refused")))
        case .credentialOn(let endpoint): log.notice("apns_credential_on", fields(of: endpoint))
        case .topicOff(let endpoint, let topic, let verdict):
            log.error(
                "apns_topic_off",
                [
                    "credential": .text(endpoint.credential.name),
                    "environment": LogValue(endpoint.environment), "topic": text(topic),
                    "reason": .text(verdict.words),
                ])
        case .topicOn(let endpoint, let topic):
            log.notice("apns_topic_on", fields(of: endpoint, "topic", text(topic)))
        case .leaving(let endpoint, let reason):
            log.debug("apns_leaving", fields(of: endpoint, "reason", .text(reason)))
        case .clockAlarm(let credential, let age):
            log.repeating(
                .error, "apns_clock_wrong", by: credential.name,
                ["credential": .text(credential.name), "token_age_seconds": LogValue(age)])
        case .environmentCorrected(let registration, let environment):
            log.repeating(
                .notice, "apns_environment_corrected",
                ["device": LogValue(registration.device.number), "environment": LogValue(environment)])
        case .massDeath(let bundle, let environment, let bad, let all):
            log.error(
                "apns_mass_death",
                [
                    "app": text(bundle), "environment": LogValue(environment), "refused": LogValue(bad),
                    "sent": LogValue(all),
                ])
        case .massDeathOver(let bundle, let environment):
            log.notice(
                "apns_mass_death_over", ["app": text(bundle), "environment": LogValue(environment)])
        case .foreignAnswer(let endpoint, let verdict):
            log.repeating(
                .warning, "apns_answer_foreign", by: endpoint.credential.name,
                fields(of: endpoint, "status", LogValue(verdict.status)))
        case .internalFault(let verdict):
            log.repeating(
                .error, "apns_request_invalid", by: verdict.reason, ["reason": .text(verdict.words)])
        // The link reports it with the words of the system.
        case .connectFailed: break
        }
    }

    private func fields(of endpoint: APNsEndpoint) -> LogFields {
        ["credential": .text(endpoint.credential.name), "environment": LogValue(endpoint.environment)]
    }

    private func fields(of endpoint: APNsEndpoint, _ key: StaticString, _ value: LogValue) -> LogFields {
        [
            "credential": .text(endpoint.credential.name), "environment": LogValue(endpoint.environment),
            key: value,
        ]
    }

    private func text(_ bytes: [UInt8]) -> LogValue { .text(String(decoding: bytes, as: UTF8.self)) }
}

extension APNsVerdict {
    /// Status and reason: `403 InvalidProviderToken`.
    var words: String { reason.isEmpty ? "\(status)" : "\(status) \(reason)" }
}

extension APNsSettings {
    /// Takes the gateway's part of a configuration.
    init(_ configuration: Configuration) {
        var mapping = APNsMappingSettings { Digest.sha256($0) }
        mapping.collapseKeyToAPNs = configuration.collapseKeyToAPNs
        mapping.uses2015Priority = configuration.gcm2015Priority
        let rules = mapping
        self.init(connections: configuration.apnsConnections) { (delivery, now) throws(APNsRefusal) in
            try APNsMapper.request(for: delivery, settings: rules, now: now)
        }
    }
}
