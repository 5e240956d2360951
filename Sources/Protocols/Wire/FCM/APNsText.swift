import Basics

/// Texts for app servers about messages that APNs did not accept (apns 4.1).
enum APNsText {
    /// Returns what is wrong and what to do, with Apple's word.
    static func description(of refusal: APNsRefusal) -> String {
        let words =
            switch refusal.kind {
            case .credential:
                "No valid APNs credential for this app: the operator must add or renew it with ccsctl apns add"
            case .unregistered: "APNs device token is disabled."
            case .badToken: "APNs does not know the device token, neither in production nor in sandbox"
            case .activityEnded:
                "InvalidJson: INVALID_FIELD : The token of the Live Activity is not valid: the activity has ended, or belongs to another app. The registration is valid"
            case .mismatch: "The APNs device token belongs to another app"
            case .tooLarge:
                "InvalidJson: MESSAGE_TOO_BIG : The payload for APNs is larger than Apple accepts"
            case .invalid: "InvalidJson: INVALID_FIELD : APNs refuses a field of the message"
            case .rateExceeded: "APNs receives too many messages for this device"
            case .unavailable where refusal.verdict?.invalidSince != nil:
                "APNs reports that the device token ended before the app last reported it: the registration stays, retry later"
            case .unavailable: "APNs cannot be reached, retry later"
            case .internalFault:
                "APNs refuses a request that this server made, which is a fault of the server"
            }
        guard let verdict = refusal.verdict, !verdict.reason.isEmpty else { return words }
        return "\(words) (\(verdict.reason))"
    }
}
