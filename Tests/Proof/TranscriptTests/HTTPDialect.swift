import Basics
import Delivery
import Reference
import TranscriptNotation
import Wire

@testable import Sessions

/// Transcripts of HTTP: one `S:` line is one answer; events and commands are words and `name=value`.
struct HTTPDialect: TranscriptDialect {
    private static let device = DeviceID(600_000_000_000_000_001)

    var values: [String: String] {
        [
            "TOKEN": String(decoding: AppServerDialect.seal.token(for: Self.name(1)), as: UTF8.self),
            "TOKEN2": String(decoding: AppServerDialect.seal.token(for: Self.name(2)), as: UTF8.self),
            "GUARD": "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n",
            "AID": String(Self.device.number), "SECRET": "700000000000000002",
            "TOKEN_ESCAPED": Self.token(1).replacing(":", with: "%3A"),
            "STRANGE": String(
                decoding: AppServerDialect.seal.token(
                    for: RegistrationName(device: DeviceID(5), number: RegistrationNumber(1))),
                as: UTF8.self),
            "PLACE_P": Self.place("p_0a1b"), "PLACE_S": Self.place("s_0a1b"),
            "PUSHSET": String(Self.token(1).prefix(11)),
            "KEY": Base64.text(Self.key, urlSafe: true, padded: false),
            "KEYHEX": Hex.text(Self.key),
            "STRAYKEY": Base64.text(Self.strayKey, urlSafe: true, padded: false),
            "KEYPAD": Base64.text(Self.key, urlSafe: true, padded: true),
            "AUTH": Base64.text(Self.auth, urlSafe: true, padded: false),
            "AUTHPAD": Base64.text(Self.auth, urlSafe: true, padded: true),
            "ACCESS": Self.installationToken(.access, 123), "REFRESH": Self.installationToken(.refresh, 123),
            "BARE": Self.installationToken(.access, 0), "BAREREFRESH": Self.installationToken(.refresh, 0),
            "EXPIRED": Self.installationToken(.access, 123, lives: 0),
        ].merging(TranscriptWebPush.values) { $1 }
            .merging(TranscriptAccounts.values(at: Self.start)) { $1 }
    }

    private static let key = TranscriptWebPush.keys?.publicKey ?? []
    /// A well-formed point that is not on the curve.
    private static let strayKey = [4] + [UInt8](repeating: 7, count: 64)
    private static let auth = [UInt8](repeating: 9, count: 16)
    /// The clock at the start of each transcript.
    private static let start: UnixMilliseconds = 1_430_277_821_658
    private var checkIn: CheckInSettings?

    /// Returns the key of the transcripts' app by its APNs token.
    private static func place(_ token: String) -> String {
        String(
            decoding: AppServerDialect.seal.indexKey(
                ofBundle: Array("com.example.ios".utf8), token: Array(token.utf8)), as: UTF8.self)
    }

    private static func token(_ number: UInt64) -> String {
        String(decoding: AppServerDialect.seal.token(for: name(number)), as: UTF8.self)
    }

    /// Returns the tokens that the session issues at the start, when all its random numbers are 0.
    private static func installationToken(
        _ purpose: InstallationToken.Purpose, _ sender: UInt64, lives: UnixMilliseconds = 604_800_000
    ) -> String {
        let token = InstallationToken(
            purpose: purpose, installation: Array("cGFzc3dvcmQ_aGVsbG8tdw".utf8), sender: SenderID(sender),
            expiresAt: purpose == .access ? start + lives : .max,
            mark: purpose == .access ? InstallationRecord.mark(of: SecretDigest(bytes: refresh(sender))) : 0)
        return String(decoding: AppServerDialect.seal.text(of: token), as: UTF8.self)
    }

    /// Returns the refresh token; its digest is the text itself.
    private static func refresh(_ sender: UInt64) -> [UInt8] {
        Array(installationToken(.refresh, sender).utf8)
    }

    private static func name(_ number: UInt64) -> RegistrationName {
        RegistrationName(device: device, number: RegistrationNumber(number))
    }

    mutating func configure(_ setting: String) throws {
        let words = setting.split(separator: " ").map(String.init)
        guard words.count == 2, words[0] == "check_in" else {
            throw AppServerDialect.BadLine(text: setting)
        }
        checkIn = CheckInSettings(
            host: words[1], devicePort: 5_228, httpsPort: 443,
            sha1: { _ in [UInt8](repeating: 0, count: 20) })
    }

    func makeSession(now: Now) -> HTTPSession {
        // The digest is the text itself, so that transcripts can show the compared values.
        var settings = SessionSettings(
            seal: AppServerDialect.seal, digest: { SecretDigest(bytes: $0) }, random: { 0 })
        settings.senderOfKey = { key, _ in
            key.bytes == Array("AIza-key".utf8) ? SenderID(1_234_567_890) : nil
        }
        settings.webPush = TranscriptWebPush.functions
        settings.accounts = TranscriptAccounts.functions
        settings.checkIn = checkIn
        settings.isDeclared = DeclaredAnswers.contain
        return HTTPSession(
            connection: ConnectionID(reactor: 0, slot: 1, generation: 1), settings: SharedSettings(settings),
            now: now)
    }

