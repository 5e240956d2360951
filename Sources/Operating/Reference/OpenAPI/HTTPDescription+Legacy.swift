import Basics
import Sessions
import Wire

/// The older interfaces of app servers: legacy send, groups, Instance ID (http 2, 6, 7).
extension HTTPDescription {
    private static let keys: [HTTPCredential] = [.serverKey, .accessToken]
    private static let senders = [
        "fcm.googleapis.com", "gcm-http.googleapis.com", "android.googleapis.com",
    ]
    private static let instanceID = ["iid.googleapis.com"]
    private static let announcement = Parameter.header(
        "access_token_auth", "Must be true where Authorization holds an access token.", .words(["true"]))

    /// The answer without a valid key: a page with the word "Unauthorized", which clients look for.
    private static let keyWanted = Answer(.unauthorized, Content(type: "text/html", schema: .anyString))

    static let legacySend = HTTPDescription(
        .appServers, "Sends a message to tokens, a group, a topic or a condition.", hosts: senders,
        credentials: keys, parameters: [announcement],
        content: [
            .json(legacyMessage),
            .form(
                .object(
                    [
                        ("registration_id", .name("A token, a notification key or /topics/NAME.")),
                        ("to", .name("The same as registration_id.")), ("collapse_key", collapseKey),
                        ("time_to_live", .string(matching: "^[0-9]{1,7}$")), ("send_at", sendAt),
                        ("delay_while_idle", flag), ("dry_run", flag),
                        ("restricted_package_name", packageName), ("data.KEY", .anyString),
                    ], required: [], others: .anyString)),
        ],
        [
            Answer(
                .ok, .json(.ref(.sendAnswer)),
                .text(
                    .string(
                        matching: "^(id=.+(\\nregistration_id=.+)?|Error=[A-Za-z]+)$",
                        meaning:
                            "For a form: the message ID, on a second line the token to use from now on; or the error."
                    ))),
            Answer(.badRequest, .text()), keyWanted, Answer(.internalError, .text()),
            retriable(Answer(.unavailable, .text())),
        ])

    static let changeGroup = HTTPDescription(
        .appServers,
        "Creates or changes a device group; removing members from one without members deletes it.",
        hosts: senders,
        credentials: keys, parameters: [announcement, project],
        content: [
            .json(
                .either(
                    JSONValue.request(
                        [("operation", .word("create"))] + group,
                        required: ["operation", "notification_key_name", "registration_ids"]
                    ).named("GroupCreation"),
                    JSONValue.request(
                        [("operation", .words(["add", "remove"]))] + group,
                        required: ["operation", "notification_key", "registration_ids"]
                    ).named("GroupChange")))
        ], [Answer(.ok, .json(.ref(.notificationKey)))] + groupFaults)

    static let showGroup = HTTPDescription(
        .appServers, "Shows the key of a group by its name, or its name and members by its key.",
        hosts: senders, credentials: keys,
        parameters: [
            announcement, project, .query("notification_key_name", "The name of a group.", .name()),
            .query("notification_key", "The key of a group.", .name()),
        ],
        [
            Answer(
                .ok,
                .json(
                    .either(
                        .ref(.notificationKey),
                        JSONValue.answer([
                            ("notification_key_name", .anyString),
                            ("registration_ids", .list(HTTPSchema.token)),
                        ]).named("GroupMembers"))))
        ] + groupFaults)

    static let tokenInfo = HTTPDescription(
        .appServers, "Shows information about a token.", hosts: instanceID, credentials: keys,
        parameters: [
            announcement, .query("details", "Whether its topics are included.", .words(["true", "false"])),
        ],
        [
            Answer(
                .ok,
                .json(
                    .answer(
                        [
                            ("application", .anyString), ("applicationVersion", .anyString),
                            ("authorizedEntity", .string(matching: "^[0-9]+$")),
                            ("platform", .words(["ANDROID", "IOS", "CHROME"])), ("rel", relations),
                        ], rare: ["rel"])))
        ] + tokenFaults)

    static let subscribeToken = HTTPDescription(
        .appServers, "Subscribes a token to a topic.", hosts: instanceID, credentials: keys,
        parameters: [announcement], [Answer(.ok, .json(.ref(.empty)))] + tokenFaults)

    static let unsubscribeToken = HTTPDescription(
        .appServers, "Unsubscribes a token from a topic.", hosts: instanceID, credentials: keys,
        parameters: [announcement], [Answer(.ok, .json(.ref(.empty)))] + tokenFaults)

    static let batchAdd = ofTokens("Subscribes many tokens to a topic.")
    static let batchRemove = ofTokens("Unsubscribes many tokens from a topic.")

    private static func ofTokens(_ summary: String) -> HTTPDescription {
        HTTPDescription(
            .appServers, summary, hosts: instanceID, credentials: keys, parameters: [announcement],
            content: [
                .json(
                    .request(
                        [
                            ("to", topicPath),
                            (
                                "registration_tokens",
                                .list(HTTPSchema.token, 1, Limits.HTTP.recipientsPerRequest)
                            ),
                        ], required: ["to", "registration_tokens"]))
            ], [Answer(.ok, .json(.ref(.tokenResults))), keyWanted, tooMany, later])
    }

