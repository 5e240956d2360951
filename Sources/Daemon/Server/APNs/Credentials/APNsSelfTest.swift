import Delivery
import Operator

/// Sends the message of a self-test to Apple.
protocol APNsSelfTester: Sendable {
    /// Sends one message to a device token that does not exist, and waits for the answer; any thread may call.
    ///
    /// `topic` is empty if the credential is for all apps of a team and no app was named: then the request has no `apns-topic`.
    func test(
        _ credential: StoredAPNsCredential, topic: String, in environment: APNsEnvironment
    ) -> APNsSelfTestAnswer
}

/// What happened to the message of a self-test.
enum APNsSelfTestAnswer: Sendable, Equatable {
    /// Apple answered with this HTTP status and reason.
    case answered(status: Int, reason: String)
    /// Something other than Apple answered, with this HTTP status.
    case foreign(status: Int)
    /// No answer, for this reason: no connection, no valid certificate of Apple, a deadline.
    case failed(String)
    /// Nothing was sent, for this reason.
    case notTested(String)

    /// What the answer means for the credential (apns 1.6, 6.2).
    func verdict(topic: String) -> (result: APNsTestRow.Result, detail: String) {
        switch self {
        case .failed(let problem): return (.unclear, problem)
        case .notTested(let reason): return (.notTested, reason)
        case .foreign(let status):
            return (.unclear, "\(status), and no answer of Apple's: something else answers at this address")
        case .answered(let status, let reason):
            let answer = reason.isEmpty ? "\(status)" : "\(status) \(reason)"
            switch (status, reason) {
            case (200, _), (410, _), (400, "BadDeviceToken"), (400, "DeviceTokenNotForTopic"):
                return (.accepted, answer)
            case (400, "MissingTopic") where topic.isEmpty:
                return (.accepted, "\(answer): no app was named; --test-bundle-id tests one")
            case (403, _), (400, "BadTopic"), (400, "TopicDisallowed"), (400, "MissingTopic"):
                return (.refused, "\(answer)\(Self.advice(reason))")
            default: return (.unclear, answer)
            }
        }
    }

    /// What to do about a refusal.
    private static func advice(_ reason: String) -> String {
        switch reason {
        case "InvalidProviderToken":
            ": check the key ID and the team ID, and whether the app belongs to the team"
        case "ExpiredProviderToken": ": check the clock of this machine"
        case "BadEnvironmentKeyInToken", "BadEnvironmentKeyIdInToken", "BadCertificateEnvironment":
            ": the credential is for the other environment; add it again with --environment for that one alone"
        case "TopicDisallowed", "BadTopic": ": the credential is not for this app"
        default: ""
        }
    }
}

/// The self-test while no gateway runs.
struct NoAPNsSelfTester: APNsSelfTester {
    func test(
        _ credential: StoredAPNsCredential, topic: String, in environment: APNsEnvironment
    ) -> APNsSelfTestAnswer {
        .notTested("the gateway is off")
    }
}
