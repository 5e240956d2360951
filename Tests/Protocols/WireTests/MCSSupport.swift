import Basics
import BasicsSupport
import Wire
import WireSupport

/// Returns the bytes of hexadecimal text; whitespace is ignored.
func mcsBytes(_ text: String) -> [UInt8] { Hex.bytes(text.filter { !$0.isWhitespace }) ?? [] }

/// Returns the UTF-8 of text.
func mcsText(_ text: String) -> [UInt8] { Array(text.utf8) }

/// Returns the encoded frame of a message.
func mcsWritten(_ message: MCS.Message) -> [UInt8] {
    var buffer = ByteBuffer()
    message.append(to: &buffer)
    return buffer.copied()
}

/// Returns the frames of a stream received in pieces of the given sizes, the last size repeated.
func mcsFrames(
    of stream: [UInt8], cutAt cuts: [Int] = [], limit: Int = Limits.MCS.frameBytes
) throws(MCSError) -> [(tag: UInt8, message: [UInt8])] {
    var reader = MCS.FrameReader(limit: limit)
    var frames: [(tag: UInt8, message: [UInt8])] = []
    var start = 0
    for end in cuts + [stream.count] {
        try reader.read(stream.raw.extracting(start..<end)) { tag, message in
            frames.append((tag, [UInt8](copying: message)))
            return true
        }
        start = end
    }
    return frames
}

/// One of each message, with every known field.
enum MCSSamples {
    static let login: MCS.LoginRequest = {
        var login = MCS.LoginRequest()
        login.id = mcsText("chrome-156.0.8078.79")
        login.domain = mcsText("mcs.android.com")
        login.user = mcsText("5000000000000000001")
        login.resource = mcsText("5000000000000000001")
        login.authToken = mcsText("-42")
        login.deviceID = mcsText("android-4563918244f40001")
        login.settings = [MCS.Setting(name: mcsText("new_vc"), value: mcsText("1"))]
        login.receivedIDs = [mcsText("0:1438098844346796%c5da679ff9fd7ecd"), mcsText("up-1")]
        login.adaptiveHeartbeat = false
        login.heartbeatStat = MCS.HeartbeatStat(hasTimedOut: true, intervalMilliseconds: 10_000)
        login.usesRMQ2 = true
        login.authService = 2
        login.networkType = 1
        login.status = -1
        return login
    }()

    static let response: MCS.LoginResponse = {
        var response = MCS.LoginResponse()
        response.id = mcsText("chrome")
        response.jid = mcsText("1@mcs.android.com/1")
        response.error = MCS.ErrorInfo(code: 401, message: mcsText("no"), type: mcsText("auth"))
        response.streamID = 1
        response.lastStreamIDReceived = 1
        response.heartbeatConfig = MCS.HeartbeatConfig(
            uploadsStat: true, ip: mcsText("::1"), intervalMilliseconds: 60_000)
        response.serverTimestamp = 1_438_098_844_346
        return response
    }()

    static let message: MCS.DataMessage = {
        var message = MCS.DataMessage()
        message.id = mcsText("0000002A")
        message.from = mcsText("123456789")
        message.to = mcsText("123456789@gcm.googleapis.com")
        message.category = mcsText("com.example.app")
        message.token = mcsText("do_not_collapse")
        var body = ByteBuffer()
        AppData.append(key: "k", value: [1, 2, 3].raw, to: &body)
        AppData.append(key: "", text: "", to: &body)
        message.body = body.copied()
        message.fromTrustedServer = false
        message.persistentID = mcsText("0:1%c5da679ff9fd7ecd")
        message.streamID = 7
        message.lastStreamIDReceived = 3
        message.registrationID = mcsText("reg")
        message.timeToLive = 60
        message.sent = 1_455_265_806_071
        message.queued = 0
        message.status = 1
        message.rawData = [0, 255]
        message.immediateAck = true
        return message
    }()

    static let all: [MCS.Message] = [
        .heartbeatPing(MCS.Heartbeat()),
        .heartbeatAck(MCS.Heartbeat(streamID: -1, lastStreamIDReceived: .max, status: .min)),
        .loginRequest(login), .loginResponse(response), .close(MCS.Close()),
        .iq(MCS.IqStanza(.streamAck, lastStreamIDReceived: 42)), .iq(MCS.IqStanza(.selectiveAck([]))),
        .iq(MCS.IqStanza(.selectiveAck([mcsText("a"), [], mcsText("b")]))), .iq(MCS.IqStanza(.other)),
        .dataMessage(message), .dataMessage(MCS.DataMessage()),
        .streamError(MCS.StreamError(type: mcsText("t"), text: mcsText("x"))),
    ]
}

/// Decodes a message from bytes, which the expectation macros cannot borrow.
func mcsMessage(tag: MCS.Tag, _ bytes: [UInt8]) throws(MCSError) -> MCS.Message? {
    try MCS.Message(tag: tag.rawValue, decoding: bytes.raw)
}

/// Decodes a message from hexadecimal text.
func mcsMessage(tag: MCS.Tag, _ text: String) throws(MCSError) -> MCS.Message? {
    try mcsMessage(tag: tag, mcsBytes(text))
}

/// Returns the first message of a stream without its version byte.
func mcsFirstMessage(of stream: [UInt8]) throws(MCSError) -> MCS.Message? {
    guard let frame = try mcsFrames(of: [MCS.version] + stream).first else { return nil }
    return try MCS.Message(tag: frame.tag, decoding: frame.message.raw)
}

/// Returns the number of bytes of keys and values in a body.
func mcsPayloadBytes(_ text: String) throws(MCSError) -> Int {
    let body = mcsBytes(text)
    return try AppData.payloadBytes(of: body.raw)
}

/// Returns the number at the start of bytes, and its encoded length.
func mcsVarint(_ bytes: [UInt8]) throws(MCSError) -> (UInt64, Int) {
    var at = 0
    let value = try Varint.read(bytes.raw, at: &at)
    return (value, at)
}
