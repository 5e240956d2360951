import Basics
import Delivery

/// What Apple's verdicts about device tokens lead to (apns 4.2). Those about the token of a Live Activity concern the message alone:
/// app servers delete registrations that are not registered, and this one lives.
extension APNsGateway {
    /// `BadDeviceToken`: it may be a token of the other environment, which is tried once. It ends only when neither accepts it.
    mutating func tokenUnknown(
        _ index: Int32, _ verdict: APNsVerdict, _ now: Now, _ effects: inout APNsEffects
    ) {
        guard pending[index].isForDevice else {
            return finish(index, .refused(APNsRefusal(.activityEnded, verdict)), &effects)
        }
        let other: APNsEnvironment = pending[index].environment == .production ? .sandbox : .production
        if let first = pending[index].firstVerdict { return finishUnknown(index, first, now, &effects) }
        guard entry(for: index, in: other, now) != nil else {
            // Without a credential for it, the other environment cannot be asked, and the token may be one of its own.
            _ = trusts(index, isBad: true, now, &effects)
            return finish(index, .refused(APNsRefusal(.credential, verdict)), &effects)
        }
        pending[index].firstVerdict = verdict
        pending[index].request.environment = other
        pending[index].tried.subtract([.credentialProbe, .topicProbe])
        resend(index)
    }

    /// Answers that Apple does not know the device token, in either environment.
    mutating func finishUnknown(
        _ index: Int32, _ verdict: APNsVerdict, _ now: Now, _ effects: inout APNsEffects
    ) {
        let isTrusted = trusts(index, isBad: true, now, &effects)
        finish(
            index, isTrusted ? .tokenUnknown(verdict) : .refused(APNsRefusal(.credential, verdict)), &effects)
    }

    /// `DeviceTokenNotForTopic`.
    mutating func tokenMismatched(
        _ index: Int32, _ verdict: APNsVerdict, _ now: Now, _ effects: inout APNsEffects
    ) {
        guard pending[index].isForDevice else {
            return finish(index, .refused(APNsRefusal(.activityEnded, verdict)), &effects)
        }
        // Both environments know the token under no topic of ours: the first verdict is about the right environment.
        if let first = pending[index].firstVerdict { return finishUnknown(index, first, now, &effects) }
        let isTrusted = trusts(index, isBad: true, now, &effects)
        finish(
            index, isTrusted ? .tokenMismatched(verdict) : .refused(APNsRefusal(.credential, verdict)),
            &effects)
    }

    /// `Unregistered` or `ExpiredToken`. Nothing ends if the app has registered since: then the message alone is refused, and as
    /// unavailable, because app servers delete registrations that are not registered.
    mutating func tokenEnded(_ index: Int32, _ verdict: APNsVerdict, _ effects: inout APNsEffects) {
        guard pending[index].isForDevice else {
            return finish(index, .refused(APNsRefusal(.activityEnded, verdict)), &effects)
        }
        guard let since = verdict.invalidSince, let registeredAt = pending[index].registeredAt,
            since < registeredAt
        else {
            return finish(index, .tokenEnded(verdict), &effects)
        }
        if retriesOnce(index, .oldEnd) { return resend(index) }
        finish(index, .refused(APNsRefusal(.unavailable, verdict)), &effects)
    }

    /// Counts a verdict about a device token for the guard against mass death. Returns whether it can be trusted.
    mutating func trusts(
        _ index: Int32, isBad: Bool, _ now: Now, _ effects: inout APNsEffects
    ) -> Bool {
        let (bundle, environment) = (pending[index].bundle, pending[index].environment)
        let result = guards.record(
            token: pending[index].request.deviceToken.bytes, of: bundle, in: environment, isBad: isBad,
            now: now.monotonic)
        switch result.change {
        case .raised(let bad, let count):
            effects.notices.append(.massDeath(bundle: bundle, environment, bad: bad, of: count))
        case .ended: effects.notices.append(.massDeathOver(bundle: bundle, environment))
        case nil: break
        }
        return result.isTrusted
    }
}
