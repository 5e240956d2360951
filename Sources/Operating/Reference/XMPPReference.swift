import Basics
import Wire

/// Prints the reference of the XMPP interface from the fields, errors and writers that the sessions use: docs/xmpp.md.
public enum XMPPReference {
    /// Returns the reference in Markdown. `meaning` explains the word of a refusal.
    public static func text(meaning: (String) -> String) -> String {
        connection + messages + fromDevices + extensions + errors(meaning)
    }

    /// The error codes of refused messages, each with the word of a reason and whether the message may succeed later.
    public static var errorCodes: [(code: String, reason: String, isRetryable: Bool)] {
        Refusal.examples.map { ("\(ErrorCode.code($0))", $0.word, $0.isRetryable) }
    }

    private static var connection: String {
        """
        # XMPP

        The interface of app servers on `app_server_port` (5235) and `app_server_preproduction_port` (5236), as CCS of GCM and FCM had it. Printed by
        `ccsd reference xmpp`. [An example in Python](first-app.md) is short enough to copy.

        ## Connection

        - TLS from the first byte; there is no STARTTLS.
        - The stream is opened to `gcm.googleapis.com` or `fcm.googleapis.com`. SASL PLAIN with the sender ID, with or without `@` and the domain,
          as user and a server key as password; SCRAM-SHA-256 with `scram: true`.
        - Resource binding, then messages. \(Limits.AppServer.connectionsPerSender) connections of a sender may exist at once.
        - An idle connection gets a space every `keepalive_seconds`; ccsd answers pings (XEP-0199). Presence is ignored.
        - The login must be complete within `login_deadline_seconds`; stanzas have up to \(Limits.Stanza.bytesBeforeLogin / 1_024) KiB before it and
          \(Limits.Stanza.bytes / 1_024) KiB after it.


        """
    }

    private static var messages: String {
        """
        ## Messages

        Every message in either direction is JSON in an element `gcm` of the namespace `google:mobile:data`:

        ```xml
        <message><gcm xmlns="google:mobile:data">{"to":"TOKEN","message_id":"m-1","data":{"text":"Hello"}}</gcm></message>
        ```

        | field of a downstream message | meaning |
        |---|---|
        \(fields)

        Each message gets one answer, an ACK or a NACK with its `message_id`:

        ```xml
        \(written { AnswerWriter.appendAck(to: token.raw, messageID: id.raw, into: &$0) })
        \(written { AnswerWriter.appendAck(
                    to: token.raw, messageID: id.raw, canonical: Array("NEWER-TOKEN".utf8), into: &$0) })
        \(written { AnswerWriter.appendNack(to: token.raw, messageID: id.raw, .notRegistered, into: &$0) })
        ```

        Up to `pending_window` messages may be unanswered on a connection; further ones wait until an answer was sent.


        """
    }

    private static var fromDevices: String {
        """
        ## From devices

        An upstream message has `from` (the token), `category` (the package of the app), `message_id`, `time_to_live` and `data`. It is
        offered again when its connection has ended, also on another one, until the app server has acknowledged it. A connection that stays open has
        no deadline, and later messages of the same device wait behind it:

        ```xml
        <message><gcm xmlns="google:mobile:data">{"to":"TOKEN","message_id":"THE-SAME-ID","message_type":"ack"}</gcm></message>
        ```

        A receipt has the `message_type` `receipt`, `dr2:` and the ID of the message as `message_id`, and in `data` `original_message_id`,
        `device_registration_id`, `message_sent_timestamp` and `message_status`: `MESSAGE_SENT_TO_DEVICE`, or `MESSAGE_SENT_TO_APNS` for iOS apps.
        It is acknowledged in the same way.

        Before ccsd closes a connection on purpose, it sends

        ```xml
        \(written { AnswerWriter.appendDraining(into: &$0) })
        ```

        Open a new connection at once, send new messages there, and close the old one when its answers have arrived.


        """
    }

    private static var extensions: String {
        """
        ## Extensions

        What FCM does not have. Clients that were written for FCM never use it, and it changes nothing for them.

        A message that waits for a device is cancelled by its `message_id` and its token. The request has a `message_id` of its own:

        ```xml
        <message><gcm xmlns="google:mobile:data">{"message_type":"cancel","message_id":"c-1","to":"TOKEN","cancel_message_id":"m-1"}</gcm></message>
        ```

        The ACK of the request follows when the cancellation is on disk: the message is not delivered, and has no receipt. All waiting messages of
        the sender to the token with this ID are cancelled; it may also be the ID in an answer over HTTP. A NACK has the error
        `\(ErrorCode.code(.messageSent))` if the message was sent to the device or to APNs, and `\(ErrorCode.code(.unknownMessage))` if none waits: it was delivered, has expired, was never
        accepted, or belongs to another sender. A message to a topic or a group is cancelled for one of its devices, by the token. A request counts as a
        message for the rates. What FCM answered to an unknown `message_type` is not documented.

        A message with `replace_message_id` takes the place of the messages with this ID that wait for the token, by either ID as above. Both changes are on disk
        together before the ACK: the old one is not delivered, ends as a cancelled one does, and has no receipt. If it was sent to the device or to APNs, or
        none waits, the NACK has the error as above, and the new message is not sent. So it is for any other NACK: the old message stays. It counts as
        two messages for the rates. FCM ignored fields that it did not know, and would send both.

        A message with `send_at`, a time in RFC 3339, is sent later, up to \(Limits.Schedule.aheadSeconds / 86_400) days ahead:

        ```xml
        <message><gcm xmlns="google:mobile:data">{"to":"TOKEN","message_id":"m-2","send_at":"2026-12-24T18:00:00Z","data":{"text":"Hello"}}</gcm></message>
        ```

        The ACK follows when it is on disk. Until its time it waits outside of the limits of a mailbox, and replaces nothing; it can be cancelled. From
        then on it is like a message that is accepted then: its `time_to_live`, at least 1, counts from `send_at`. With a time that is over it is
        sent at once. `to` is a token or a group; a message to topics with `send_at` gets a NACK. More than \(Limits.Schedule.perDevice) scheduled messages of a
        device, or too many of the sender or of the server, get a NACK with the error `\(ErrorCode.code(.scheduleFull(.device)))`, which names the limit. FCM ignored
        fields that it did not know, and would send the message at once.


        """
    }

