import Basics
import Delivery
import Wire

/// Firebase installations (mcs-device 5.5).
///
/// Nothing of them is stored: their tokens are sealed by us and say all that is asked of them. What an installation has
/// registered is found by its id.
extension HTTPSession {
    /// An installation is made; it keeps the id that it chose, in its proper form.
    func createInstallation(
        _ request: HTTPRequest, _ project: [UInt8], _ now: Now
    ) throws(RequestFault) -> Outcome {
        try Self.checkProject(project)
        let body = try Self.json(request)
        let sender = try Self.appSender(body["appId"])
        let fid = Self.normalised(Array((body["fid"]?.text ?? "").utf8)) ?? freshInstallationID()
        let refresh = token(.refresh, fid, sender, now)
        var answer = ByteBuffer()
        answer.append("{\"name\":\"projects/")
        answer.append(project)
        answer.append("/installations/")
        answer.append(fid)
        answer.append("\",\"fid\":\"")
        answer.append(fid)
        answer.append("\",\"refreshToken\":\"")
        answer.append(refresh)
        answer.append("\",\"authToken\":")
        appendAccess(fid, sender, now, to: &answer)
        answer.append("}")
        return .answer(HTTPResponse(.ok, HTTPResponse.json, answer.copied()))
    }

    /// An installation shows its refresh token, and gets an access token.
    func generateToken(
        _ request: HTTPRequest, _ captured: [[UInt8]], _ now: Now
    ) throws(RequestFault) -> Outcome {
        try Self.checkProject(captured[0])
        let known = try refreshToken(request, captured[1])
        var answer = ByteBuffer()
        appendAccess(known.installation, known.sender, now, to: &answer)
        return .answer(HTTPResponse(.ok, HTTPResponse.json, answer.copied()))
    }

    /// An installation ends, and with it what it has registered.
    func deleteInstallation(
        _ request: HTTPRequest, _ captured: [[UInt8]], _ origin: Origin, _ io: inout SessionIO
    ) throws(RequestFault) -> Outcome {
        try Self.checkProject(captured[0])
        let known = try refreshToken(request, captured[1])
        io.events.append(
            .installation(
                InstallationRequest(
                    origin: origin, installation: known.installation, sender: known.sender, action: .remove)))
        return .wait(.done(Array("{}".utf8)))
    }

    /// The installation that a request of an app is made for; nil where it shows no token (mcs-device 5.6).
    func installation(_ request: HTTPRequest, _ now: Now) throws(RequestFault) -> InstallationToken? {
        guard var text = request.header("x-goog-firebase-installations-auth"), !text.isEmpty else {
            return nil
        }
        let scheme = Array("FIS ".utf8)
        if text.starts(with: scheme) { text.removeFirst(scheme.count) }
        guard let token = settings.seal.installationToken(text.raw), token.purpose == .access else {
            throw RequestFault(
                .unauthorized, "x-goog-firebase-installations-auth: the token was not made here.")
        }
        guard token.expiresAt > now.wall else {
            throw RequestFault(
                .unauthorized, "x-goog-firebase-installations-auth: the token has expired.")
        }
        return token
    }

    // MARK: Parts

    /// The refresh token in `Authorization`, which must be that of the installation in the path.
    private func refreshToken(
        _ request: HTTPRequest, _ fid: [UInt8]
    ) throws(RequestFault) -> InstallationToken {
        let scheme = Array("FIS_v2 ".utf8)
        guard let header = request.header("authorization"), header.starts(with: scheme) else {
            throw RequestFault(.unauthorized, "Authorization: there is no FIS_v2 and a refresh token.")
        }
        let text = Array(header.dropFirst(scheme.count))
        guard let token = settings.seal.installationToken(text.raw), token.purpose == .refresh else {
            throw RequestFault(.unauthorized, "Authorization: the refresh token was not made here.")
        }
        // One client sends these very five characters in place of the id.
        guard fid == Array("{fid}".utf8) || Self.normalised(fid) == token.installation else {
            throw RequestFault(.notFound, "The refresh token is that of another installation.")
        }
        return token
    }

