import Basics
import BasicsSupport
import Delivery
import Sessions
import TranscriptNotation
import Wire

/// Transcripts of devices: one line is one message, `version 41`, or `hex` with bytes (Fixtures/transcripts/device/README.md).
struct DeviceDialect: TranscriptDialect {
    private static let startWall: UnixMilliseconds = 1_430_277_821_658

    private var settings = SessionSettings(
        seal: TokenSeal(secret: [UInt8](repeating: 1, count: 32)), digest: { SecretDigest(bytes: $0) },
        random: { 0 })

    /// Creates a dialect with the settings of the spec, and the keys and salts of Fixtures/webpush/vectors.json.
    init() { settings.webPush = TranscriptWebPush.functions }

    var values: [String: String] {
        [
            "AID": "5000000000000000001", "TOKEN": "6000000000000000002", "NOW": "\(Self.startWall)",
            "LOGIN":
                #"user: "5000000000000000001", auth_token: "6000000000000000002", use_rmq2: true, auth_service: 2"#,
            "GROUP": String(
                decoding: settings.seal.groupKey(of: GroupName(sender: SenderID(123), number: 7)),
                as: UTF8.self),
            "JID": "5000000000000000001@mcs.android.com/5000000000000000001",
        ]
    }

    mutating func configure(_ setting: String) throws {
        let words = setting.split(separator: " ").map(String.init)
        let number = words.count > 1 ? Int(words[1]) : nil
        switch (words.first, number) {
        case ("device_ping_seconds", let number?): settings.devicePingSeconds = number
        case ("device_heartbeat_seconds", let number?): settings.deviceHeartbeatSeconds = number
        case ("login_deadline_seconds", let number?): settings.loginDeadlineSeconds = number
        case ("idle_notifications", nil): settings.idleNotifications = true
        default: throw DeviceNotation.Unreadable(text: setting)
        }
    }

    func makeSession(now: Now) -> DeviceSession {
        DeviceSession(
            connection: ConnectionID(reactor: 0, slot: 1, generation: 1), settings: SharedSettings(settings),
            now: now)
    }

    func bytes(of line: String, _ text: TranscriptText) throws -> [UInt8] {
        let line = String(decoding: try text.bytes(line), as: UTF8.self)
        if line.hasPrefix("version ") { return [UInt8(line.dropFirst(8)) ?? 0] }
        if line.hasPrefix("hex ") {
            guard let bytes = Hex.bytes(line.dropFirst(4).filter { $0 != " " }) else {
                throw DeviceNotation.Unreadable(text: line)
            }
            return bytes
        }
        var buffer = ByteBuffer()
        try DeviceMessages.message(line).append(to: &buffer)
        return buffer.copied()
    }

    /// False: devices read a stream of frames, regardless of records.
    var recordsMatter: Bool { false }

    mutating func units(of sent: [[UInt8]]) throws -> [[UInt8]] {
        var units: [[UInt8]] = []
        for record in sent {
            var frames = record
            if record.first == MCS.version {
                units.append(Array("version \(MCS.version)".utf8))
                frames.removeFirst()
            }
            var reader = MCS.FrameReader()
            let stream = [MCS.version] + frames
            try reader.read(stream.raw) { (tag, content) throws(MCSError) in
                let message = try MCS.Message(tag: tag, decoding: content)
                units.append(Array((message.map(DeviceMessages.shown) ?? "tag \(tag)").utf8))
                return true
            }
        }
        return units
    }

    func shown(_ event: Event) -> String {
        switch event {
        case .device(_, .login(let login)):
            "deviceLogin device=\(login.device.number) token=\(String(decoding: login.token.bytes, as: UTF8.self))"
                + " received=[\(login.received.map(\.text).joined(separator: ", "))]"
                + (login.isIdle ? " idle" : "")
        case .device(_, .acknowledged(_, let sequences)):
            "deviceAcknowledged [\(sequences.map { "\($0.number)" }.joined(separator: ", "))]"
        case .device(_, .upstreamReceived(let upstream)):
            "upstreamReceived request=\(upstream.requester.requestID) sender=\(upstream.sender.number)"
                + (upstream.group.map { " group=\($0.number)" } ?? "") + (upstream.isFCMDomain ? " fcm" : "")
                + " category=\(String(decoding: upstream.category, as: UTF8.self))"
                + " id=\(String(decoding: upstream.messageID, as: UTF8.self))"
                + " persistent_id=\(String(decoding: upstream.persistentID, as: UTF8.self))"
                + " ttl=\(upstream.lifetimeSeconds) \(DeviceMessages.pairs(upstream.body).shown)"
        case .device(_, .writable): "deviceWritable"
        case .device(_, .congested): "deviceCongested"
        case .device(_, .idleChanged(_, let isIdle)): isIdle ? "deviceIdle" : "deviceActive"
        case .device(let device, .closed): "deviceClosed device=\(device.number)"
        default: "\(event)"
        }
    }

    func command(_ line: String) throws -> SessionCommand? {
        let words = line.split(separator: " ").map(String.init)
        let requestID = words.count > 1 ? UInt32(words[1]) : nil
        switch words.first {
        case "deviceLoginAccepted": return .device(.loginAccepted)
        case "loginRefused":
            return words.count > 1 ? LoginRefusal(rawValue: words[1]).map { .device(.loginRefused($0)) } : nil
        case "deliver": return .device(.deliver(delivery(try DeviceNotation.named(line).value)))
        case "reportWhenWritable": return .device(.reportWhenWritable)
        case "upstreamStored": return requestID.map { .device(.upstreamStored(requestID: $0)) }
        case "upstreamRefused":
            guard let requestID, words.count > 2, let refusal = UpstreamRefusal(rawValue: words[2]) else {
                return nil
            }
            return .device(.upstreamRefused(requestID: requestID, refusal))
        case "drain": return .connection(.drain)
        case "close":
            return words.count > 1 ? CloseReason(rawValue: words[1]).map { .connection(.close($0)) } : nil
        default: return nil
        }
    }

    private func delivery(_ value: DeviceValue) -> DeviceDelivery {
        let acceptedAt = Self.startWall
        let message = StoredMessage(
            device: DeviceID(5_000_000_000_000_000_001),
            sequence: SequenceNumber(UInt64(value["sequence"]?.integer ?? 1)),
            salt: 0x1234_5678, registration: RegistrationNumber(1), sender: SenderID(123),
            kind: value["discarded"]?.integer.map { .discardedMarker(count: Int($0)) }
                ?? (value["returned"] == nil ? .message : .sendError(of: SequenceNumber(1))),
            messageID: value["returned"]?.bytes ?? Array("m".utf8),
            collapseKey: value["collapse_key"]?.bytes, acceptedAt: acceptedAt,
            expiresAt: acceptedAt + (value["ttl"]?.integer ?? 60) * 1_000,
            priority: value["high"]?.boolean == true ? .high : .normal,
            wantsReceipt: value["receipt"]?.boolean ?? false,
            body: DeviceMessages.body(value["app_data"])
                + TranscriptWebPush.rawData(value["raw_data"]?.bytes))
        let app = RegisteredApp(
            .init(
                category: value["category"]?.bytes ?? Array("com.example.app".utf8),
                subtype: value["subtype"]?.bytes ?? [],
                web: value["web"]?.boolean == true ? TranscriptWebPush.keys : nil))
        return DeviceDelivery(
            message: message, app: app, from: value["from"]?.bytes ?? Array("123".utf8),
            isStored: value["stored"]?.boolean ?? true)
    }
}
