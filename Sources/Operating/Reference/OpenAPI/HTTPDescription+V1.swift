import Basics
import Sessions
import Wire

/// HTTP v1, access tokens, web push, and the daemon's own pages (http 8, 9, 10).
extension HTTPDescription {
    private static let fcm = ["fcm.googleapis.com"]

    static let sendMessage = HTTPDescription(
        .appServers,
        "Sends a message. Members may be named in snake_case or camelCase. send_at and replace_message_id are extensions, to which FCM answers 400: a message is sent later, or takes the place of one that waits (404 if none waits, 409 if it was sent).",
        hosts: fcm,
        credentials: [.accessToken],
        content: [.json(["$ref": .string("#/components/schemas/\(V1Schema.request)")])],
        [
            Answer(.ok, .json(.ref(.message))), Answer(.internalError, .json(.ref(.rpcError))),
            Answer(.conflict, .json(.ref(.rpcError))),
        ] + v1Faults)

    static let sendBatch = HTTPDescription(
        .appServers,
        "Sends up to \(Limits.HTTP.batchParts) messages: each part is a request to messages:send, and is answered by a part. Authorization may be in the parts.",
        hosts: fcm, credentials: [.accessToken], isOpen: true,
        content: [Content(type: "multipart/mixed", schema: batch)],
        [Answer(.ok, Content(type: "multipart/mixed", schema: true))])

    static let messageHistory = HTTPDescription(
        .appServers,
        "Shows what became of a message: the steps of each message of the project with this ID, newest message first. Content, tokens and devices are not shown. Up to \(Limits.History.senderQuestions) requests in \(Limits.History.senderQuestionSeconds) s.",
        hosts: [], credentials: [.accessToken, .serverKey],
        [
            Answer(
                .ok,
                .json(
                    .answer([
                        ("messages", .list(historyMessage, 1, Limits.History.senderRows)),
                        ("isCut", .booleanSchema.meaning("Whether there are more.")),
                        ("history", historyCoverage),
                    ]))), Answer(.notImplemented, .json(.ref(.rpcError))),
        ] + v1Faults
    ).asExtension(atFCM: "404, as for any path that it does not have.")

    static let deliveryData = HTTPDescription(
        .appServers,
        "Counts the messages of the project to devices by day (UTC), newest first: each acceptance and each end on the day on which it happened, after the delivery data of FCM. What went to a topic or a group counts once for each device. Expired messages of many devices that were away may be missing.",
        hosts: [], credentials: [.accessToken, .serverKey],
        parameters: [
            .query("days", "The number of days, with the current one.", .whole(1, Limits.History.days))
        ],
        [
            Answer(
                .ok,
                .json(
                    .answer(
                        [
                            ("deliveryData", .list(deliveryDay, 0, Limits.History.days + 1)),
                            (
                                "completeSince",
                                time.meaning(
                                    "Earlier messages are not counted yet: a later request has more.")
                            ), ("history", historyCoverage),
                        ], rare: ["completeSince"]))), Answer(.notImplemented, .json(.ref(.rpcError))),
        ] + v1Faults
    ).asExtension(
        atFCM:
            "404; the Firebase Cloud Messaging Data API has deliveryData of Android apps on another host.")

    static let cancelMessage = HTTPDescription(
        .appServers,
        "Cancels the messages of the project with this ID that wait for an app instance: they are not delivered, and get no receipt. The ID is that of the answer to the submission, or the message_id of XMPP. 404 if none waits, 409 if it was sent to the device or to APNs. Counts as a message for the rates.",
        hosts: [], credentials: [.accessToken, .serverKey],
        [Answer(.ok, .json(.ref(.empty))), Answer(.conflict, .json(.ref(.rpcError)))] + v1Faults
    ).asExtension(atFCM: "404, as for any path that it does not have.")

    static let listTopics = topicList(
        "Lists the topics of the project, each of which has a subscriber, by name.", "topics",
        .answer([("name", .string(matching: "^projects/[^/]+/topics/.+$")), ("topicName", HTTPSchema.topic)]),
        Limits.Topic.topicsPerPage, next: HTTPSchema.topic)

