/// How much a run does, and what goes wrong in it.
struct AppleKillPlan {
    var messages: Int
    var kills: Int
    var seed: UInt64
    /// Faults of single requests, in requests per million.
    var rates: [(kind: String, rate: Int)]
    /// Outages between two kills.
    var outages: Int
    /// The longest outage in milliseconds.
    var outageMilliseconds: Int64
    /// Messages that app servers have sent and Apple has not settled, at most.
    var backlog: Int
    /// Accepted messages that wait when the daemon is killed in an outage.
    var waitingAtKill: Int
    var servers: Int

    /// A device gets 100 messages, which is also the number that may wait for it.
    static let perDevice = 100
    var devices: Int { max(servers, messages / Self.perDevice) }

    /// A few seconds: the faults whose retry takes longer are left out, and the others are frequent.
    static func brief(messages: Int, kills: Int, seed: UInt64) -> Self {
        Self(
            messages: messages, kills: kills, seed: seed,
            rates: [
                ("unavailable", 20_000), ("too_large", 10_000), ("reset", 5_000), ("refused_stream", 10_000),
                ("goaway", 3_000), ("goaway_before", 3_000), ("abort", 3_000), ("unread", 6_000),
            ], outages: 1, outageMilliseconds: 500, backlog: 60, waitingAtKill: 10, servers: 4)
    }

    /// Faults that end connections are rare: the gateway opens one in ten seconds, after the first sixteen (`ConnectPace`). Some
    /// outages last longer than the deadline of a request.
    static func full(messages: Int, kills: Int, seed: UInt64) -> Self {
        Self(
            messages: messages, kills: kills, seed: seed,
            rates: [
                ("unavailable", 3_000), ("internal", 1_000), ("proxy", 300), ("throttled", 200),
                ("too_large", 1_000), ("slow", 2_000), ("silent", 100), ("reset", 500), ("calm", 100),
                ("refused_stream", 1_000), ("shutdown", 100), ("goaway", 150), ("goaway_before", 150),
                ("goaway_late", 150), ("abort", 150), ("unread", 300),
            ], outages: 2, outageMilliseconds: 18_000, backlog: 4_000, waitingAtKill: 400, servers: 16)
    }

    /// Options of the mock.
    var mockOptions: [String] {
        let faults = rates.map { "\($0.kind)=\($0.rate)" }.joined(separator: ",")
        return ["--prove", "--faults", "\(seed):\(faults)"]
    }
}