    /// Appends an access token as its answers hold it.
    private func appendAccess(
        _ fid: [UInt8], _ sender: SenderID, _ now: Now, to answer: inout ByteBuffer
    ) {
        answer.append("{\"token\":\"")
        answer.append(token(.access, fid, sender, now))
        answer.append("\",\"expiresIn\":\"")
        answer.append(decimal: Limits.installationTokenSeconds)
        answer.append("s\"}")
    }

    private func token(
        _ purpose: InstallationToken.Purpose, _ fid: [UInt8], _ sender: SenderID, _ now: Now
    ) -> [UInt8] {
        let end = now.wall + Int64(Limits.installationTokenSeconds) * 1_000
        let token = InstallationToken(
            purpose: purpose, installation: fid, sender: sender,
            expiresAt: purpose == .access ? end : .max)
        return settings.seal.text(of: token, nonce: settings.random())
    }

    /// The project's number in an app id such as `1:123:web:abc`; 0 where there is no such id.
    private static func appSender(_ appID: JSONValue?) throws(RequestFault) -> SenderID {
        switch appID {
        case nil, .null: return SenderID(0)
        case .string(let text):
            let parts = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            guard parts.count >= 2, parts[0].elementsEqual("1".utf8) else { return SenderID(0) }
            return SenderID(decimal: parts[1]) ?? SenderID(0)
        default: throw RequestFault(.badRequest, "appId: it is no text.")
        }
    }

    /// The body of a JSON interface, which is always an object.
    static func json(_ request: HTTPRequest) throws(RequestFault) -> JSONValue {
        let body: JSONValue
        do throws(JSONError) {
            body = try JSONValue(parsing: request.body.raw)
        } catch {
            throw RequestFault(.badRequest, "The body is no JSON.")
        }
        guard body.members != nil else { throw RequestFault(.badRequest, "The body is no JSON object.") }
        return body
    }

    /// The installation that an app server names in place of a token (http 8.2, 8.7); nil for what cannot be one.
    static func installation(_ text: [UInt8]) -> [UInt8]? {
        text.count == InstallationToken.idLength ? normalised(text) : nil
    }

    /// An installation id in its proper form, 22 characters of base64url; libraries send 24 of the other alphabet.
    static func normalised(_ fid: [UInt8]) -> [UInt8]? {
        guard fid.count >= InstallationToken.idLength else { return nil }
        var proper: [UInt8] = []
        for octet in fid.prefix(InstallationToken.idLength) {
            switch octet {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"):
                proper.append(octet)
            case UInt8(ascii: "+"): proper.append(UInt8(ascii: "-"))
            case UInt8(ascii: "/"): proper.append(UInt8(ascii: "_"))
            default: return nil
            }
        }
        return proper
    }

    /// Refuses a project whose name or number cannot be one; it returns in answers, so nothing odd may be in it.
    static func checkProject(_ name: [UInt8]) throws(RequestFault) {
        let isName =
            name.count <= Limits.projectNameBytes
            && name.allSatisfy { octet in
                switch octet {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"),
                    UInt8(ascii: "."), UInt8(ascii: ":"):
                    true
                default: false
                }
            }
        guard isName else { throw RequestFault(.badRequest, "The path names no project.") }
    }

    /// 17 octets, of which the first four bits say that it is an installation id.
    private func freshInstallationID() -> [UInt8] {
        var octets = (0..<3).flatMap { _ in
            let word = settings.random()
            return (0..<8 as Range<UInt64>).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
        }
        octets[0] = 0x70 | octets[0] & 0x0F
        return Array(
            Base64.text(octets, urlSafe: true, padded: false).utf8.prefix(InstallationToken.idLength))
    }
}
