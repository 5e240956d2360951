import Basics
import Delivery
import Wire

extension HTTPSession {
    /// A device checks in: it keeps the numbers that it has, or gets fresh ones (mcs-device 5.1).
    func checkIn(
        _ request: HTTPRequest, _ origin: Origin, _ io: inout SessionIO
    ) throws(RequestFault) -> Outcome {
        let message: CheckInRequest
        do throws(MCSError) {
            message = try CheckInRequest(decoding: request.body.raw)
        } catch {
            throw RequestFault(.badRequest, "The body is no check-in.")
        }
        let isKnown = message.androidID != 0 && message.securityToken != 0
        let freshToken = freshNumber()
        let checkIn = CheckIn(
            origin: origin,
            claimed: isKnown
                ? (DeviceID(message.androidID), digest(ofToken: message.securityToken)) : nil,
            freshDevice: DeviceID(freshNumber()), freshToken: freshToken,
            freshDigest: digest(ofToken: freshToken), refusesWrongToken: request.isFromChromium)
        io.events.append(.checkIn(checkIn))
        return .wait(.checkIn(given: isKnown ? message.securityToken : nil))
    }

    /// The answer to a check-in that went well.
    func checkedIn(_ device: DeviceID, token: UInt64, _ now: Now) -> HTTPResponse {
        var body = ByteBuffer()
        CheckInResponse(time: now.wall, androidID: device.number, securityToken: token).append(to: &body)
        return HTTPResponse(.ok, "application/x-protobuffer", body.copied())
    }

    /// What is stored and compared in place of a security token: the digest of its decimal text.
    func digest(ofToken token: UInt64) -> SecretDigest {
        settings.digest(Array(String(token).utf8))
    }

    /// A number in 2^59 … 2^63-1 that nobody can guess: positive and of 18 or 19 digits, as old clients need it.
    private func freshNumber() -> UInt64 {
        let lowest: UInt64 = 1 << 59
        return lowest + settings.random().multipliedFullWidth(by: 15 << 59).high
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
