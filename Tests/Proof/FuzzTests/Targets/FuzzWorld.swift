import Basics
import Crypto
import Delivery
import Reference
import Sessions
import Transport
import Wire

/// The environment of fuzzed sessions: the same secrets, keys and numbers in every run.
enum FuzzWorld {
    static let seal = TokenSeal(secret: (0..<32).map { UInt8($0) })
    static let now = Now(monotonic: Instant(nanoseconds: 1_000_000_000), wall: 1_430_277_821_658)
    static let connection = ConnectionID(reactor: 0, slot: 1, generation: 1)
    static let sender = SenderID(1_234_567_890)
    static let device = DeviceID(600_000_000_000_000_001)
    static let installation = Array("cGFzc3dvcmQ_aGVsbG8tdw".utf8)
    static let functions = SCRAM.Functions(
        hash: { Digest.sha256($0) }, authenticate: { Digest.hmacSHA256(key: $0, $1) })

    /// A key that the fuzzer has no means to find.
    static let key: ServerKey = {
        let salt = Array("salt".utf8)
        let salted = Digest.stretched(
            Array("a key that is never revealed".utf8), salt: salt, iterations: 4_096)
        let keys = functions.keys(saltedPassword: salted)
        return ServerKey(
            digest: SecretDigest(bytes: Digest.sha256(salted)), createdAt: 0,
            scram: SCRAMVerifier(
                storedKey: keys.stored, serverKey: keys.server, salt: salt, iterations: 4_096))
    }()

    static let account = ServiceAccount(
        email: "app@lab-project.iam.gserviceaccount.com", keyID: "0a1b2c", publicKey: [1, 2, 3], createdAt: 0)

    static let senders = SenderDirectory([
        SenderRecord(
            sender: sender, label: "lab", keys: [], createdAt: 0, project: "lab-project", accounts: [account])
    ])

    /// Every signature is valid, so that the code after the check is reached; keys of web apps need not be points on the curve.
    static let settings: SessionSettings = {
        var settings = SessionSettings(
            seal: seal, digest: { SecretDigest(bytes: $0) }, random: { 0x0123_4567_89AB_CDEF })
        settings.senderOfKey = { key, _ in
            key.bytes == Array("AIza-key".utf8) ? sender : nil
        }
        settings.accounts = AccountFunctions(
            account: { senders.account(withKeyID: $0) }, record: { senders[$0] },
            verifies: { _, _, _ in true })
        settings.webPush = WebPushFunctions(
            encrypt: { EncryptedPayload(records: $1, publicKey: $0.publicKey, salt: []) },
            isPublicKey: { _ in true }, verifies: { _, _, _ in true })
        settings.checkIn = CheckInSettings(
            host: "push.example.com", devicePort: 5_228, httpsPort: 443, sha1: { Digest.sha1($0) })
        settings.isDeclared = DeclaredAnswers.contain
        settings.scram = SCRAMSettings(functions: functions) { Array("no salt of \($0.number)".utf8) }
        return settings
    }()

    static func name(_ number: UInt64) -> RegistrationName {
        RegistrationName(device: device, number: RegistrationNumber(number))
    }

