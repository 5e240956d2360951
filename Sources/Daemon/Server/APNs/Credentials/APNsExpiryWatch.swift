import Basics

/// Decides when to warn of the expiry of certificates: once at each of the limits, and once after the expiry.
struct APNsExpiryWatch {
    /// The limit at which the last warning about a credential was due.
    private var warned: [String: Int] = [:]

    /// Returns the credentials that have reached a further limit since the last call, with the days left.
    ///
    /// The first call returns all that have reached one, so that each start warns again.
    mutating func due(
        _ credentials: [StoredAPNsCredential], now: UnixMilliseconds
    ) -> [(credential: StoredAPNsCredential, days: Int)] {
        var reached: [String: Int] = [:]
        var due: [(credential: StoredAPNsCredential, days: Int)] = []
        for credential in credentials {
            guard let days = credential.daysLeft(now: now), let limit = Self.limit(days) else { continue }
            reached[credential.id] = limit
            if warned[credential.id].map({ limit < $0 }) ?? true { due.append((credential, days)) }
        }
        warned = reached
        return due
    }

    /// Returns the closest limit that this number of days has reached, -1 after the expiry. Returns `nil` if it has reached none.
    private static func limit(_ days: Int) -> Int? {
        days < 0 ? -1 : Limits.APNsCredentials.warningDays.last { days < $0 }
    }
}