    static let listSubscribers = topicList(
        "Lists the registration tokens that subscribe to a topic of the project. The list is empty if there are none.",
        "subscribers", .answer([("token", .name())]), Limits.Topic.subscribersPerPage, next: .name())

    static let listScheduled = topicList(
        "Lists the messages of the project that are sent later (`send_at`), the next one first. A page may be short, or empty, and not be the last.",
        "messages",
        .answer(
            [
                ("name", .string(matching: "^projects/[^/]+/messages/.+$")), ("messageId", .anyString),
                ("token", .name()), ("sendTime", time), ("expireTime", time),
            ], rare: ["messageId", "token"]), Limits.Schedule.page, next: .name())

    private static func topicList(
        _ summary: String, _ list: String, _ row: JSONValue, _ most: Int, next: JSONValue
    ) -> HTTPDescription {
        let rate =
            "Up to \(Limits.History.senderQuestions) requests for topics, subscribers and scheduled messages in \(Limits.History.senderQuestionSeconds) s."
        return HTTPDescription(
            .appServers, "\(summary) \(rate)", hosts: [], credentials: [.accessToken, .serverKey],
            parameters: [
                .query(
                    "pageSize", "The size of the page, which is \(most) without it or with 0.",
                    .whole(0, most)),
                .query("pageToken", "The nextPageToken of the previous page.", next),
            ],
            [
                Answer(
                    .ok,
                    .json(
                        .answer(
                            [(list, .list(row, 1, most)), ("nextPageToken", next)],
                            rare: [list, "nextPageToken"])))
            ] + v1Faults
        ).asExtension(atFCM: "404, as for any path that it does not have.")
    }

    private static let deliveryDay = JSONValue.answer([
        ("date", .answer([("year", .whole()), ("month", .whole(1, 12)), ("day", .whole(1, 31))])),
        (
            "data",
            .answer(
                [
                    "Accepted", "Delivered", "Forwarded", "Collapsed", "DroppedTtlExpired",
                    "DroppedTooManyPendingMessages", "Removed", "Refused",
                ].map { ("countMessages\($0)", .string(matching: "^[0-9]+$")) })
        ),
    ]).named("DeliveryData")

    private static let time: JSONValue = ["type": "string", "format": "date-time"]

    private static let historyMessage = JSONValue.answer(
        [
            ("kind", .words(["downstream", "upstream", "receipt", "topic", "group"])),
            ("messageId", .anyString), ("name", .string(matching: "^projects/[^/]+/messages/.+$")),
            (
                "steps",
                .list(
                    .answer(
                        [("time", time), ("milestone", .name()), ("reason", .name())], rare: ["reason"]))
            ),
        ], rare: ["messageId", "name"]
    ).named("MessageHistory")

    /// What the history covers.
    private static let historyCoverage = JSONValue.answer(
        [
            ("since", time), ("gaps", .list(.answer([("from", time), ("to", time)]))), ("damaged", .whole(0)),
            ("missing", .list(.whole(1, 65_535)).meaning("The nodes of a cluster that have not answered.")),
        ], rare: ["since", "missing"]
    ).named("HistoryCoverage")