    /// Returns the core's answer to an event, chosen by the request ID only, or `nil` if none is due.
    static func answer(to event: Event) -> SessionCommand? {
        switch event {
        case .sender(_, .login): .appServer(.loginRefused(.wrongCredentials))
        case .sender(_, .keysRequested): .appServer(.loginKeys([key]))
        case .sender(_, .streamRequested): .appServer(.streamNotResumed)
        case .device(_, .submitted(let message)): outcome(message.requester.requestID)
        case .topic(_, .submitted(let message)): outcome(message.requester.requestID)
        case .group(_, .submitted(let message)):
            .submission(
                requestID: message.requester.requestID,
                .group(
                    GroupAnswer(success: 1, failed: [(member: TokenName(name(2)), refusal: .notRegistered)])))
        case .group(_, .requested(let request)): request.requester.map { group($0.requestID, request.sender) }
        case .device(_, .upstreamReceived(let message)):
            message.requester.requestID % 4 == 3
                ? .device(.upstreamRefused(requestID: message.requester.requestID, .tooLarge))
                : .device(.upstreamStored(requestID: message.requester.requestID))
        case .device(_, .login): .device(.loginAccepted)
        case .device(_, .checkIn(let request)):
            .reply(
                requestID: request.requester.requestID,
                .checkedIn(
                    request.claimed?.0 ?? request.freshDevice,
                    freshToken: request.claimed == nil ? request.freshToken : nil))
        case .device(_, .register(let request)):
            .reply(requestID: request.requester.requestID, .registered(TokenName(name(1))))
        case .device(_, .registerWeb(let request)):
            .reply(requestID: request.requester.requestID, .registered(TokenName(name(1))))
        case .device(_, .unregister(let request)):
            .reply(requestID: request.requester.requestID, .unregistered)
        case .device(_, .unregisterToken(_, let requester)):
            .reply(requestID: requester.requestID, .unregistered)
        case .device(_, .subscribe(let request)):
            .reply(requestID: request.requester.requestID, .unregistered)
        case .installation(_, .requested(let request)):
            switch request.action {
            case .vouch(let event), .claim(let event, _): answer(to: event)
            case .create, .refresh:
                .reply(
                    requestID: request.requester.requestID,
                    .installation(
                        InstallationRecord(
                            id: request.installation, sender: request.sender,
                            refresh: SecretDigest(bytes: [UInt8](repeating: 1, count: 32)), createdAt: 0,
                            usedAt: 0), registrations: 0))
            case .address: report(request.requester.requestID)
            case .apple: .reply(requestID: request.requester.requestID, .registered(TokenName(name(1))))
            case .send: outcome(request.requester.requestID)
            default: .reply(requestID: request.requester.requestID, .unregistered)
            }
        case .device(_, .token(let request)): report(request.requester.requestID)
        default: nil
        }
    }

    private static let refusals: [Refusal] = [
        .notRegistered, .senderMismatch, .unavailable, .deviceRateExceeded, .packageMismatch,
    ]

    private static func outcome(_ requestID: UInt32) -> SessionCommand {
        let at = Int(requestID % 8)
        guard at < refusals.count else {
            return .submission(
                requestID: requestID,
                .accepted(
                    id: PersistentID(sequence: SequenceNumber(1_795_156_966_123_456), salt: 7),
                    canonical: at == 7 ? TokenName(name(2)) : nil))
        }
        return .submission(requestID: requestID, .refused(refusals[at]))
    }

    private static func report(_ requestID: UInt32) -> SessionCommand {
        guard requestID % 4 != 3, let topic = TopicName(Array("news".utf8)) else {
            return .reply(requestID: requestID, .tokenRefused(.notRegistered))
        }
        let registration = Registration(
            name: name(1), category: Array("com.example".utf8), subtype: [],
            senderText: Array("1234567890".utf8), sender: sender, createdAt: 0)
        let subscription = Subscription(name: name(1), sender: sender, topic: topic, since: now.wall)
        return .reply(
            requestID: requestID, .token(TokenReport(registration: registration, topics: [subscription])))
    }

    private static func group(_ requestID: UInt32, _ owner: SenderID) -> SessionCommand {
        guard requestID % 4 != 3 else { return .reply(requestID: requestID, .groupRefused(.labelTaken)) }
        return .reply(
            requestID: requestID,
            .group(
                GroupRecord(
                    name: GroupName(sender: owner, number: 77), label: Array("family".utf8),
                    members: [TokenName(name(1))],
                    createdAt: 0)))
    }
}

extension Submission {
    /// The session's request behind the submission.
    var requester: Requester {
        guard case .session(let requester) = replyTo else {
            preconditionFailure("expected a submission by a session")
        }
        return requester
    }
}
