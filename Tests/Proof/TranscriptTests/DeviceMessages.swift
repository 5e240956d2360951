import Basics
import Wire

/// MCS messages in the notation of transcripts, with the field names of the protocol (mcs-device 2).
enum DeviceMessages {
    /// Parses a line.
    static func message(_ line: String) throws -> MCS.Message {
        let (name, value) = try DeviceNotation.named(line)
        switch name {
        case "LoginRequest": return .loginRequest(login(value))
        case "HeartbeatPing": return .heartbeatPing(heartbeat(value))
        case "HeartbeatAck": return .heartbeatAck(heartbeat(value))
        case "IqStanza": return .iq(iq(value))
        case "DataMessageStanza": return .dataMessage(try dataMessage(value))
        case "Close": return .close(MCS.Close())
        default: throw DeviceNotation.Unreadable(text: line)
        }
    }

    /// Returns the line of a message.
    static func shown(_ message: MCS.Message) -> String {
        switch message {
        case .loginRequest: "LoginRequest {…}"
        case .loginResponse(let response): "LoginResponse " + shown(response)
        case .heartbeatPing(let heartbeat): "HeartbeatPing " + shown(heartbeat)
        case .heartbeatAck(let heartbeat): "HeartbeatAck " + shown(heartbeat)
        case .iq(let iq): "IqStanza " + shown(iq)
        case .dataMessage(let message): "DataMessageStanza " + shown(message)
        case .close: "Close {}"
        case .streamError: "StreamErrorStanza {…}"
        }
    }

    /// Encodes a record of pairs as a body.
    static func body(_ value: DeviceValue?) -> [UInt8] {
        var body = ByteBuffer()
        for field in value?.fields ?? [] {
            let (key, value) = (Array(field.name.utf8), field.value.bytes ?? [])
            AppData.append(key: key.raw, value: value.raw, to: &body)
        }
        return body.copied()
    }

    /// Decodes a body to a record of pairs.
    static func pairs(_ body: [UInt8]) -> DeviceValue {
        var fields: [DeviceField] = []
        try? AppData.forEach(in: body.raw) { key, value in
            fields.append(
                DeviceField(
                    String(decoding: [UInt8](copying: key), as: UTF8.self), text([UInt8](copying: value))))
        }
        return .record(fields)
    }

    static func text(_ bytes: [UInt8]) -> DeviceValue { .text(String(decoding: bytes, as: UTF8.self)) }

    private static func int32(_ value: DeviceValue?) -> Int32? { value?.integer.map { Int32(clamping: $0) } }

    private static func login(_ value: DeviceValue) -> MCS.LoginRequest {
        var login = MCS.LoginRequest()
        login.id = value["id"]?.bytes ?? []
        login.domain = value["domain"]?.bytes ?? Array("mcs.android.com".utf8)
        login.user = value["user"]?.bytes ?? []
        login.resource = value["resource"]?.bytes ?? login.user
        login.authToken = value["auth_token"]?.bytes ?? []
        login.receivedIDs = value["received_persistent_id"]?.items.compactMap(\.bytes) ?? []
        login.settings =
            value["setting"]?.fields.map {
                MCS.Setting(name: Array($0.name.utf8), value: $0.value.bytes ?? [])
            } ?? []
        login.deviceID = value["device_id"]?.bytes
        login.adaptiveHeartbeat = value["adaptive_heartbeat"]?.boolean
        login.networkType = int32(value["network_type"])
        login.usesRMQ2 = value["use_rmq2"]?.boolean
        login.authService = int32(value["auth_service"])
        login.status = value["status"]?.integer
        login.heartbeatStat = int32(value["heartbeat_interval_ms"]).map {
            MCS.HeartbeatStat(hasTimedOut: true, intervalMilliseconds: $0)
        }
        return login
    }

    private static func heartbeat(_ value: DeviceValue) -> MCS.Heartbeat {
        MCS.Heartbeat(
            streamID: int32(value["stream_id"]),
            lastStreamIDReceived: int32(value["last_stream_id_received"]),
            status: value["status"]?.integer)
    }

    private static func iq(_ value: DeviceValue) -> MCS.IqStanza {
        var content = MCS.IqStanza.Content.other
        switch value["extension"] {
        case .word("StreamAck")?: content = .streamAck
        case .word("SelectiveAck"): content = .selectiveAck(value["ids"]?.items.compactMap(\.bytes) ?? [])
        default: break
        }
        var iq = MCS.IqStanza(content, lastStreamIDReceived: int32(value["last_stream_id_received"]))
        iq.id = value["id"]?.bytes ?? []
        iq.streamID = int32(value["stream_id"])
        return iq
    }

