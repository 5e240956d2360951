public import Basics
public import Delivery
public import Operator

// The fields of records in the rows of an export, whose form is fixed.

extension FieldKind where Value == SecretDigest {
    static var secretDigest: FieldKind {
        FieldKind<[UInt8]>.digest.map({ SecretDigest(bytes: $0) }, { $0.bytes })
    }
}

extension FieldKind where Value == UInt64 {
    fileprivate static func number(from least: Int) -> FieldKind {
        FieldKind<Int>.integer(least...Int.max).map({ UInt64($0) }, { Int(clamping: $0) })
    }
}

extension FieldKind where Value == RegistrationNumber {
    fileprivate static var registration: FieldKind {
        FieldKind<UInt64>.number(from: 0).map({ RegistrationNumber($0) }, { $0.number })
    }
}

extension FieldKind where Value == TopicName {
    fileprivate static var topic: FieldKind {
        FieldKind<String>.text(1...Limits.Topic.nameBytes).map(
            { (text) throws(FieldProblem) -> TopicName in
                guard let topic = TopicName(Array(text.utf8)) else {
                    throw FieldProblem(.invalid(value: nil), expected: "letters, digits and -_.~%")
                }
                return topic
            }, { String(decoding: $0.bytes, as: UTF8.self) })
    }
}

private let absent: [UInt8] = []
private let noSenders: [SenderID] = []

extension DeviceRecord: Record {
    public static let fields: Fields<DeviceRecord> = Fields(
        DeviceRecord.init(device:token:createdAt:seenAt:nextRegistration:hasLoggedIn:),
        .required("device", .device(), \.device, "The Android ID."),
        .required("sha256", .secretDigest, \.token, "The digest of its security token."),
        .required("created_at", .time, \.createdAt, "The first check-in."),
        .required("seen_at", .time, \.seenAt, "The last contact."),
        .required(
            "next_registration", .number(from: 1), \.nextRegistration,
            "The number of its next registration."),
        .preset("logged_in", .boolean, \.hasLoggedIn, true, "Whether it has ever logged in."))
}

/// The keys of a web app, not yet checked.
private struct WebRow: Record {
    var publicKey: [UInt8]
    var auth: Redacted<[UInt8]>

    static let fields = Fields(
        WebRow.init(publicKey:auth:),
        .required("public_key", .base64(upTo: 65), \.publicKey, "The public key, a P-256 point."),
        .required("auth", .secretFile(upTo: 16), \.auth, "The shared secret."))
}

extension FieldKind where Value == WebKeys {
    fileprivate static var web: FieldKind {
        FieldKind<WebRow>.record.map(
            { (row) throws(FieldProblem) -> WebKeys in
                guard let keys = WebKeys(publicKey: row.publicKey, auth: row.auth.revealed) else {
                    throw FieldProblem(
                        .invalid(value: nil),
                        expected: "an uncompressed P-256 point of 65 bytes, and 16 bytes")
                }
                return keys
            }, { WebRow(publicKey: $0.publicKey, auth: Redacted($0.auth)) })
    }
}

extension Registration: Record {
    /// The kinds of scopes.
    fileprivate enum ScopeName: String, CaseIterable {
        case unrecorded, unnamed, all, only
    }

    private static let field = 0...Limits.Registration.fieldBytes

    public static let fields: Fields<Registration> = Fields(
        Registration.decoded,
        .required("device", .device(), \.name.device, "The Android ID of its device."),
        .required("number", .registration, \.name.number, "Its number on the device."),
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
        .preset("scope", .word, \.scopeName, .unrecorded, "The kind of its scope."),
        .preset("scope_text", .content(field), \.scopeText, absent, "The scope, if it is another one."),
        .preset(
            "apns_token", .content(0...Limits.Registration.fieldBytes), \.validAPNsToken, absent,
            "The token of APNs with its environment: s_ or p_, then hexadecimal digits."),
        .preset("app_version", .content(field), \.appVersion, absent, "The version of the app."),
        .optional("web", .web, \.web, "The keys of a web app."),
        .required("created_at", .time, \.createdAt, "When it was made."))

