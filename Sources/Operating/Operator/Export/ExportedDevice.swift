public import Basics

/// A device.
public struct ExportedDevice: Record, Equatable {
    public var device: DeviceID
    /// The digest of its security token.
    public var sha256: [UInt8]
    public var createdAt: UnixMilliseconds
    public var seenAt: UnixMilliseconds
    public var nextRegistration: Int
    public var hasLoggedIn: Bool

    /// Creates a row.
    public init(
        device: DeviceID, sha256: [UInt8], createdAt: UnixMilliseconds, seenAt: UnixMilliseconds,
        nextRegistration: Int, hasLoggedIn: Bool
    ) {
        self.device = device
        self.sha256 = sha256
        self.createdAt = createdAt
        self.seenAt = seenAt
        self.nextRegistration = nextRegistration
        self.hasLoggedIn = hasLoggedIn
    }

    public static let fields = Fields(
        ExportedDevice.init(device:sha256:createdAt:seenAt:nextRegistration:hasLoggedIn:),
        .required("device", .device(), \.device, "The Android ID."),
        .required("sha256", .digest, \.sha256, "The digest of its security token."),
        .required("created_at", .time, \.createdAt, "The first check-in."),
        .required("seen_at", .time, \.seenAt, "The last contact."),
        .required(
            "next_registration", .integer(1...Int.max), \.nextRegistration,
            "The number of its next registration."),
        .preset("logged_in", .boolean, \.hasLoggedIn, true, "Whether it has ever logged in."))
}

/// A registration of an app on a device.
public struct ExportedRegistration: Record, Equatable {
    /// The kinds of scopes.
    public enum Scope: String, Sendable, CaseIterable {
        case unrecorded, unnamed, all, only
    }

    /// The keys of a web app.
    public struct Web: Record, Equatable {
        public var publicKey: [UInt8]
        public var auth: Redacted<[UInt8]>

        /// Creates keys.
        public init(publicKey: [UInt8], auth: Redacted<[UInt8]>) {
            self.publicKey = publicKey
            self.auth = auth
        }

        public static func == (a: Self, b: Self) -> Bool {
            a.publicKey == b.publicKey && ConstantTime.equal(a.auth.revealed, b.auth.revealed)
        }

        public static let fields = Fields(
            Web.init(publicKey:auth:),
            .required("public_key", .base64(upTo: 65), \.publicKey, "The public key, a P-256 point."),
            .required("auth", .secretFile(upTo: 16), \.auth, "The shared secret."))
    }

    /// The device, and the number of the registration on it.
    public var device: DeviceID
    public var number: Int
    public var category: [UInt8]
    public var subtype: [UInt8]
    public var senderText: [UInt8]
    public var sender: SenderID?
    public var otherSenders: [SenderID]
    public var instance: [UInt8]
    public var isProved: Bool
    public var isTokenPrefixed: Bool
    public var scope: Scope
    public var scopeText: [UInt8]
    public var apnsToken: [UInt8]
    public var appVersion: [UInt8]
    public var web: Web?
    public var createdAt: UnixMilliseconds

    /// Creates a row.
    public init(
        device: DeviceID, number: Int, category: [UInt8], subtype: [UInt8], senderText: [UInt8],
        sender: SenderID?, otherSenders: [SenderID], instance: [UInt8], isProved: Bool, isTokenPrefixed: Bool,
        scope: Scope, scopeText: [UInt8], apnsToken: [UInt8], appVersion: [UInt8], web: Web?,
        createdAt: UnixMilliseconds
    ) {
        self.device = device
        self.number = number
        self.category = category
        self.subtype = subtype
        self.senderText = senderText
        self.sender = sender
        self.otherSenders = otherSenders
        self.instance = instance
        self.isProved = isProved
        self.isTokenPrefixed = isTokenPrefixed
        self.scope = scope
        self.scopeText = scopeText
        self.apnsToken = apnsToken
        self.appVersion = appVersion
        self.web = web
        self.createdAt = createdAt
    }

    public func check() throws(FieldProblem) {
        guard (scope == .only) == !scopeText.isEmpty else {
            throw .conflict(
                "scope_text must be given with the scope \"only\", and with no other one",
                hint: "export again")
        }
        guard apnsToken.isEmpty || AppleToken.isValid(apnsToken) else {
            throw .conflict(
                "invalid apns_token \"\(Printable.text(String(decoding: apnsToken, as: UTF8.self)))\": \(AppleToken.expectation)",
                hint: "export again with this release, which leaves out tokens that no request can reach")
        }
        guard otherSenders.count < Limits.Registration.sendersPerRegistration else {
            throw .conflict(
                "invalid other_senders: expected fewer than \(Limits.Registration.sendersPerRegistration)",
                hint: "export again")
        }
    }

    private static let field = 0...Limits.Registration.fieldBytes
    private static let absent: [UInt8] = []
    private static let noSenders: [SenderID] = []