    func bytes(of line: String, _ text: TranscriptText) throws -> [UInt8] { try text.bytes(line) }

    mutating func units(of sent: [[UInt8]]) throws -> [[UInt8]] { sent }

    func shown(_ event: Event) -> String {
        switch event {
        case .device(_, .checkIn(let checkIn)):
            var text = "check-in #\(checkIn.requester.requestID)"
            if let (device, token) = checkIn.claimed {
                text += " device=\(device.number) token=\(Self.text(token.bytes))"
            } else {
                text += " new"
            }
            return checkIn.refusesWrongToken ? text + " strict" : text
        case .device(_, .register(let request)): return "register \(Self.shown(request))"
        case .device(_, .unregister(let request)): return "unregister \(Self.shown(request))"
        case .device(_, .submitted(let push)) where push.sender == nil:
            return TranscriptWebPush.shown(push)
        case .device(_, .submitted(let message)):
            let requestID = RecipientRequestID.parts(message.requester.requestID).map { "\($0).\($1)" }
            return AppServerDialect.shown(message, requestID: requestID)
                + " sender=\(message.sender?.number ?? 0)"
        case .topic(_, .submitted(let message)):
            let requester = message.requester
            let requestID = RecipientRequestID.parts(requester.requestID).map { "\($0).\($1)" }
            return AppServerDialect.shown(message, requestID: requestID)
                + " sender=\(message.sender.number)"
        case .device(_, .subscribe(let request)):
            return "\(request.isEnd ? "unsubscribe" : "subscribe") #\(request.requester.requestID) "
                + "\(request.name.number.number) token=\(Self.text(request.token.bytes)) "
                + "topic=\(Self.text(request.topic.bytes))"
        case .installation(_, .requested(let request)):
            switch request.action {
            case .vouch(let event): return "vouched " + shown(event)
            case .claim(let event, _): return "claimed " + shown(event)
            default: break
            }
            let requestID = RecipientRequestID.parts(request.requester.requestID).map { "\($0).\($1)" }
            return
                "installation #\(requestID ?? "\(request.requester.requestID)") \(Self.text(request.installation)) "
                + "sender=\(request.sender?.number ?? 0) \(Self.shown(request.action))"
        case .device(_, .registerWeb(let request)): return Self.shown(request)
        case .device(_, .cancel(let request)): return AppServerDialect.shown(request)
        case .device(_, .token(let request)):
            let requestID = RecipientRequestID.parts(request.requester.requestID).map { "\($0).\($1)" }
            return "address #\(requestID ?? "\(request.requester.requestID)") \(request.name.number.number) "
                + "sender=\(request.sender.number) \(Self.shown(request.action))"
        case .device(_, .unregisterToken(let claim, let requester)):
            return "give-up #\(requester.requestID) \(Self.shown(claim))"
        default: return "\(event)"
        }
    }

    private static func shown(_ request: RegistrationRequest) -> String {
        "#\(request.requester.requestID) device=\(request.device.number) token=\(text(request.token.bytes)) "
            + "app=\(text(request.category)) subtype=\(text(request.subtype)) sender=\(text(request.senderText))"
            + (request.instance.isEmpty ? "" : " instance=\(text(request.instance))")
            + scope(of: request)
            + (request.apnsToken.isEmpty ? "" : " apns=\(text(request.apnsToken))")
    }

    /// Returns the scope of a registration request, or those that an unregistration ends.
    private static func scope(of request: RegistrationRequest) -> String {
        if request.endedScopes == .named, request.scope == .all { return " scope=*" }
        switch request.scope {
        case .unrecorded, .unnamed: return request.endedScopes == .unnamed ? " scope=unnamed" : ""
        case .all: return " scope=all"
        case .only(let scope): return " scope=\(text(scope))"
        }
    }

    private static func shown(_ action: TokenRequest.Action) -> String {
        switch action {
        case .describe: "describe"
        case .subscribe(let topic): "relate \(text(topic.bytes))"
        case .unsubscribe(let topic): "unrelate \(text(topic.bytes))"
        }
    }

    private static func shown(_ action: InstallationRequest.Action) -> String {
        switch action {
        case .subscribe(let topic): "subscribe \(text(topic.bytes))"
        case .unsubscribe(let topic): "unsubscribe \(text(topic.bytes))"
        case .remove: "remove"
        case .vouch, .claim, .vouched: ""
        case .create(let offer):
            "create"
                + (offer.shown.map { " shown=\(text($0.bytes))" } ?? "")
                + (offer.device.map { " device=\($0.0.number):\(text($0.1.bytes))" } ?? "")
        case .refresh(let digest): "refresh \(text(digest.bytes))"
        case .end(let digest): "end \(text(digest.bytes))"
        case .revoke: "revoke"
        case .imported(let record, let replaces): "import \(text(record.id)) \(replaces)"
        case .address(let action): shown(action)
        case .send(let message):
            AppServerDialect.shown(message, requestID: "in").replacing("submitted #in id=", with: "send")
        case .apple(let address):
            "\(address.isImport ? "import" : "apple") \(text(address.bundle)) \(text(address.token))"
        }
    }

