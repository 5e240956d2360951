import Basics
import Sessions
import Wire

/// The services of devices, apps and web apps (mcs-device 5).
extension HTTPDescription {
    private static let android = "android.clients.google.com"
    private static let installations = ["firebaseinstallations.googleapis.com"]
    private static let registrations = ["fcmregistrations.googleapis.com"]

    /// A 64-bit number, which may be a string.
    private static let number = JSONValue.either(.whole(), .string(matching: "^-?[0-9]{1,19}$"))

    static let checkIn = HTTPDescription(
        .devices, "Checks a device in: it keeps its Android ID and security token, or gets new ones.",
        hosts: [android, "device-provisioning.googleapis.com"],
        // Client generators need an optional parameter if the body has several forms.
        parameters: [
            .header(
                "User-Agent",
                "For a wrong security token, Chromium gets an error, other clients a new Android ID.",
                .anyString)
        ],
        content: [
            Content(type: "application/x-protobuf", schema: .binary),
            Content(type: "application/x-protobuffer", schema: .binary),
            .json(
                .request(
                    [
                        ("checkin", .request([])), ("id", number), ("security_token", number),
                        ("version", number), ("digest", .anyString),
                    ], required: ["checkin"])),
        ],
        [
            Answer(
                .ok,
                .json(
                    .answer(
                        [
                            ("stats_ok", .booleanSchema), ("time_msec", .whole(0)), ("android_id", .whole()),
                            ("security_token", .whole()), ("version_info", .anyString),
                            ("digest", .anyString),
                            ("setting", .list(.answer([("name", .anyString), ("value", .anyString)]))),
                        ], rare: ["digest", "setting"])),
                Content(type: "application/x-protobuffer", schema: true)),
            Answer(.unauthorized, .text()), retriable(Answer(.tooManyRequests, .text())),
            retriable(Answer(.unavailable, .text())),
        ])

    static let register = HTTPDescription(
        .devices, "Registers or unregisters an app, or subscribes it to a topic. Errors have status 200.",
        hosts: [android, "fcmtoken.googleapis.com", "iid.googleapis.com"], credentials: [.aidLogin],
        content: [
            .form(
                .request(
                    [
                        ("app", .name("Package, bundle or extension.")), ("device", .name("The Android ID.")),
                        ("sender", .name("A sender ID, or a web push key.")),
                        ("X-subtype", .anyString), ("appid", .anyString), ("X-appid", .anyString),
                        ("scope", .anyString), ("X-scope", .anyString), ("apns_token", .anyString),
                        ("delete", .words(["true", "1"])), ("X-delete", .words(["true", "1"])),
                        ("iid-operation", .word("delete")), ("gcm_unreg_caller", .anyString),
                        ("X-gcm.topic", .string(matching: "^/topics/[a-zA-Z0-9_.~%-]+$")),
                        ("X-subscription", HTTPSchema.token),
                    ], required: ["app", "device"]))
        ],
        [
            Answer(
                .ok,
                .text(
                    .string(
                        matching: "^(token=.+|deleted=.*|Error=[A-Za-z_]+)$",
                        meaning: "The registration token, the deleted app, or the error.")))
        ])

    static let createInstallation = HTTPDescription(
        .devices,
        "Creates a Firebase installation. If its ID is taken, a client without proof of ownership gets a new one.",
        hosts: installations, credentials: [.refreshToken, .aidLogin], isOpen: true,
        content: [
            .json(
                .request([
                    ("fid", .anyString), ("appId", .anyString), ("authVersion", .anyString),
                    ("sdkVersion", .anyString),
                ]))
        ],
        [
            Answer(
                .ok,
                .json(
                    .answer([
                        ("name", .string(matching: "^projects/[^/]+/installations/.+$")),
                        ("fid", .string(matching: "^[A-Za-z0-9_-]{22}$")), ("refreshToken", .name()),
                        ("authToken", .ref(.authToken)),
                    ])))
        ] + registrationRefusals)

