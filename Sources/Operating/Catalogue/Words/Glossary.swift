import Basics
import Operator

/// The meanings of the words in logs, metrics and listings.
public enum Glossary {
    /// A word with its kind and meaning.
    public struct Entry: Sendable {
        public var word: String
        /// Close reason, refusal of a connection or a login, failed handshake, refusal, milestone, word of a cluster, log event, alert, cause of `ccsctl health`,
        /// metric, exit code or config key.
        public var kind: String
        public var meaning: String
    }

    /// All words, by kind.
    public static let entries: [Entry] =
        CloseReason.allCases.map { Entry(word: $0.rawValue, kind: "close reason", meaning: $0.meaning) }
        + ConnectionRefusal.allCases.map {
            Entry(word: $0.rawValue, kind: "refusal of a connection", meaning: $0.meaning)
        }
        + logins.map { Entry(word: $0.word, kind: "refusal of a login", meaning: $0.meaning) }
        + handshakes.map { Entry(word: $0.word, kind: "failed handshake", meaning: $0.meaning) }
        + (refusals + earlyRefusals).map { Entry(word: $0.word, kind: "refusal", meaning: $0.meaning) }
        + milestones.map { Entry(word: $0.word, kind: "milestone", meaning: $0.meaning) }
        + cluster
        + LogEventMeaning.all.map { Entry(word: $0.word, kind: "log event", meaning: $0.meaning) }
        + Alert.all.map {
            Entry(word: $0.name, kind: "alert (\($0.severity.rawValue))", meaning: $0.meaning)
        }
        + CheckHealth.Cause.allCases.map {
            Entry(word: $0.rawValue, kind: "cause of health", meaning: $0.exitCode.meaning)
        }
        + Metric.allCases.map {
            Entry(word: $0.name, kind: "metric (\($0.kind))", meaning: $0.help + labels($0))
        }
        + ExitCode.allCases.map { Entry(word: "\($0.rawValue)", kind: "exit code", meaning: $0.meaning) }
        + ConfigKey.allCases.map { Entry(word: $0.rawValue, kind: "config key", meaning: $0.entry.help) }

    private static let cluster: [Entry] =
        ClusterAlarmCause.allCases.map {
            Entry(word: $0.rawValue, kind: "alarm of a cluster", meaning: $0.meaning)
        }
        + MemberStatus.allCases.map {
            Entry(word: $0.rawValue, kind: "status of a node", meaning: $0.meaning)
        }
        + PartitionRole.allCases.map {
            Entry(word: $0.rawValue, kind: "role in a partition", meaning: $0.meaning)
        }
        + Metric.UnreachedReason.allCases.map {
            Entry(word: $0.rawValue, kind: "unreached owner", meaning: $0.meaning)
        }

    /// Returns the meanings of a word; empty if it is unknown.
    public static func meanings(of word: String) -> [Entry] { entries.filter { $0.word == word } }

    /// Returns the word nearest to a mistyped one. Returns `nil` if none is near.
    public static func nearest(_ word: String) -> String? {
        NearestName.of(word, among: entries.map(\.word))
    }

    private static func labels(_ metric: Metric) -> String {
        metric.labels.isEmpty ? "" : " By " + metric.labels.map(\.name).joined(separator: " and ") + "."
    }

