import Basics

/// Whether acknowledged messages of one connection of an app server arrive at one device in the order in which they were sent.
struct ClusterOrder {
    /// A connection of an app server, with one device.
    struct Stream: Hashable {
        var connection: Int
        var device: Int
    }

    private var sent: [Stream: [String]] = [:]
    private var arrivals: [String: Int] = [:]

    mutating func sent(_ id: String, on stream: Stream) { sent[stream, default: []].append(id) }

    /// A message has arrived. Only its first arrival counts: it is delivered at least once.
    mutating func arrived(_ id: String) { arrivals[id] = arrivals[id] ?? arrivals.count }

    /// Returns pairs of acknowledged messages that arrived in the wrong order. One without an acknowledgement may arrive at any time.
    func violations(acknowledged: Set<String>) -> [String] {
        sent.values.flatMap { ids in
            let known = ids.filter(acknowledged.contains).compactMap { id in arrivals[id].map { (id, $0) } }
            return zip(known, known.dropFirst()).filter { $0.1 > $1.1 }.map {
                "order: \($1.0) before \($0.0)"
            }
        }.sorted()
    }
}

/// Whether a message always has the same persistent ID, however often it arrives.
struct ClusterIdentity {
    private var ids: [String: [UInt8]] = [:]

    /// A message has arrived at a device. Returns what is wrong.
    mutating func arrived(_ name: String, as persistentID: [UInt8]) -> String? {
        let first = ids[name] ?? persistentID
        ids[name] = first
        guard first != persistentID else { return nil }
        return
            "id: \(name) came as \(String(decoding: first, as: UTF8.self)) and \(String(decoding: persistentID, as: UTF8.self))"
    }
}

/// Whether a device is a member of a topic or group while it is removed and added again: what is sent while it is removed must not arrive.
struct ClusterMembership {
    enum State: Equatable {
        case member
        case removed
        /// A change has no answer; one without a confirmation may still take effect.
        case changing
    }

    private(set) var state = State.member
    private var forbidden: Set<String> = []

    /// A change is sent, perhaps again.
    mutating func begin(joins: Bool) {
        state = .changing
        // A message that is on its way may reach a device that joins meanwhile.
        if joins { forbidden = [] }
    }

    /// The change was acknowledged.
    mutating func end(joined: Bool) { state = joined ? .member : .removed }

    /// A message to all members is sent.
    mutating func sent(_ id: String) { if state == .removed { forbidden.insert(id) } }

    /// Whether a message was sent while the device was removed, and it has not joined since.
    func isForbidden(_ id: String) -> Bool { forbidden.contains(id) }
}

/// Answers that are true while a part of the cluster is missing.
enum ClusterAnswers {
    /// Errors that say nothing about a device or a token. All devices of the load live, and all its requests are valid.
    private static let honest: Set<String> = [
        "SERVICE_UNAVAILABLE", "CONNECTION_DRAINING", "DEVICE_MESSAGE_RATE_EXCEEDED",
        "TOPICS_MESSAGE_RATE_EXCEEDED",
    ]

    static func isFalse(refusal error: String) -> Bool { !honest.contains(error) }

    /// Whether a login was refused although its key is valid.
    static func isFalse(loginCondition: String) -> Bool { loginCondition == "not-authorized" }
    static func isFalse(loginCode: Int) -> Bool { loginCode == 401 }
}
