import Basics
import Wire

/// HTTP v1, access tokens, web push, and the daemon's own pages (http 8, 9, 10).
extension HTTPDescription {
    private static let fcm = ["fcm.googleapis.com"]

    static let sendMessage = HTTPDescription(
        .appServers, "Sends a message. Members may be named in snake_case or camelCase.", hosts: fcm,
        credentials: [.accessToken],
        content: [.json(["$ref": .string("#/components/schemas/\(V1Schema.request)")])],
        [Answer(.ok, .json(.ref(.message))), Answer(.internalError, .json(.ref(.rpcError)))] + v1Faults)

    static let sendBatch = HTTPDescription(
        .appServers,
        "Sends up to \(Limits.HTTP.batchParts) messages: each part is a request to messages:send, and is answered by a part. Authorization may stand in the parts.",
        hosts: fcm, credentials: [.accessToken], isOpen: true,
        content: [Content(type: "multipart/mixed", schema: batch)],
        [Answer(.ok, Content(type: "multipart/mixed", schema: true))])

    static func topicSubscription(_ method: HTTPSession.TopicMethod) -> HTTPDescription {
        let allowMissing = Parameter.query(
            "allow_missing", "Whether a subscription that is not there is no fault.",
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
                [.query("topic_name", "The name of the topic; it must be given.", HTTPSchema.topic)],
                .ref(.subscription), more: [Answer(.conflict, .json(.ref(.rpcError)))],
                content: [.json(.request([]))])
        case .delete: return description("Ends a subscription.", [allowMissing], .ref(.empty))
        case .get: return description("Shows a subscription.", [], .ref(.subscription))
        case .patch:
            return description(
                "Shows a subscription, or makes it where that is allowed.", [allowMissing],
                .ref(.subscription), content: [.json(.request([]))])
        case .list:
            return description(
                "Lists the subscriptions of a token or an installation.",
                [
                    .query("pageSize", "So many at most.", .whole(0, 2_147_483_647)),
                    .query("pageToken", "The nextPageToken of the page before.", HTTPSchema.topic),
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
        .appServers, "Where a library asks which regions its account may use: nothing is known of that here.",
        hosts: ["iamcredentials.googleapis.com"], [Answer(.notFound, .json(.ref(.rpcError)))])

    static let push = HTTPDescription(
        .webPush, "Takes an encrypted message for a web app.",
        hosts: ["fcm.googleapis.com", "jmt17.google.com"], credentials: [.vapid],
        parameters: [
            .header(
                "TTL", "Seconds that the message is kept.", .string(matching: "^[0-9]+$"), isRequired: true),
            .header(
                "Urgency", "Only the highest wakes a device that saves its battery.",
                .words(["very-low", "low", "normal", "high"])),
            .header(
                "Topic", "A message of the same topic that still waits is replaced.",
                .string(matching: "^[A-Za-z0-9_-]{1,\(Limits.WebPush.topicBytes)}$")),
            .header(
                "Content-Encoding", "How the body is encrypted; must be given where there is one.",
                .words(["aes128gcm", "aesgcm"])),
            .header("Crypto-Key", "Must be given with aesgcm.", pushHeader),
            .header("Encryption", "Must be given with aesgcm.", pushHeader),
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
            HTTPDescription(.operations, "Whether the process lives.", hosts: [], [Answer(.ok, .text())])
        case .readiness:
            HTTPDescription(
                .operations, "Whether it takes messages: 503 while it drains or cannot store.", hosts: [],
                [Answer(.ok, .text())])
        case .metrics:
            HTTPDescription(.operations, "The metrics, for Prometheus.", hosts: [], [Answer(.ok, .text())])
        }
    }

    // MARK: Parts

    private static let batch = JSONValue.binary.meaning(
        "Parts of the type application/http, each with a Content-ID.")
    private static let pushHeader = JSONValue.string(
        matching: "^[ -~]+$", longest: Limits.WebPush.headerBytes)

    private static let created = {
        var answer = Answer(.created, .text())
        answer.headers = [
            (name: "Location", meaning: "The message; nothing more can be had there."),
            (name: "TTL", meaning: "Seconds that it is kept, which may be fewer than asked for."),
        ]
        return answer
    }()

    /// What a `V1Error` comes to, beyond what every endpoint may answer.
    private static let v1Faults = [
        challenging(Answer(.unauthorized, .json(.ref(.rpcError)))),
        Answer(.forbidden, .json(.ref(.rpcError))), Answer(.notFound, .json(.ref(.rpcError))),
        retriable(Answer(.tooManyRequests, .json(.ref(.rpcError)))),
        retriable(Answer(.unavailable, .json(.ref(.rpcError)))),
    ]

    /// An answer that says by what scheme to come again.
    private static func challenging(_ answer: Answer) -> Answer {
        var answer = answer
        answer.rareHeaders.append((name: "WWW-Authenticate", meaning: "The scheme that is wanted."))
        return answer
    }
}

extension HTTPEndpoint.Action {
    /// What it takes and answers.
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
        case .sendMessage: .sendMessage
        case .sendBatch: .sendBatch
        case .topicSubscription(let method): .topicSubscription(method)
        case .grantToken: .grantToken
        case .allowedLocations: .allowedLocations
        case .push: .push
        case .page(let page): .page(page)
        }
    }
}