    /// The reasons of refused messages, in the order of the metric's label; a test compares them.
    static let refusals: [(word: String, meaning: String)] = [
        ("missing_target", "Neither to nor condition is given."),
        ("wrong_type", "A field has the wrong JSON type."),
        ("out_of_range", "A number is outside its range."),
        ("not_allowed", "A value is not one of the allowed words."),
        (
            "too_large",
            "The payload is larger than \(Limits.Message.payloadBytes) bytes, or another field exceeds its limit."
        ),
        (
            "reserved_key",
            "A key of data is reserved: from, message_type, or one that begins with google or gcm. (with reserve_gcm_prefix: with gcm)."
        ),
        ("conflict", "Two fields exclude each other, or one is not allowed over this protocol."),
        ("repeated_message_id", "The message_id was used before on this connection."),
        ("bad_ack", "An ack has a required field missing."),
        ("invalid_token", "The registration token is malformed or was not issued by this server."),
        ("sender_mismatch", "The token belongs to another sender."),
        ("not_registered", "The registration no longer exists: the app server should delete the token."),
        ("package_mismatch", "The token belongs to another app than restricted_package_name."),
        (
            "sender_suspended",
            "The web app belongs to a sender that an operator suspended (ccsctl senders resume)."
        ),
        ("device_rate_exceeded", "Too many messages to one device."),
        ("sender_rate_exceeded", "Too many messages from one sender."),
        ("topic_rate_exceeded", "Too many messages to one topic."),
        ("unavailable", "The store cannot accept it now: send it again, with backoff."),
        (
            "store_damaged",
            "The store is damaged and cannot read the recipient: ccsctl health names the table; see A damaged store in docs/operations.md."
        ),
        ("internal_error", "A bug in ccsd: please report it with the log."),
        ("draining", "The connection is about to end: send the message on a new one."),
        ("unknown_message", "No message of the sender with this ID waits for the device: none is cancelled."),
        ("message_sent", "Too late to cancel the message: the device or APNs has got it."),
        (
            "schedule_full",
            "Too many messages wait for their time: of the device, of the sender, or of the server."
        ),
        (
            "apns_credential",
            "No valid APNs credential for the iOS app: add or renew it with ccsctl apns add."
        ),
        ("apns_unregistered", "The iOS app is gone: the app server should delete the token."),
        ("apns_bad_token", "APNs does not know the device token, neither in production nor in sandbox."),
        ("apns_mismatch", "The APNs device token belongs to another app."),
        (
            "apns_activity_ended",
            "APNs does not accept the token of a Live Activity; the registration is not concerned."
        ),
        ("apns_too_large", "The payload for APNs is larger than Apple accepts."),
        ("apns_invalid", "APNs refuses a field that the app server set."),
        ("apns_rate_exceeded", "APNs receives too many messages for the device."),
        ("apns_unavailable", "APNs cannot be reached: send it again, with backoff."),
        ("apns_internal_fault", "APNs refuses a request made by ccsd: please report it with the log."),
    ]

    /// The reasons of requests refused before they reach a protocol check, in the order of the metric's label.
    static let earlyRefusals: [(word: String, meaning: String)] = [
        ("malformed", "The request could not be parsed: invalid JSON or form data, or an unknown field."),
        ("unauthorized", "The credentials are missing, wrong or expired; the answer was 401."),
        (
            "too_many_unauthenticated",
            "Devices that have never logged in sent too many requests in a minute: see unauthenticated_requests_per_address and unauthenticated_requests_per_minute."
        ),
        (
            "registry_full",
            "The registry has reached registry_bytes, and the request would have added to it: raise the limit, or remove devices that are not needed."
        ),
    ]

    /// The reasons of refused logins, in app servers, devices and operators.
    static let logins: [(word: String, meaning: String)] = [
        (
            "wrong_credentials",
            "The sender or device is unknown or its key is wrong; for the operator API, the token is. The address is in the line; after a rotation it may be an app server with the old key."
        ),
        (
            "expired_credentials",
            "The server key has expired after a rotation: give the app server the new one."
        ),
        ("suspended", "An operator has suspended the sender (ccsctl senders resume)."),
        ("too_many_connections", "The sender has its maximum number of connections."),
        (
            "too_many_failures",
            "The secret is wrong, as in too many other logins of this identity or address in a minute: see failed_logins_per_minute and failed_logins_per_address. A valid secret is never refused for it."
        ),
    ]

    /// What clients do wrong before TLS is established.
    static let handshakes: [(word: String, meaning: String)] = [
        ("plain_http", "A client speaks HTTP without TLS to a port with TLS: it needs https://."),
        (
            "not_tls",
            "A client does not begin with TLS: this port has TLS from the first byte, without STARTTLS."
        ),
        (
            "certificate_not_trusted",
            "A client does not trust the certificate: it needs the CA, ca.pem in the data directory unless certificate_file is set."
        ),
    ]

    /// The milestones of a message.
    static let milestones: [(word: String, meaning: String)] = [
        ("accepted", "The message was accepted; one with a lifetime is on disk."),
        ("stored", "It was stored in a mailbox on disk."),
        ("sent", "It was written to a connection, but is not yet acknowledged."),
        ("delivered", "The receiver acknowledged it."),
        ("replaced", "A newer message with the same collapse key replaced it."),
        ("expired", "Its lifetime ended before it was delivered."),
        ("refused", "It was not accepted; the answer has the reason."),
        (
            "discarded",
            "Too many messages were pending for the app: all were dropped, and the device gets a deleted_messages message. Or APNs refused it after it was accepted."
        ),
        ("removed", "Its token was unregistered or has ended, or an operator removed its device or sender."),
        ("forwarded", "APNs accepted it for an iOS app; Apple does not report whether the device got it."),
    ]
}
