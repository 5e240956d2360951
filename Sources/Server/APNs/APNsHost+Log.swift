import APNsGateway
import Basics
import Delivery

extension APNsHost {
    /// Logs what the gateway has noticed.
    func write(_ notice: APNsNotice) {
        switch notice {
        case .credentialOff(let endpoint, let verdict):
            log.error(
                "apns_credential_off",
                [
                    "credential": .text(endpoint.credential.name),
                    "environment": LogValue(endpoint.environment),
                    "reason": .text(verdict?.words ?? "connection refused"),
                ])
        case .credentialOn(let endpoint):
            log.notice(
                "apns_credential_on",
                [
                    "credential": .text(endpoint.credential.name),
                    "environment": LogValue(endpoint.environment),
                ])
        case .topicOff(let endpoint, let topic, let verdict):
            log.error(
                "apns_topic_off",
                [
                    "credential": .text(endpoint.credential.name),
                    "environment": LogValue(endpoint.environment),
                    "topic": .text(String(decoding: topic, as: UTF8.self)), "reason": .text(verdict.words),
                ])
        case .topicOn(let endpoint, let topic):
            log.notice(
                "apns_topic_on",
                [
                    "credential": .text(endpoint.credential.name),
                    "environment": LogValue(endpoint.environment),
                    "topic": .text(String(decoding: topic, as: UTF8.self)),
                ])
        case .clockAlarm(let credential, let age):
            log.repeating(
                .error, "apns_clock_wrong", by: credential.name,
                [
                    "credential": .text(credential.name), "token_age_seconds": LogValue(age),
                ])
        case .environmentCorrected(let registration, let environment):
            log.repeating(
                .notice, "apns_environment_corrected",
                [
                    "device": LogValue(registration.device.number), "environment": LogValue(environment),
                ])
        case .massDeath(let bundle, let environment, let bad, let all):
            log.error(
                "apns_mass_death",
                [
                    "app": .text(String(decoding: bundle, as: UTF8.self)),
                    "environment": LogValue(environment),
                    "refused": LogValue(bad), "sent": LogValue(all),
                ])
        case .massDeathOver(let bundle, let environment):
            log.notice(
                "apns_mass_death_over",
                [
                    "app": .text(String(decoding: bundle, as: UTF8.self)),
                    "environment": LogValue(environment),
                ])
        case .leaving(let endpoint, let reason):
            log.debug(
                "apns_leaving",
                [
                    "credential": .text(endpoint.credential.name),
                    "environment": LogValue(endpoint.environment),
                    "reason": .text(reason),
                ])
        case .internalFault(let verdict):
            log.repeating(
                .error, "apns_request_invalid", by: verdict.reason, ["reason": .text(verdict.words)])
        // The link reports it with the words of the system.
        case .connectFailed: break
        }
    }
}

extension APNsVerdict {
    /// Status and reason: `403 InvalidProviderToken`.
    var words: String { reason.isEmpty ? "\(status)" : "\(status) \(reason)" }
}

extension APNsSettings {
    /// Takes the gateway's part of a configuration.
    init(_ configuration: Configuration) {
        self.init(connections: configuration.apnsConnections) {
            (_, _) throws(APNsRefusal) in throw APNsRefusal(.internalFault)
        }
    }
}
