import Basics

/// What the words of logs, metrics and listings mean.
public enum Glossary {
    /// A word with its meaning.
    public struct Entry: Sendable {
        /// The word.
        public var word: String
        /// What kind of word it is: close reason, refusal of a connection, refusal, milestone, metric, exit code, key.
        public var kind: String
        /// What it means.
        public var meaning: String
    }

    /// All words, by kind.
    public static let entries: [Entry] =
        CloseReason.allCases.map { Entry(word: $0.rawValue, kind: "close reason", meaning: $0.meaning) }
        + DoorRefusal.allCases.map {
            Entry(word: $0.rawValue, kind: "refusal of a connection", meaning: $0.meaning)
        }
        + (refusals + earlyRefusals).map { Entry(word: $0.word, kind: "refusal", meaning: $0.meaning) }
        + milestones.map { Entry(word: $0.word, kind: "milestone", meaning: $0.meaning) }
        + Metric.allCases.map {
            Entry(word: $0.name, kind: "metric (\($0.kind))", meaning: $0.help + labels($0))
        }
        + ExitCode.allCases.map { Entry(word: "\($0.rawValue)", kind: "exit code", meaning: $0.meaning) }
        + ConfigKey.allCases.map { Entry(word: $0.rawValue, kind: "config key", meaning: $0.entry.help) }

    /// The meanings of a word; empty where it is not known.
    public static func meanings(of word: String) -> [Entry] { entries.filter { $0.word == word } }

    /// The known word nearest to an unknown one.
    public static func nearest(_ word: String) -> String? {
        NearestName.of(word, among: entries.map(\.word))
    }

    private static func labels(_ metric: Metric) -> String {
        metric.labels.isEmpty ? "" : " By " + metric.labels.map(\.name).joined(separator: " and ") + "."
    }

    /// The words of `Refusal`, in the order of the metric's label; a test compares them.
    static let refusals: [(word: String, meaning: String)] = [
        ("missing_target", "Neither to nor condition is given."),
        ("wrong_type", "A field has another JSON type than it must have."),
        ("out_of_range", "A number is outside its range."),
        ("not_allowed", "A word is none of those allowed."),
        (
            "too_large",
            "The payload is over \(Limits.Message.payloadBytes) bytes, or another field over its limit."
        ),
        ("reserved_key", "A key of data belongs to the service: from, gcm., google."),
        ("conflict", "Two fields exclude each other, or one is not taken over this protocol."),
        ("repeated_message_id", "The message_id was used before on this connection."),
        ("bad_ack", "An ack lacks what it must hold."),
        ("invalid_token", "The registration token is malformed or was not made here."),
        ("sender_mismatch", "The token belongs to another sender."),
        ("not_registered", "The registration is gone: the app server should forget the token."),
        ("package_mismatch", "The token belongs to another app than restricted_package_name."),
        ("device_rate_exceeded", "Too many messages to one device."),
        ("sender_rate_exceeded", "Too many messages of one sender."),
        ("topic_rate_exceeded", "Too many messages to one topic."),
        ("unavailable", "The store cannot take it now: send it again, with backoff."),
        ("internal_error", "A fault of ours: please report it with the log."),
        ("draining", "The connection is about to end: send it on a new one."),
    ]

    /// Reasons of refusals that are none of the protocol, in the order of the metric's label.
    static let earlyRefusals: [(word: String, meaning: String)] = [
        ("malformed", "The request could not be read: invalid JSON or form, or a field that is not taken."),
        ("unauthorized", "The credentials are missing, wrong or expired: the answer was 401."),
        (
            "too_many_strangers",
            "Devices that have never logged in asked too often in a minute to be added: see stranger_requests_per_address and stranger_requests_per_minute."
        ),
        (
            "registry_full",
            "The request would have added to the registry, which has reached registry_bytes: raise the limit, or remove devices that are not needed."
        ),
    ]

    /// The milestones of a message.
    static let milestones: [(word: String, meaning: String)] = [
        ("accepted", "It was taken; with a lifetime it is on disk."),
        ("stored", "It waits in a mailbox on disk."),
        ("sent", "It was written to a connection; not yet acknowledged."),
        ("delivered", "The receiver acknowledged it."),
        ("replaced", "A newer message with the same collapse key took its place."),
        ("expired", "Its lifetime ended first."),
        ("refused", "It was not taken; the answer says why."),
        (
            "discarded",
            "Too many waited for the app: all were dropped, and the device is told that messages were deleted."
        ),
        ("removed", "Its token was unregistered, or an operator removed its device or sender."),
    ]
}