    private static func decoded(
        device: DeviceID, number: RegistrationNumber, category: [UInt8], subtype: [UInt8],
        senderText: [UInt8], sender: SenderID?, otherSenders: [SenderID], instance: [UInt8], isProved: Bool,
        isTokenPrefixed: Bool, scope: ScopeName, scopeText: [UInt8], apnsToken: [UInt8], appVersion: [UInt8],
        web: WebKeys?, createdAt: UnixMilliseconds
    ) throws(FieldProblem) -> Registration {
        guard (scope == .only) == !scopeText.isEmpty else {
            throw .conflict(
                "scope_text must be given with the scope \"only\", and with no other one",
                hint: "export again")
        }
        var decoded = Registration(
            name: RegistrationName(device: device, number: number), category: category, subtype: subtype,
            senderText: senderText, sender: sender, otherSenders: otherSenders, instance: instance, web: web,
            createdAt: createdAt)
        decoded.isProved = isProved
        decoded.isTokenPrefixed = isTokenPrefixed
        decoded.scope =
            switch scope {
            case .unrecorded: .unrecorded
            case .unnamed: .unnamed
            case .all: .all
            case .only: .only(scopeText)
            }
        decoded.apnsToken = apnsToken
        decoded.appVersion = appVersion
        return decoded
    }

    public func check() throws(FieldProblem) {
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

    private var scopeName: ScopeName {
        switch scope {
        case .unrecorded: .unrecorded
        case .unnamed: .unnamed
        case .all: .all
        case .only: .only
        }
    }

    private var scopeText: [UInt8] { if case .only(let text) = scope { text } else { [] } }

    /// Empty for a token from a release that did not check device tokens: no import accepts it.
    private var validAPNsToken: [UInt8] { AppleToken.isValid(apnsToken) ? apnsToken : [] }
}

extension Subscription: Record {
    public static let fields: Fields<Subscription> = Fields(
        Subscription.init(device:number:sender:topic:createdAt:),
        .required("device", .device(), \.name.device, "The Android ID of the device."),
        .required("number", .registration, \.name.number, "The number of the registration."),
        .required("sender_id", .sender, \.sender, "The owner of the topic."),
        .required("topic", .topic, \.topic, "The name of the topic, without /topics/."),
        .required("created_at", .time, \.since, "When it was made."))

    private init(
        device: DeviceID, number: RegistrationNumber, sender: SenderID, topic: TopicName,
        createdAt: UnixMilliseconds
    ) {
        self.init(
            name: RegistrationName(device: device, number: number), sender: sender, topic: topic,
            since: createdAt)
    }
}

extension InstallationRecord: Record {
    private static let length = InstallationToken.idLength...InstallationToken.idLength

    public static let fields: Fields<InstallationRecord> = Fields(
        InstallationRecord.init(id:sender:refresh:createdAt:usedAt:),
        .required("installation", .content(length), \.id, "The ID."),
        .optional("sender_id", .sender, \.sender, "The project that the app named."),
        .optional("sha256", .secretDigest, \.refresh, "The digest of its refresh token."),
        .required("created_at", .time, \.createdAt, "When it was made."),
        .required("used_at", .time, \.usedAt, "When it was last used."))
}

extension TokenName: Record {
    public static let fields: Fields<TokenName> = Fields(
        TokenName.init(device:number:prefix:),
        .required("device", .device(), \.registration.device, "The Android ID of the device."),
        .required("number", .registration, \.registration.number, "The number of the registration."),
        .preset(
            "token_prefix", .content(0...InstallationToken.idLength), \.prefixBytes, absent,
            "The ID that its token begins with."))

    private init(device: DeviceID, number: RegistrationNumber, prefix: [UInt8]) {
        self.init(RegistrationName(device: device, number: number), prefix: TokenPrefix(prefix))
    }

    private var prefixBytes: [UInt8] { prefix?.bytes ?? [] }
}

extension GroupRecord: Record {
    public static let fields: Fields<GroupRecord> = Fields(
        GroupRecord.init(sender:number:label:members:createdAt:),
        .required("sender_id", .sender, \.name.sender, "The owner of the group."),
        .required("number", .number(from: 0), \.name.number, "The number, part of its notification key."),
        .required("name", .content(1...Limits.Group.labelBytes), \.label, "The notification_key_name."),
        .required("members", .list(.record), \.members, "Its members."),
        .required("created_at", .time, \.createdAt, "When it was made."))

    private init(
        sender: SenderID, number: UInt64, label: [UInt8], members: [TokenName], createdAt: UnixMilliseconds
    ) {
        self.init(
            name: GroupName(sender: sender, number: number), label: label, members: members,
            createdAt: createdAt)
    }

    public func check() throws(FieldProblem) {
        guard (0...Limits.Group.members).contains(members.count) else {
            throw .conflict("invalid members: expected 0 to \(Limits.Group.members)", hint: "export again")
        }
    }
}
