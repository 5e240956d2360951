import Basics
import Compression
import Delivery
import Wire

/// How a check-in is answered.
enum CheckInForm {
    /// In protobuf; packed where the request was, since microG unpacks whatever comes.
    case protobuf(isCompressed: Bool, digest: String)
    /// In JSON, as iOS asks.
    case json(digest: String)
}

extension HTTPSession {
    /// A device checks in: it keeps the numbers that it has, or gets fresh ones (mcs-device 5.1).
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
        // No protobuf check-in begins with a brace, and no JSON with anything else.
        if request.body.first == UInt8(ascii: "{") {
            guard let json = try? JSONValue(parsing: request.body.raw),
                let message = CheckInRequest(json: json)
            else { throw RequestFault(.badRequest, "The body is no check-in.") }
            return (message, .json(digest: message.digest))
        }
        do throws(MCSError) {
            let message = try CheckInRequest(decoding: request.body.raw)
            return (message, .protobuf(isCompressed: request.isCompressed, digest: message.digest))
        } catch {
            throw RequestFault(.badRequest, "The body is no check-in.")
        }
    }

    /// The answer to a check-in that went well.
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

    /// What is stored and compared in place of a security token: the digest of its decimal text.
    func digest(ofToken token: UInt64) -> SecretDigest {
        settings.digest(Array(String(token).utf8))
    }

    /// A number in 2^59 … 2^63-1 that nobody can guess: positive and of 18 or 19 digits, as old clients need it.
    func freshNumber() -> UInt64 { Self.deviceNumber(settings.random()) }

    /// One of those numbers, as even as what it is made from.
    static func deviceNumber(_ number: UInt64) -> UInt64 {
        let lowest: UInt64 = 1 << 59
        return lowest + number.multipliedFullWidth(by: 15 << 59).high
    }
}

extension CheckInResponse {
    /// Adds what a client is to change in its settings; nothing where the server has none to tell (mcs-device 5.1).
    ///
    /// A client that has them already says so by their digest, and hears only that nothing differs.
    mutating func setSettings(_ offered: CheckInSettings?, known: String) {
        guard let offered else { return }
        digest = offered.digest
        isDifference = known == offered.digest
        settings = isDifference == true ? [] : offered.pairs
    }
}

extension HTTPRequest {
    /// Whether Chromium or a browser built on it asks: it starts afresh when refused, as other clients do not.
    var isFromChromium: Bool {
        guard let agent = header("user-agent") else { return false }
        let text = String(decoding: agent, as: UTF8.self)
        return text.contains("Chrome/") || text.contains("Chromium/")
    }
}