    private static func errors(_ meaning: (String) -> String) -> String {
        """
        ## Errors of messages

        The `error` of a NACK, with the reason in log and metrics. "Later" means with exponential backoff; "no" means that the same message will
        be refused again.

        \(ErrorReference.xmpp(meaning: meaning))
        A message that is not JSON or has no `message_id` gets a stanza error (`type="error"`) with its text, since a NACK could not name it.

        ## Errors of streams

        After a stream error ccsd closes the connection; `ccsctl explain REASON` explains the close reason in the log.

        | condition | when |
        |---|---|
        \(conditions)

        """
    }

    private static let token = Array("TOKEN".utf8)
    private static let id = Array("m-1".utf8)

    /// Returns a stanza as the session writes it.
    private static func written(_ write: (inout ByteBuffer) -> Void) -> String {
        var buffer = ByteBuffer()
        write(&buffer)
        return String(decoding: buffer.copied(), as: UTF8.self)
    }

    private static var fields: String {
        PayloadField.allCases.compactMap { field in
            field.meaning.map { "| `\(field.name)` | \(ErrorReference.cell($0)) |" }
        }.joined(separator: "\n")
    }

    private static var conditions: String {
        StreamCondition.allCases.map { "| `\($0.rawValue)` | \($0.occasion) |" }.joined(separator: "\n")
    }
}

extension PayloadField {
    /// The meaning for an app server. Returns `nil` for fields that belong to answers or to HTTP alone.
    fileprivate var meaning: String? {
        switch self {
        case .to: "A token, a notification key, or `/topics/NAME`. Required without `condition`."
        case .condition: "Topics with `&&`, `||`, `!` and parentheses: `'a' in topics && !('b' in topics)`."
        case .messageID: "Unique on the connection. Required."
        case .collapseKey: "A newer message with the same key replaces a waiting one."
        case .priority: "`normal` or `high`."
        case .contentAvailable: "true: wakes an iOS app."
        case .mutableContent: "true: an iOS app may change the notification."
        case .delayWhileIdle: "true: waits until the device is active, with `idle_notifications`."
        case .timeToLive:
            "Lifetime in seconds, 0 to \(Limits.Message.lifetimeSeconds), which is the default. 0: at once or dropped."
        case .deliveryReceiptRequested:
            "true: a receipt follows when the device has acknowledged the message."
        case .dryRun: "true: the message is checked and answered, but not sent."
        case .restrictedPackageName: "Refuse the message if the token belongs to another app."
        case .data:
            "An object of texts, up to \(Limits.Message.payloadBytes) bytes of keys and values with `notification`; keys may not be `from` or `message_type`, or begin with `google` or `gcm.`"
        case .notification: "An object with `title`, `body` and the other fields of a notification."
        case .rawData: "Bytes in Base64, in place of `data`."
        // `send_at` and `replace_message_id` are among the extensions.
        case .from, .messageType, .cancelMessageID, .replaceMessageID, .sendAt, .registrationIDs,
            .notificationKey:
            nil
        }
    }
}

extension StreamCondition {
    /// When the condition is sent, and what to do.
    fileprivate var occasion: String {
        switch self {
        case .badFormat, .invalidXML: "The input is not XML."
        case .badNamespacePrefix, .invalidNamespace: "A namespace or its prefix is wrong."
        case .conflict: "The stream was resumed on another connection (`stream_management`)."
        case .connectionTimeout: "No login in time, or no answer to a ping: connect again."
        case .internalServerError: "The store fails, or a bug in ccsd: connect again, with backoff."
        case .invalidFrom: "A stanza has a `from` other than the own JID: leave it out."
        case .notAuthorized: "A stanza before the login, or a wrong login."
        case .policyViolation: "Something is too large, or too many logins failed."
        case .reset: "The sender or its key was removed, or the key has expired: log in with a valid one."
        case .resourceConstraint: "The sender has too many connections: close some."
        case .restrictedXML: "Comments, processing instructions, DTDs and entities are not allowed."
        case .systemShutdown: "ccsd is stopping: connect again, with backoff."
        case .undefinedCondition: "The connection ended before its stream was open."
        case .unsupportedEncoding: "The stream is not UTF-8."
        case .unsupportedStanzaType: "A top-level element other than message, iq and presence."
        case .unsupportedVersion: "The stream header has an unsupported version."
        }
    }
}