    static let batchImport = HTTPDescription(
        .appServers,
        "Creates registrations for APNs tokens; a token that is repeated gets the same registration.",
        hosts: instanceID, credentials: keys, parameters: [announcement],
        content: [
            .json(
                .request(
                    [
                        (
                            "application",
                            .string(matching: "^[!-~]+$", longest: Limits.Registration.fieldBytes)
                        ),
                        ("sandbox", .booleanSchema),
                        (
                            "apns_tokens",
                            .list(
                                .string(matching: "^([0-9a-fA-F]{2})+$"), 1,
                                Limits.Installation.appleTokensPerImport)
                        ),
                    ], required: ["application", "apns_tokens"]))
        ],
        [
            Answer(
                .ok,
                .json(
                    .answer([
                        (
                            "results",
                            .list(
                                .answer(
                                    [
                                        ("apns_token", .anyString), ("status", .words(AppleImport.words)),
                                        ("registration_token", HTTPSchema.token),
                                    ], rare: ["registration_token"]))
                        )
                    ]))), keyWanted, later,
        ])

    static let appleFeedback = HTTPDescription(
        .appServers, "Lists the APNs device tokens of an app that have ended, oldest first.", hosts: [],
        credentials: keys,
        parameters: [
            announcement,
            .query(
                "since",
                "The next of an earlier page, or milliseconds since 1970; without it the list starts with its oldest entry.",
                .string(matching: FeedbackPage.cursorPattern)),
            .query(
                "limit", "Entries to examine.",
                .whole(1, Limits.APNs.feedbackPerPage)),
        ],
        [
            Answer(
                .ok,
                .json(
                    .answer([
                        (
                            "items",
                            .list(
                                .answer([
                                    ("registration_id", HTTPSchema.token), ("apns_token", .anyString),
                                    ("environment", .words(["production", "sandbox"])), ("topic", .anyString),
                                    ("invalid_since", .either(.whole(), ["type": "null"])),
                                    ("seen_at", .whole()), ("status", .whole()), ("reason", .anyString),
                                ]))
                        ), ("next", .string(matching: FeedbackPage.cursorPattern)),
                    ]))), keyWanted, later,
        ])

    // MARK: Parts

    private static let project = Parameter.header(
        "project_id", "The sender ID of the key.", .string(matching: "^[0-9]+$"),
        isRequired: true)
    private static let group: [(String, JSONValue)] = [
        ("notification_key_name", .name("The name of the group.")),
        ("notification_key", .name("The key of the group.")),
        ("registration_ids", .list(HTTPSchema.token, 1, Limits.Group.members)),
    ]
    private static let topicPath = JSONValue.string(
        matching: "^/topics/[a-zA-Z0-9_.~%-]{1,\(Limits.Topic.nameBytes)}$")
    private static let collapseKey = JSONValue.string(matching: nil, longest: Limits.Message.collapseKeyBytes)
    private static let packageName = JSONValue.string(matching: nil, longest: Limits.Registration.fieldBytes)
    /// An extension of ccsd (http 2.9).
    private static let sendAt: JSONValue = [
        "type": "string", "format": "date-time",
        "description":
            "An extension, which FCM ignores: when the message is sent, up to 28 days ahead; not for topics.",
    ]
    private static let flag = JSONValue.words(["1", "0", "true", "false"])

    private static let relations = JSONValue.answer([
        (
            "topics",
            .object(
                [], required: [],
                others: .answer([("addDate", ["type": "string", "format": "date"])]))
        )
    ])

    private static let legacyMessage = JSONValue.request([
        ("to", .name("A token, a notification key or /topics/NAME.")),
        ("registration_ids", .list(HTTPSchema.token, 1, Limits.HTTP.recipientsPerRequest)),
        ("condition", .name("A condition on topics: 'a' in topics && !('b' in topics).")),
        ("notification_key", .name("The older name of `to` for groups.")), ("collapse_key", collapseKey),
        ("priority", .words(["normal", "high"])), ("content_available", .booleanSchema),
        ("mutable_content", .booleanSchema),
        ("delay_while_idle", .booleanSchema), ("time_to_live", .whole(0, Limits.Message.lifetimeSeconds)),
        ("send_at", sendAt),
        (
            "replace_message_id",
            .string(
                matching: nil, longest: Limits.AppServer.messageIDBytes,
                meaning:
                    "An extension, which FCM ignores: the ID of a message that waits for the token in `to`, in whose place this one is put."
            )
        ), ("restricted_package_name", packageName), ("dry_run", .booleanSchema),
        ("data", .object([], required: [], others: .anyString)), ("notification", notification),
        (
            "raw_data",
            .string(
                matching: "^([A-Za-z0-9_+/-]{4})*$", longest: (Limits.Message.payloadBytes + 2) / 3 * 4,
                meaning:
                    "Up to \(Limits.Message.payloadBytes) bytes in Base64; excludes `data`, `notification` and topics."
            )
        ),
    ])

    private static let notification = JSONValue.request(
        [
            "title", "body", "icon", "image", "sound", "tag", "color", "android_channel_id", "subtitle",
            "click_action", "body_loc_key", "title_loc_key",
        ].map { ($0, .anyString) } + [
            ("badge", .either(.anyString, .whole())),
            ("body_loc_args", .either(.anyString, .list(.anyString))),
            ("title_loc_args", .either(.anyString, .list(.anyString))),
        ])

    private static let groupFaults = [
        Answer(.unauthorized, Content(type: "text/html", schema: .anyString), .json(.ref(.note))), later,
    ]

    /// The answer to too many changes of subscriptions.
    private static let tooMany = retriable(Answer(.tooManyRequests, .json(.ref(.note))))

    /// The answer if the store is unavailable or the registry is full.
    private static let later = retriable(Answer(.unavailable, .json(.ref(.note))))

    private static let tokenFaults = [
        keyWanted, tooMany, Answer(.forbidden, .json(.ref(.note))), Answer(.notFound, .json(.ref(.note))),
        later,
    ]

    /// Adds the header that asks the client to retry later.
    static func retriable(_ answer: Answer) -> Answer {
        var answer = answer
        answer.rareHeaders.append((name: "Retry-After", meaning: "Seconds to wait before the next attempt."))
        return answer
    }
}