    /// Keys of one repeated byte are abbreviated.
    private static func shown(_ request: WebRegistrationRequest) -> String {
        var text = "web #\(request.requester.requestID) endpoint=\(request.endpoint.number.number) project="
        text += shown(request.project)
        text += " instance=\(self.text(request.instance)) key=\(Hex.text(request.keys.publicKey))"
        text += " auth=\(Hex.text(request.keys.auth))"
        if let renewed = request.renewed { text += " renews=\(shown(renewed))" }
        return text
    }

    private static func shown(_ project: WebRegistrationRequest.Project) -> String {
        switch project {
        case .sender(let sender): "\(sender.number)"
        case .label(let label): text(label)
        }
    }

    /// Returns the registration, the proof and the projects.
    private static func shown(_ claim: TokenClaim) -> String {
        let proof =
            switch claim.proof {
            case .none: "none"
            case .device(let device, let token): "device:\(device.number):\(text(token.bytes))"
            case .installation(let id): "installation:\(text(id))"
            }
        let projects = claim.projects.map { shown($0) }.joined(separator: ",")
        return "\(claim.name.number.number) by=\(proof) of=\(projects)"
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    /// Parses `1`, or `1.0` for a recipient.
    private static func requestID(_ text: Substring) -> UInt32 {
        let parts = text.split(separator: ".").compactMap { UInt32($0) }
        guard parts.count == 2 else { return parts.first ?? 0 }
        return RecipientRequestID.make(request: parts[0], index: Int(parts[1]))
    }

    /// Returns a registration of 2026 with these topics; `there`: the change had no effect.
    private static func report(_ words: ArraySlice<String>) -> TokenReport {
        let (name, sender) = (name(1), SenderID(1_234_567_890))
        let topics = words.filter { $0 != "there" }.compactMap { TopicName(Array($0.utf8)) }
        return TokenReport(
            registration: Registration(
                name: name, category: Array("com.iid.example".utf8), subtype: [],
                senderText: Array("1234567890".utf8), sender: sender, createdAt: 0),
            topics: topics.map {
                Subscription(name: name, sender: sender, topic: $0, since: 1_795_156_966_123)
            },
            wasThere: words.contains("there"))
    }

    private static let messageID = PersistentID(
        sequence: SequenceNumber(1_795_156_966_123_456), salt: 0x0000_00ab)

    func command(_ line: String) throws -> SessionCommand? {
        let words = line.split(separator: " ").map(String.init)
        let requestID = words.count > 1 ? Self.requestID(words[1].dropFirst()) : 0
        switch words.first {
        case "checked-in":
            return .reply(
                requestID: requestID,
                .checkedIn(Self.device, freshToken: words.count > 2 ? UInt64(words[2]) : nil))
        case "check-in-refused": return .reply(requestID: requestID, .checkInRefused)
        case "registered":
            return .reply(requestID: requestID, .registered(TokenName(Self.name(words.count > 2 ? 2 : 1))))
        case "installed":
            let sender = UInt64(words[2]) ?? 0
            return .reply(
                requestID: requestID,
                .installation(
                    InstallationRecord(
                        id: Array("cGFzc3dvcmQ_aGVsbG8tdw".utf8), sender: SenderID(sender),
                        refresh: SecretDigest(bytes: Self.refresh(sender)), createdAt: 0, usedAt: 0),
                    registrations: 0))
        case "unregistered": return .reply(requestID: requestID, .unregistered)
        case "registration-refused":
            return RegistrationRefusal(rawValue: words[2]).map {
                .reply(requestID: requestID, .registrationRefused($0))
            }
        case "token-known": return .reply(requestID: requestID, .token(Self.report(words.dropFirst(2))))
        case "token-refused":
            return TokenRefusal(rawValue: words[2]).map { .reply(requestID: requestID, .tokenRefused($0)) }
        case "ack":
            return .submission(
                requestID: requestID,
                .accepted(
                    id: words.contains("dry") ? nil : Self.messageID,
                    canonical: words.contains("canonical") ? TokenName(Self.name(2)) : nil))
        case "nack":
            return AppServerDialect.refusals[words[2]].map { .submission(requestID: requestID, .refused($0)) }
        case "acknowledge":
            let id = PersistentID(sequence: SequenceNumber(UInt64(words[2]) ?? 0), salt: 0x1234_5678)
            return .submission(requestID: requestID, .accepted(id: id, canonical: nil))
        case "refuse":
            return TranscriptWebPush.refusal(words[2]).map { .submission(requestID: requestID, .refused($0)) }
        case "cancelled": return AppServerDialect.cancelled(Array(words.dropFirst()))
        case "drain": return .connection(.drain)
        case "close": return CloseReason(rawValue: words[1]).map { .connection(.close($0)) }
        default: return nil
        }
    }
}