    static func topicSubscription(_ method: HTTPSession.TopicMethod) -> HTTPDescription {
        let allowMissing = Parameter.query(
            "allow_missing", "Whether a missing subscription is not an error.",
            .words(["true", "false"]))
        func description(
            _ summary: String, _ parameters: [Parameter], _ schema: JSONValue, more: [Answer] = [],
            content: [Content] = []
        ) -> HTTPDescription {
            HTTPDescription(
                .appServers, summary, hosts: fcm, credentials: [.accessToken], parameters: parameters,
                content: content, mayBeEmpty: true, [Answer(.ok, .json(schema))] + more + v1Faults)
        }
        switch method {
        case .create:
            return description(
                "Subscribes a token or an installation to a topic.",
                [.query("topic_name", "The name of the topic; required.", HTTPSchema.topic)],
                .ref(.subscription), more: [Answer(.conflict, .json(.ref(.rpcError)))],
                content: [.json(.request([]))])
        case .delete: return description("Deletes a subscription.", [allowMissing], .ref(.empty))
        case .get: return description("Shows a subscription.", [], .ref(.subscription))
        case .patch:
            return description(
                "Shows a subscription, or creates it with allow_missing.", [allowMissing],
                .ref(.subscription), content: [.json(.request([]))])
        case .list:
            return description(
                "Lists the subscriptions of a token or an installation.",
                [
                    .query("pageSize", "The most subscriptions to list.", .whole(0, 2_147_483_647)),
                    .query("pageToken", "The nextPageToken of the previous page.", HTTPSchema.topic),
                ],
                .answer(
                    [
                        ("topicSubscriptions", .list(.ref(.subscription), 1)),
                        ("nextPageToken", HTTPSchema.topic),
                    ],
                    rare: ["topicSubscriptions", "nextPageToken"]))
        }
    }

    static let grantToken = HTTPDescription(
        .appServers, "Grants an access token to a service account for an assertion (RFC 7523).",
        hosts: ["oauth2.googleapis.com", "www.googleapis.com", "accounts.google.com"],
        content: [
            .form(
                .request(
                    [
                        ("grant_type", .words(["urn:ietf:params:oauth:grant-type:jwt-bearer"])),
                        ("assertion", .name("A JWT signed with the account's key.")),
                    ], required: ["grant_type", "assertion"]))
        ],
        [
            Answer(
                .ok,
                .json(
                    .answer([
                        ("access_token", .name()), ("expires_in", .whole(1)),
                        ("token_type", .word("Bearer")),
                    ]))),
            Answer(
                .badRequest,
                .json(
                    JSONValue.answer([
                        (
                            "error",
                            .words([
                                "invalid_request", "invalid_grant", "invalid_scope", "unsupported_grant_type",
                            ])
                        ),
                        ("error_description", .anyString),
                    ]).named("TokenError"))),
        ])

    static let allowedLocations = HTTPDescription(
        .appServers, "Libraries ask here which regions an account may use; the answer is always 404.",
        hosts: ["iamcredentials.googleapis.com"], [Answer(.notFound, .json(.ref(.rpcError)))])

    static let push = HTTPDescription(
        .webPush, "Sends an encrypted message to a web app.",
        hosts: ["fcm.googleapis.com", "jmt17.google.com", "android.googleapis.com"],
        credentials: [.vapid, .serverKey],
        parameters: [
            .header(
                "TTL", "Seconds that the message is stored.", .string(matching: "^[0-9]+$"), isRequired: true),
            .header(
                "Urgency", "Only the highest wakes a device in power saving.",
                .words(["very-low", "low", "normal", "high"])),
            .header(
                "Topic", "Replaces a waiting message with the same topic.",
                .string(matching: "^[A-Za-z0-9_-]{1,\(Limits.WebPush.topicBytes)}$")),
            .header(
                "Content-Encoding", "The encryption of the body; required with a body.",
                .words(["aes128gcm", "aesgcm"])),
            .header("Crypto-Key", "Required with aesgcm: dh=, a P-256 public key.", pushHeader),
            .header("Encryption", "Required with aesgcm: salt=, 16 bytes in base64url.", pushHeader),
        ], content: [Content(type: "application/octet-stream", schema: .binary)], mayBeEmpty: true,
        [
            created, Answer(.unauthorized, .text()), Answer(.forbidden, .text()), Answer(.gone, .text()),
            retriable(Answer(.tooManyRequests, .text())), retriable(Answer(.unavailable, .text())),
        ])

