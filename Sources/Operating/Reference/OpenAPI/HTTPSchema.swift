import Basics
import Sessions
import Wire

/// The schemas of answers that several endpoints share.
enum HTTPSchema: String, Sendable, CaseIterable {
    case rpcError = "Error"
    case note = "Note"
    case empty = "Empty"
    case authToken = "AuthToken"
    case registration = "Registration"
    case sendAnswer = "LegacySendAnswer"
    case message = "MessageName"
    case subscription = "TopicSubscription"
    case tokenResults = "TokenResults"
    case notificationKey = "NotificationKey"

    var schema: JSONValue {
        switch self {
        case .rpcError: Self.error
        case .note: JSONValue.answer([("error", .anyString)]).meaning("A description of the error.")
        case .empty: .answer([])
        case .authToken:
            .answer([
                ("token", .name("For x-goog-firebase-installations-auth.")),
                ("expiresIn", .string(matching: "^[0-9]+s$")),
            ])
        case .registration:
            .answer(
                [
                    ("token", Self.token),
                    ("name", .string(matching: "^projects/[^/]*/registrations/.+$")), ("pushSet", .anyString),
                ], rare: ["name", "pushSet"])
        case .sendAnswer: Self.send
        case .message: .answer([("name", .string(matching: "^projects/[^/]+/messages/.+$"))])
        case .subscription:
            .answer([
                ("name", .string(matching: "^projects/[^/]+/registrations/.+/topicSubscriptions/.+$")),
                ("topicName", Self.topic), ("createTime", ["type": "string", "format": "date-time"]),
            ])
        case .tokenResults:
            JSONValue.answer([
                (
                    "results",
                    .list(.answer([("error", .words(TokenBatch.words))], rare: ["error"]))
                )
            ]).meaning("In the order of the request; an empty object stands for success.")
        case .notificationKey:
            .answer([("notification_key", .string(matching: "^[A-Za-z0-9_-]+$"))])
        }
    }

    /// A registration token, which is opaque to clients.
    static let token = JSONValue.name("A registration token.")

    /// The name of a topic, without `/topics/`.
    static let topic = JSONValue.string(
        matching: "^[a-zA-Z0-9_.~%-]{1,\(Limits.Topic.nameBytes)}$", meaning: "The name of a topic.")

    /// The error of Google's JSON interfaces (http 8.5).
    private static var error: JSONValue {
        let codes = HTTPStatus.allCases.filter { $0.rawValue >= 400 }
        let words = codes.reduce(into: [String]()) { words, status in
            if !words.contains("\(status.rpcWord)") { words.append("\(status.rpcWord)") }
        }
        let error = JSONValue.answer(
            [
                ("code", .whole(400, 599)), ("message", .name()), ("status", .words(words)),
                ("details", .list(detail, 1)),
            ], rare: ["details"])
        return .answer([("error", error)])
    }

    private static var detail: JSONValue {
        let google = "type.googleapis.com/google."
        let violation = JSONValue.answer([("field", .anyString), ("description", .anyString)])
        let subject = JSONValue.answer([("subject", .anyString), ("description", .anyString)])
        return .either(
            JSONValue.answer([
                ("@type", .word(google + "firebase.fcm.v1.FcmError")),
                ("errorCode", .words(V1Error.Code.allCases.map(\.rawValue))),
            ]).named("FcmError"),
            JSONValue.answer([
                ("@type", .word(google + "rpc.BadRequest")), ("fieldViolations", .list(violation, 1)),
            ]).named("BadRequest"),
            JSONValue.answer([
                ("@type", .word(google + "rpc.QuotaFailure")), ("violations", .list(subject, 1)),
            ]).named("QuotaFailure"),
            JSONValue.answer([
                ("@type", .word(google + "rpc.ErrorInfo")), ("reason", .word("ACCESS_TOKEN_EXPIRED")),
                ("domain", .anyString),
                ("metadata", .object([], required: [], others: .anyString)),
            ]).named("ErrorInfo"))
    }

    /// The answers to a legacy send: to tokens, topics and groups (http 2.3 to 2.5).
    private static var send: JSONValue {
        let count = JSONValue.whole(0)
        let result = JSONValue.either(
            JSONValue.answer(
                [("message_id", .name()), ("registration_id", token)], rare: ["registration_id"]
            )
            .named("SentToToken"),
            JSONValue.answer([("error", .words(LegacyError.words))]).named("RefusedForToken"))
        return .either(
            JSONValue.answer([
                ("multicast_id", .whole(1)), ("success", count), ("failure", count),
                ("canonical_ids", count), ("results", .list(result, 1, Limits.HTTP.recipientsPerRequest)),
            ]).meaning("For one or several tokens; the results are in the order of the request.")
                .named("SentToTokens"),
            JSONValue.answer([("message_id", .whole(1))]).meaning("For a topic or condition.")
                .named("SentToTopic"),
            JSONValue.answer([("error", .words(LegacyError.words))]).meaning("For a topic or condition.")
                .named("RefusedForTopic"),
            JSONValue.answer(
                [
                    ("success", count), ("failure", count),
                    ("failed_registration_ids", .list(token, 1, Limits.Group.members)),
                ], rare: ["failed_registration_ids"]
            ).meaning("For a device group.").named("SentToGroup"))
    }
}