    public static let fields = Fields(
        ExportedRegistration.init(
            device:number:category:subtype:senderText:sender:otherSenders:instance:isProved:
            isTokenPrefixed:scope:scopeText:apnsToken:appVersion:web:createdAt:),
        .required("device", .device(), \.device, "The Android ID of its device."),
        .required("number", .integer(0...Int.max), \.number, "Its number on the device."),
        .required(
            "app", .content(1...Limits.Registration.fieldBytes), \.category, "The name of the app."),
        .preset("subtype", .content(field), \.subtype, absent, "The subtype of the app."),
        .required(
            "sender", .content(0...Limits.Registration.senderTextBytes), \.senderText,
            "The sender as the app named it."),
        .optional("sender_id", .sender, \.sender, "The sender that may send to it."),
        .preset("other_senders", .list(.sender), \.otherSenders, noSenders, "Further senders that may."),
        .preset("instance", .content(field), \.instance, absent, "The instance of the app."),
        .preset("proved", .boolean, \.isProved, false, "Whether it proved its installation."),
        .preset(
            "token_prefixed", .boolean, \.isTokenPrefixed, false,
            "Whether its token begins with the instance of the app."),
        .preset("scope", .word, \.scope, .unrecorded, "The kind of its scope."),
        .preset("scope_text", .content(field), \.scopeText, absent, "The scope, if it is another one."),
        .preset(
            "apns_token", .content(0...Limits.Registration.fieldBytes), \.apnsToken, absent,
            "The token of APNs with its environment: s_ or p_, then hexadecimal digits."),
        .preset("app_version", .content(field), \.appVersion, absent, "The version of the app."),
        .optional("web", .record, \.web, "The keys of a web app."),
        .required("created_at", .time, \.createdAt, "When it was made."))
}

/// A subscription of a registration to a topic.
public struct ExportedSubscription: Record, Equatable {
    public var device: DeviceID
    public var number: Int
    public var sender: SenderID
    public var topic: String
    public var createdAt: UnixMilliseconds

    /// Creates a row.
    public init(
        device: DeviceID, number: Int, sender: SenderID, topic: String, createdAt: UnixMilliseconds
    ) {
        self.device = device
        self.number = number
        self.sender = sender
        self.topic = topic
        self.createdAt = createdAt
    }

    public static let fields = Fields(
        ExportedSubscription.init(device:number:sender:topic:createdAt:),
        .required("device", .device(), \.device, "The Android ID of the device."),
        .required("number", .integer(0...Int.max), \.number, "The number of the registration."),
        .required("sender_id", .sender, \.sender, "The owner of the topic."),
        .required(
            "topic", .text(1...Limits.Topic.nameBytes), \.topic, "The name of the topic, without /topics/."),
        .required("created_at", .time, \.createdAt, "When it was made."))
}

/// A Firebase installation.
public struct ExportedInstallation: Record, Equatable {
    public var installation: [UInt8]
    public var sender: SenderID?
    /// The digest of its refresh token. `nil` if it was revoked.
    public var sha256: [UInt8]?
    public var createdAt: UnixMilliseconds
    public var usedAt: UnixMilliseconds

    /// Creates a row.
    public init(
        installation: [UInt8], sender: SenderID?, sha256: [UInt8]?, createdAt: UnixMilliseconds,
        usedAt: UnixMilliseconds
    ) {
        self.installation = installation
        self.sender = sender
        self.sha256 = sha256
        self.createdAt = createdAt
        self.usedAt = usedAt
    }

    private static let length = InstallationToken.idLength...InstallationToken.idLength

    public static let fields = Fields(
        ExportedInstallation.init(installation:sender:sha256:createdAt:usedAt:),
        .required("installation", .content(length), \.installation, "The ID."),
        .optional("sender_id", .sender, \.sender, "The project that the app named."),
        .optional("sha256", .digest, \.sha256, "The digest of its refresh token."),
        .required("created_at", .time, \.createdAt, "When it was made."),
        .required("used_at", .time, \.usedAt, "When it was last used."))
}

/// A device group.
public struct ExportedGroup: Record, Equatable {
    /// A member of a group.
    public struct Member: Record, Equatable {
        public var device: DeviceID
        public var number: Int
        public var tokenPrefix: [UInt8]

        /// Creates a member.
        public init(device: DeviceID, number: Int, tokenPrefix: [UInt8] = []) {
            self.device = device
            self.number = number
            self.tokenPrefix = tokenPrefix
        }

        private static let noPrefix: [UInt8] = []

        public static let fields = Fields(
            Member.init(device:number:tokenPrefix:),
            .required("device", .device(), \.device, "The Android ID of the device."),
            .required("number", .integer(0...Int.max), \.number, "The number of the registration."),
            .preset(
                "token_prefix", .content(0...InstallationToken.idLength), \.tokenPrefix, noPrefix,
                "The ID that its token begins with."))
    }

    public var sender: SenderID
    public var number: Int
    public var label: [UInt8]
    public var members: [Member]
    public var createdAt: UnixMilliseconds

    /// Creates a row.
    public init(
        sender: SenderID, number: Int, label: [UInt8], members: [Member], createdAt: UnixMilliseconds
    ) {
        self.sender = sender
        self.number = number
        self.label = label
        self.members = members
        self.createdAt = createdAt
    }

    public func check() throws(FieldProblem) {
        guard (0...Limits.Group.members).contains(members.count) else {
            throw .conflict("invalid members: expected 0 to \(Limits.Group.members)", hint: "export again")
        }
    }

    public static let fields = Fields(
        ExportedGroup.init(sender:number:label:members:createdAt:),
        .required("sender_id", .sender, \.sender, "The owner of the group."),
        .required("number", .integer(0...Int.max), \.number, "The number, part of its notification key."),
        .required("name", .content(1...Limits.Group.labelBytes), \.label, "The notification_key_name."),
        .required("members", .list(.record), \.members, "Its members."),
        .required("created_at", .time, \.createdAt, "When it was made."))
}
