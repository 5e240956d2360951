import Basics
import Compression
import Delivery
import Wire

/// The form of the answer to a check-in.
enum CheckInForm {
    /// Protobuf, compressed if the request was, because microG always decompresses.
    case protobuf(isCompressed: Bool, digest: String)
    /// JSON, which iOS requests.
    case json(digest: String)
}

extension HTTPSession {
    /// Checks a device in: it keeps its Android ID and security token, or gets new ones (mcs-device 5.1).
    func checkIn(
        _ request: HTTPRequest, _ requester: Requester, _ io: inout SessionIO
    ) throws(RequestFault) -> Outcome {
        let (message, form) = try Self.checkInMessage(request)
        let isKnown = message.androidID != 0 && message.securityToken != 0
        let freshToken = freshNumber()
        let checkIn = CheckIn(
            requester: requester,
            claimed: isKnown
                ? (DeviceID(message.androidID), digest(ofToken: message.securityToken)) : nil,
            freshDevice: DeviceID(freshNumber()), freshToken: freshToken,
            freshDigest: digest(ofToken: freshToken), refusesWrongToken: request.isFromChromium)
        io.events.append(.checkIn(checkIn))
        return .wait(.checkIn(given: isKnown ? message.securityToken : nil, form))
    }

    private static func checkInMessage(
        _ request: HTTPRequest
    ) throws(RequestFault) -> (CheckInRequest, CheckInForm) {
        // A JSON check-in starts with a brace, which a protobuf one never does.
        if request.body.first == UInt8(ascii: "{") {
            guard let json = try? JSONValue(parsing: request.body.raw),
                let message = CheckInRequest(json: json)
            else { throw RequestFault(.badRequest, "invalid body: expected a check-in request") }
            return (message, .json(digest: message.digest))
        }
        do throws(MCSError) {
            let message = try CheckInRequest(decoding: request.body.raw)
            return (message, .protobuf(isCompressed: request.isCompressed, digest: message.digest))
        } catch {
            throw RequestFault(.badRequest, "invalid body: expected a check-in request")
        }
    }

    /// Returns the answer to a successful check-in.
    func checkedIn(_ device: DeviceID, token: UInt64, _ form: CheckInForm, _ now: Now) -> HTTPResponse {
        var answer = CheckInResponse(time: now.wall, androidID: device.number, securityToken: token)
        var body = ByteBuffer()
        switch form {
        case .json(let digest):
            answer.setSettings(settings.checkIn, known: digest)
            answer.json.append(to: &body)
            return HTTPResponse(.ok, HTTPResponse.json, body.copied())
        case .protobuf(let isCompressed, let digest):
            answer.setSettings(settings.checkIn, known: digest)
            answer.append(to: &body)
            let plain = body.copied()
            guard isCompressed, let packed = Gzip.compressed(plain) else {
                return HTTPResponse(.ok, "application/x-protobuffer", plain)
            }
            return HTTPResponse(
                .ok, "application/x-protobuffer", packed, extra: ("Content-Encoding", "gzip"))
        }
    }

    /// Returns the digest of a security token's decimal text, which is stored and compared in place of the token.
    func digest(ofToken token: UInt64) -> SecretDigest {
        settings.digest(Array(String(token).utf8))
    }

    /// Returns an unpredictable number in 2^59 … 2^63-1: positive and with 18 or 19 digits, as old clients need.
    func freshNumber() -> UInt64 { Self.deviceNumber(settings.random()) }

    /// Maps a number to that range, preserving a uniform distribution.
    static func deviceNumber(_ number: UInt64) -> UInt64 {
        let lowest: UInt64 = 1 << 59
        return lowest + number.multipliedFullWidth(by: 15 << 59).high
    }
}

extension CheckInResponse {
    /// Adds the settings that the server offers, if any (mcs-device 5.1).
    ///
    /// A client that sends their digest has them already, and is only notified that nothing differs.
    mutating func setSettings(_ offered: CheckInSettings?, known: String) {
        guard let offered else { return }
        digest = offered.digest
        isDifference = known == offered.digest
        settings = isDifference == true ? [] : offered.pairs
    }
}

extension HTTPRequest {
    /// Whether the client is Chromium or a browser based on it: unlike other clients, it starts over when refused.
    var isFromChromium: Bool {
        guard let agent = header("user-agent") else { return false }
        let text = String(decoding: agent, as: UTF8.self)
        return text.contains("Chrome/") || text.contains("Chromium/")
    }
}
