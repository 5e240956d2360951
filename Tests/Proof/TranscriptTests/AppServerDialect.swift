import Basics
import Delivery
import Sessions
import TranscriptNotation
import Wire

/// Transcripts of app servers: one `S:` line is one record; events and commands are words and `name=value`.
struct AppServerDialect: TranscriptDialect {
    /// A seal that makes the same tokens in every run.
    static let seal = TokenSeal(secret: (0..<32).map { UInt8($0) })
    private static let device = DeviceID(1 << 60)

    private var settings = SessionSettings(
        seal: AppServerDialect.seal, digest: { SecretDigest(bytes: $0) }, random: { 0 })

    private var channelBinding: [UInt8]?

    init() {}

    var values: [String: String] {
        var values = TranscriptText.appServer
        for number in 1...3 as ClosedRange<UInt64> {
            values["TOKEN\(number == 1 ? "" : String(number))"] = String(
                decoding: Self.seal.token(for: Self.name(number)), as: UTF8.self)
        }
        values["GROUP"] = String(decoding: Self.seal.groupKey(of: Self.group), as: UTF8.self)
        // The core refuses the first as unregistered and the second as another sender's.
        values["GONE"] = String(decoding: Self.seal.token(for: Self.name(4)), as: UTF8.self)
        values["FOREIGN"] = String(decoding: Self.seal.token(for: Self.name(5)), as: UTF8.self)
        values["SCRAM"] = values["MECHANISMS"]?.replacing(
            #"sasl"><"#, with: #"sasl"><mechanism>SCRAM-SHA-256</mechanism><"#)
        values["SCRAM_PLUS"] = values["SCRAM"]?.replacing(
            #"sasl"><"#, with: #"sasl"><mechanism>SCRAM-SHA-256-PLUS</mechanism><"#
        ).replacing(
            "</mechanisms>",
            with:
                #"</mechanisms><sasl-channel-binding xmlns="urn:xmpp:sasl-cb:0"><channel-binding type="tls-exporter"/></sasl-channel-binding>"#
        )
        values["FEATURES_SM"] = values["FEATURES"]?.replacing(
            "</stream:features>", with: #"<sm xmlns="urn:xmpp:sm:3"/></stream:features>"#)
        return values
    }

    private static let group = GroupName(sender: SenderID(1_234_567_890), number: 77)

    private static func name(_ number: UInt64) -> RegistrationName {
        RegistrationName(device: device, number: RegistrationNumber(number))
    }

    mutating func configure(_ setting: String) throws {
        let words = setting.split(separator: " ").map(String.init)
        let number = words.count > 1 ? Int(words[1]) : nil
        switch (words.first, number) {
        case ("pending_window", let number?): settings.pendingWindow = number
        case ("keepalive_seconds", let number?): settings.keepaliveSeconds = number
        case ("login_deadline_seconds", let number?): settings.loginDeadlineSeconds = number
        case ("strict_acks", nil): settings.strictAcks = true
        case ("control_message_id", nil): settings.controlMessageID = true
        case ("lenient_time_to_live", nil): settings.rules.lenientLifetime = true
        case ("reserve_gcm_prefix", nil): settings.rules.reservesGCMPrefix = true
        case ("strict_conditions", nil): settings.rules.strictConditions = true
        case ("scram", nil):
            settings.scram = SCRAMSettings(functions: TranscriptSCRAM.functions) { sender in
                Array("no salt of \(sender.number)".utf8)
            }
        case ("stream_management", nil): settings.streamManagement = true
        case ("channel_binding", nil): channelBinding = TranscriptSCRAM.channelBinding
        default: throw BadLine(text: setting)
        }
    }

    /// A line that cannot be parsed.
    struct BadLine: Error { let text: String }

    func makeSession(now: Now) -> AppServerSession {
        var settings = settings
        let random = Draws()
        settings.random = { random.next() }
        return AppServerSession(
            connection: ConnectionID(reactor: 0, slot: 1, generation: 1), settings: SharedSettings(settings),
            now: now,
            channelBinding: { [channelBinding] in channelBinding })
    }

    func bytes(of line: String, _ text: TranscriptText) throws -> [UInt8] { try text.bytes(line) }

    mutating func units(of sent: [[UInt8]]) throws -> [[UInt8]] { sent }

    func shown(_ event: Event) -> String {
        switch event {
        case .sender(let sender, .login(_, let key)):
            "login \(sender.number) key=\(String(decoding: key.bytes, as: UTF8.self))"
        case .sender(let sender, .keysRequested(_)): "keys wanted \(sender.number)"
        case .sender(let sender, .streamManaged(_, let id)): "stream managed \(sender.number) \(id)"
        case .sender(let sender, .streamRequested(_, let id)): "stream wanted \(sender.number) \(id)"
        case .sender(let sender, .streamDetached(_, let stream)):
            "stream detached \(sender.number) \(stream.id) handled=\(stream.handled) sent=\(stream.sent)"
                + " confirmed=\(stream.confirmed) kept=\(stream.unconfirmed.map(\.number))"
        case .sender(let sender, .bound(_)): "ready \(sender.number)"
        case .sender(let sender, .draining(_)): "draining \(sender.number)"
        case .sender(let sender, .congested(_)): "congested \(sender.number)"
        case .sender(let sender, .writable(_)): "relieved \(sender.number)"
        case .sender(let sender, .closed(_)): "closed \(sender.number)"
        case .sender(let sender, .upstreamFinished(_, let sequence, let outcome)):
            "settled \(sender.number) \(sequence.number) \(outcome)"
        case .device(_, .submitted(let submission)): Self.shown(submission)
        case .group(_, .submitted(let message)):
            "group \(message.group.number) of \(message.group.sender.number) "
                + Self.shown(message.content, requestID: "\(message.requester.requestID)")
        case .topic(_, .submitted(let message)): Self.shown(message)
        case .device(_, .cancel(let request)): Self.shown(request)
        default: "\(event)"
        }
    }

    /// Returns a request to cancel a message.
    static func shown(_ request: Cancellation) -> String {
        "cancel #\(request.requester.requestID) \(String(decoding: request.messageID, as: UTF8.self))"
            + " to=\(request.registration?.number ?? 0) sender=\(request.sender?.number ?? 0)"
    }

    /// Returns the answer to such a request: `#1 2 0` for two cancelled messages, and none that were sent; `#1` for a failure.
    static func cancelled(_ words: [String]) -> SessionCommand {
        let requestID = words.first.flatMap { UInt32($0.dropFirst()) } ?? .max
        let counts = words.dropFirst().compactMap { Int($0) }
        return .reply(
            requestID: requestID,
            counts.count == 2
                ? .cancelled(counts[0], tooLate: counts[1]) : .registrationRefused(.serviceNotAvailable))
    }

    /// Returns a message to topics: the name, or the names of a condition and its truth table.
    static func shown(_ message: TopicSubmission, requestID: String? = nil) -> String {
        let names = message.target.topics.map { String(decoding: $0.bytes, as: UTF8.self) }
        let target =
            message.target.isCondition
            ? "condition \(names.joined(separator: ",")) \(String(message.target.truth, radix: 16))"
            : "topic \(names.joined())"
        return target + " " + shown(message.content, requestID: requestID ?? "\(message.requester.requestID)")
    }

    /// Returns a submission; `requestID` replaces the plain request ID.
    static func shown(_ message: Submission, requestID: String? = nil) -> String {
        shown(
            message.content, requestID: requestID ?? "\(message.requester.requestID)",
            target: " to=\(message.target.number.number)")
    }

    /// Returns the content of a message and its target.
    static func shown(_ message: MessageContent, requestID: String, target: String = "") -> String {
        var text = "submitted #\(requestID) id=\(String(decoding: message.messageID, as: UTF8.self))\(target)"
        if let key = message.collapseKey {
            text +=
                " collapse=\(key == MessageContent.appCollapseKey ? "(app)" : String(decoding: key, as: UTF8.self))"
        }
        if message.lifetimeSeconds != Limits.Message.lifetimeSeconds {
            text += " ttl=\(message.lifetimeSeconds)"
        }
        if let id = message.replaces { text += " replaces=\(String(decoding: id, as: UTF8.self))" }
        if let sendAt = message.sendAt { text += " at=\(Timestamp.text(sendAt))" }
        if message.priority == .high { text += " high" }
        if message.wantsReceipt { text += " receipt" }
        if message.delaysWhileIdle { text += " delay" }
        if message.isDryRun { text += " dry" }
        if let package = message.restrictedPackage {
            text += " package=\(String(decoding: package, as: UTF8.self))"
        }
        var pairs: [String] = []
        try? AppData.forEach(in: message.body.raw) { key, value in
            pairs.append(
                String(decoding: [UInt8](copying: key), as: UTF8.self) + "="
                    + String(decoding: [UInt8](copying: value), as: UTF8.self))
        }
        text += " {" + pairs.joined(separator: ";") + "}"
        return message.holdsRawData ? text + " raw=" + TranscriptWebPush.rawDataShown(message.body) : text
    }

    func command(_ line: String) throws -> SessionCommand? {
        let words = line.split(separator: " ", maxSplits: 1).map(String.init)
        let fields = Fields(words.count > 1 ? words[1] : "")
        switch words.first {
        case "keys": return .appServer(.loginKeys(fields.words.map { TranscriptSCRAM.key($0) }))
        case "accept": return .appServer(.loginAccepted)
        case "reject": return LoginRefusal(rawValue: fields.text).map { .appServer(.loginRefused($0)) }
        case "ack":
            return .submission(
                requestID: fields.requestID,
                .accepted(
                    id: nil,
                    canonical: fields["canonical"].flatMap { UInt64($0) }.map { TokenName(Self.name($0)) }))
        case "group":
            let failed = fields.words.dropFirst().compactMap { word -> (RegistrationName, Refusal)? in
                let parts = word.split(separator: "=").map(String.init)
                guard parts.count == 2, let number = UInt64(parts[0]), let refusal = Self.refusals[parts[1]]
                else { return nil }
                return (Self.name(number), refusal)
            }
            return .submission(
                requestID: fields.requestID,
                .group(
                    GroupAnswer(
                        success: Int(fields["success"] ?? "") ?? 0,
                        failed: failed.map { (member: TokenName($0.0), refusal: $0.1) })))
        case "nack":
            return Self.refusals[fields.last].map { .submission(requestID: fields.requestID, .refused($0)) }
        case "cancelled": return Self.cancelled(fields.words)
        case "upstream": return .appServer(.deliver(upstream(fields, kind: .message)))
        case "receipt":
            return .appServer(
                .deliver(
                    upstream(fields, kind: .receipt(sentAt: Int64(fields["sent"] ?? "") ?? 0))))
        case "release": return .appServer(.release(SequenceNumber(UInt64(fields.text) ?? 0)))
        case "withdraw": return .appServer(.withdraw(SequenceNumber(UInt64(fields.text) ?? 0)))
        case "resumed": return .appServer(.streamResumed(fields.stream))
        case "not-resumed": return .appServer(.streamNotResumed)
        case "drain": return .connection(.drain)
        case "end-when-idle":
            guard let seconds = Int(fields.words.first ?? "") else { return nil }
            return .connection(
                .endWhenIdle(
                    from: Instant(nanoseconds: 0).advanced(seconds: seconds), .connectionDraining))
        case "close": return CloseReason(rawValue: fields.text).map { .connection(.close($0)) }
        default: return nil
        }
    }

    private func upstream(_ fields: Fields, kind: StoredUpstream.Kind) -> StoredUpstream {
        var body = ByteBuffer()
        for pair in fields.pairs {
            AppData.append(key: Array(pair.key.utf8).raw, value: Array(pair.value.utf8).raw, to: &body)
        }
        // Seconds after the start of the transcript, when the clock shows this time.
        let expiresAt = fields["ends"].flatMap { Int64($0) }.map { 1_430_277_821_658 + $0 * 1_000 }
        return StoredUpstream(
            sender: SenderID(1_234_567_890), sequence: SequenceNumber(UInt64(fields["seq"] ?? "") ?? 0),
            kind: kind,
            from: Self.name(UInt64(fields["from"] ?? "") ?? 1), isFCMDomain: fields.words.contains("fcm"),
            category: Array((fields["category"] ?? "com.example.yourapp").utf8),
            messageID: Array((fields["id"] ?? "").utf8), expiresAt: expiresAt ?? .max,
            lifetimeSeconds: Int(fields["ttl"] ?? "") ?? 86_400, body: body.copied())
    }

    static let refusals: [String: Refusal] = Dictionary(
        uniqueKeysWithValues: [
            .invalidToken, .senderMismatch, .notRegistered, .packageMismatch, .deviceRateExceeded,
            .senderRateExceeded, .topicRateExceeded, .unavailable, .storeDamaged, .internalError, .draining,
            .conflict(field: "raw_data", reason: "the registration cannot be sent it"),
            .scheduleFull(.device), .messageSent, .unknownMessage,
        ].map { (refusal: Refusal) in (refusal.word, refusal) })
}

/// Words, among them `name=value`, a request ID `#n`, and pairs in braces at the end.
private struct Fields {
    let text: String
    var words: [String] = []
    var pairs: [(key: String, value: String)] = []

    init(_ text: String) {
        self.text = text
        var head = text[...]
        if let brace = text.firstIndex(of: "{") {
            head = text[..<brace]
            for pair in text[text.index(after: brace)...].dropLast().split(separator: ";") {
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                pairs.append((String(parts[0]), parts.count > 1 ? String(parts[1]) : ""))
            }
        }
        words = head.split(separator: " ").map(String.init)
    }

    subscript(name: String) -> String? {
        words.first { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
    }

    /// `resumed ID handled=1 sent=2 confirmed=1 {2=<answer/>}`.
    var stream: ResumableStream {
        func count(_ name: String) -> UInt32 { UInt32(self[name] ?? "") ?? 0 }
        return ResumableStream(
            id: words.first ?? "", jid: "1234567890@gcm.googleapis.com/old", handled: count("handled"),
            sent: count("sent"), confirmed: count("confirmed"),
            unconfirmed: pairs.map {
                ResumableStream.Stanza(number: UInt32($0.key) ?? 0, bytes: Array($0.value.utf8))
            })
    }

    var requestID: UInt32 { words.first { $0.hasPrefix("#") }.flatMap { UInt32($0.dropFirst()) } ?? .max }
    var last: String { words.last ?? "" }
}

/// Distinct numbers, the same in every run. A run uses one thread.
private final class Draws: @unchecked Sendable {
    private var random = SeededRandom(seed: 7)
    func next() -> UInt64 { random.next() }
}

extension Submission {
    /// The session request that caused the event.
    var requester: Requester {
        guard case .session(let requester) = replyTo else { preconditionFailure("no session made it") }
        return requester
    }
}