    private static func dataMessage(_ value: DeviceValue) throws -> MCS.DataMessage {
        var message = MCS.DataMessage()
        message.id = value["id"]?.bytes
        message.from = value["from"]?.bytes ?? Array("gcm@chrome.com".utf8)
        message.to = value["to"]?.bytes
        message.category = value["category"]?.bytes ?? []
        message.token = value["token"]?.bytes
        message.body = body(value["app_data"])
        message.persistentID = value["persistent_id"]?.bytes
        message.streamID = int32(value["stream_id"])
        message.lastStreamIDReceived = int32(value["last_stream_id_received"])
        message.registrationID = value["reg_id"]?.bytes
        message.timeToLive = int32(value["ttl"])
        message.sent = value["sent"]?.integer
        message.queued = int32(value["queued"])
        message.rawData = value["raw_data"]?.bytes
        return message
    }
}

/// The lines of messages that the server sends.
extension DeviceMessages {
    private typealias Fields = [DeviceField]

    private static func add(_ name: String, _ value: DeviceValue?, to fields: inout Fields) {
        if let value { fields.append(DeviceField(name, value)) }
    }

    private static func number(_ value: Int32?) -> DeviceValue? { value.map { .number(Int64($0)) } }

    private static func shown(_ response: MCS.LoginResponse) -> String {
        var fields: Fields = [DeviceField("id", text(response.id))]
        add("jid", response.jid.map(text), to: &fields)
        if let error = response.error {
            let code = DeviceField("code", .number(Int64(error.code)))
            let words = DeviceField("message", text(error.message ?? []))
            add("error", .record([code, words]), to: &fields)
        }
        add("stream_id", number(response.streamID), to: &fields)
        add("last_stream_id_received", number(response.lastStreamIDReceived), to: &fields)
        if let interval = response.heartbeatConfig?.intervalMilliseconds {
            let config = DeviceField("interval_ms", .number(Int64(interval)))
            fields.append(DeviceField("heartbeat_config", .record([config])))
        }
        add("server_timestamp", response.serverTimestamp.map { .number($0) }, to: &fields)
        return DeviceValue.record(fields).shown
    }

    private static func shown(_ heartbeat: MCS.Heartbeat) -> String {
        var fields: Fields = []
        add("stream_id", number(heartbeat.streamID), to: &fields)
        add("last_stream_id_received", number(heartbeat.lastStreamIDReceived), to: &fields)
        add("status", heartbeat.status.map { .number($0) }, to: &fields)
        return DeviceValue.record(fields).shown
    }

    private static func shown(_ iq: MCS.IqStanza) -> String {
        var fields: Fields = []
        switch iq.content {
        case .other: break
        case .streamAck: fields.append(DeviceField("extension", .word("StreamAck")))
        case .selectiveAck(let ids):
            fields.append(DeviceField("extension", .word("SelectiveAck")))
            fields.append(DeviceField("ids", .list(ids.map(text))))
        }
        add("last_stream_id_received", number(iq.lastStreamIDReceived), to: &fields)
        return DeviceValue.record(fields).shown
    }

    private static func shown(_ message: MCS.DataMessage) -> String {
        var fields: Fields = []
        add("id", message.id.map(text), to: &fields)
        fields.append(DeviceField("from", text(message.from)))
        add("to", message.to.map(text), to: &fields)
        fields.append(DeviceField("category", text(message.category)))
        add("token", message.token.map(text), to: &fields)
        fields.append(DeviceField("app_data", pairs(message.body)))
        add("from_trusted_server", message.fromTrustedServer.map { .truth($0) }, to: &fields)
        add("persistent_id", message.persistentID.map(text), to: &fields)
        add("stream_id", number(message.streamID), to: &fields)
        add("last_stream_id_received", number(message.lastStreamIDReceived), to: &fields)
        add("ttl", number(message.timeToLive), to: &fields)
        add("sent", message.sent.map { .number($0) }, to: &fields)
        add("raw_data", message.rawData.map { text(Array(Hex.text($0).utf8)) }, to: &fields)
        add("immediate_ack", message.immediateAck.map { .truth($0) }, to: &fields)
        return DeviceValue.record(fields).shown
    }
}