    static func page(_ page: HostRequest.Page) -> HTTPDescription {
        switch page {
        case .openAPI:
            HTTPDescription(
                .operations, "This description.", hosts: [],
                [Answer(.ok, .json(.request([("openapi", .anyString)], required: ["openapi"])))])
        case .health:
            HTTPDescription(.operations, "Whether the process is alive.", hosts: [], [Answer(.ok, .text())])
        case .readiness:
            HTTPDescription(
                .operations, "Whether the server accepts messages: 503 while it drains or the store fails.",
                hosts: [],
                [Answer(.ok, .text())])
        case .metrics:
            HTTPDescription(
                .operations,
                "The metrics, for Prometheus. Beyond loopback they need the token of an operator.", hosts: [],
                [
                    Answer(.ok, .text()), challenging(Answer(.unauthorized, operatorProblem)),
                    Answer(.forbidden, operatorProblem),
                    retriable(Answer(.tooManyRequests, operatorProblem)),
                ])
        }
    }

    // MARK: Parts

    /// An error of the operator API (RFC 9457).
    private static let operatorProblem = Content(
        type: "application/problem+json",
        schema: .request(
            [
                ("title", .anyString), ("status", .whole()), ("detail", .anyString), ("hint", .anyString),
                ("field", .anyString),
            ], required: ["title", "status", "detail"]))
    private static let batch = JSONValue.binary.meaning(
        "Parts with the media type application/http, each with a Content-ID.")
    private static let pushHeader = JSONValue.string(
        matching: "^[ -~]+$", longest: Limits.WebPush.headerBytes)

    private static let created = {
        var answer = Answer(.created, .text())
        answer.headers = [
            (name: "Location", meaning: "The URL of the message; it is not an endpoint."),
            (name: "TTL", meaning: "Seconds that the message is stored, which may be fewer than requested."),
        ]
        return answer
    }()

    /// The answers to a `V1Error`, beyond those common to all endpoints.
    private static let v1Faults = [
        challenging(Answer(.unauthorized, .json(.ref(.rpcError)))),
        Answer(.forbidden, .json(.ref(.rpcError))), Answer(.notFound, .json(.ref(.rpcError))),
        retriable(Answer(.tooManyRequests, .json(.ref(.rpcError)))),
        retriable(Answer(.unavailable, .json(.ref(.rpcError)))),
    ]

    /// Adds the header that names the required authentication scheme.
    private static func challenging(_ answer: Answer) -> Answer {
        var answer = answer
        answer.rareHeaders.append((name: "WWW-Authenticate", meaning: "The required authentication scheme."))
        return answer
    }
}

extension HTTPEndpoint.Action {
    /// The OpenAPI description.
    var description: HTTPDescription {
        switch self {
        case .checkIn: .checkIn
        case .register: .register
        case .createInstallation: .createInstallation
        case .generateToken: .generateToken
        case .deleteInstallation: .deleteInstallation
        case .createRegistration: .createRegistration
        case .renewRegistration: .renewRegistration
        case .deleteRegistration: .deleteRegistration
        case .connectSubscription: .connectSubscription
        case .subscribe: .subscribe
        case .unsubscribe: .unsubscribe
        case .legacySend: .legacySend
        case .changeGroup: .changeGroup
        case .showGroup: .showGroup
        case .tokenInfo: .tokenInfo
        case .subscribeToken: .subscribeToken
        case .unsubscribeToken: .unsubscribeToken
        case .batchAdd: .batchAdd
        case .batchRemove: .batchRemove
        case .batchImport: .batchImport
        case .appleFeedback: .appleFeedback
        case .sendMessage: .sendMessage
        case .messageHistory: .messageHistory
        case .deliveryData: .deliveryData
        case .cancelMessage: .cancelMessage
        case .listTopics: .listTopics
        case .listSubscribers: .listSubscribers
        case .listScheduled: .listScheduled
        case .sendBatch: .sendBatch
        case .topicSubscription(let method): .topicSubscription(method)
        case .grantToken: .grantToken
        case .allowedLocations: .allowedLocations
        case .push: .push
        case .page(let page): .page(page)
        }
    }
}