    static let generateToken = HTTPDescription(
        .devices, "Grants an installation an access token.", hosts: installations,
        credentials: [.refreshToken], content: [.json(.request([("installation", .request([]))]))],
        mayBeEmpty: true,
        [Answer(.ok, .json(.ref(.authToken)))] + registrationRefusals)

    static let deleteInstallation = HTTPDescription(
        .devices, "Deletes an installation and its registrations.", hosts: installations,
        credentials: [.refreshToken], [Answer(.ok, .json(.ref(.empty)))] + registrationRefusals)

    static let createRegistration = HTTPDescription(
        .devices, "Registers a web app that the server encrypts for, or an iOS app.",
        hosts: registrations, credentials: [.installationToken, .aidLogin], isOpen: true,
        content: [.json(registration)],
        [Answer(.ok, .json(.ref(.registration)))] + registrationRefusals)

    static let renewRegistration = HTTPDescription(
        .devices,
        "Renews the token of a web app whose subscription has changed. The token changes only with a proof of its own installation or device.",
        hosts: registrations, credentials: [.installationToken, .aidLogin], isOpen: true,
        content: [.json(registration)],
        [Answer(.ok, .json(.ref(.registration)))] + registrationRefusals)

    static let deleteRegistration = HTTPDescription(
        .devices, "Deletes the registration of an app, or all registrations of an installation.",
        hosts: registrations, credentials: [.installationToken, .aidLogin],
        [Answer(.ok, .json(.ref(.empty)))] + registrationRefusals)

    static let connectSubscription = HTTPDescription(
        .devices, "Registers a web app by the older interface.", hosts: ["fcm.googleapis.com"],
        content: [
            .form(
                .request(
                    [
                        ("authorized_entity", .name("A sender ID, or the label of a sender.")),
                        ("endpoint", .name("The endpoint of the push subscription.")),
                        ("encryption_key", key), ("encryption_auth", secret),
                    ], required: ["authorized_entity", "endpoint", "encryption_key", "encryption_auth"]))
        ], [Answer(.ok, .json(.ref(.registration)))] + registrationRefusals)

    static let subscribe = ofTopic("Subscribes the registration of an installation to a topic.")
    static let unsubscribe = ofTopic("Unsubscribes the registration of an installation from a topic.")

    private static func ofTopic(_ summary: String) -> HTTPDescription {
        HTTPDescription(
            .devices, summary, hosts: registrations, credentials: [.installationToken],
            [Answer(.ok, .json(.ref(.empty)))] + registrationRefusals)
    }

    // MARK: Parts

    private static let key = JSONValue.string(
        matching: "^[A-Za-z0-9_+/-]{86,87}=?$", meaning: "P-256 public key, 65 bytes in base64url.")
    private static let secret = JSONValue.string(
        matching: "^[A-Za-z0-9_+/-]{22}(==)?$", meaning: "16 bytes in base64url.")

    /// The body of a registration, with either `web` or `ios`.
    private static let registration = JSONValue.request([
        (
            "web",
            .request(
                [
                    ("endpoint", .name("The endpoint of the push subscription.")), ("p256dh", key),
                    ("auth", secret), ("applicationPubKey", .anyString),
                ], required: ["endpoint", "p256dh", "auth"])
        ),
        (
            "ios",
            .request(
                [
                    ("bundle_id", .string(matching: "^[!-~]+$", longest: Limits.Registration.fieldBytes)),
                    (
                        "apns_token",
                        .string(
                            matching: "^([sp]_)?([0-9a-fA-F]{2})+$",
                            longest: Limits.Registration.appleTokenDigits + 2)
                    ),
                    ("apns_environment", .words(["production", "sandbox", "development"])),
                ], required: ["bundle_id", "apns_token"])
        ),
    ])

    /// The answers to a `RegistrationRefusal` of the core.
    private static let registrationRefusals = [
        Answer(.unauthorized, .json(.ref(.rpcError))), Answer(.forbidden, .json(.ref(.rpcError))),
        Answer(.notFound, .json(.ref(.rpcError))),
        retriable(Answer(.tooManyRequests, .json(.ref(.rpcError)))),
        retriable(Answer(.unavailable, .json(.ref(.rpcError)))),
    ]
}
