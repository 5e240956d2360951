import Basics
import Delivery
import Wire

/// What the answer to a request for an installation, or for an access token of one, needs beside the core's record.
struct InstallationAnswer {
    /// The project in the path.
    var project: [UInt8]
    /// The refresh tokens to choose from by the digest in the record; empty if only an access token is requested.
    var refresh: [(token: [UInt8], digest: SecretDigest)]
}

/// Firebase installations (mcs-device 5.5).
///
/// The core stores the owners of IDs and the digests of refresh tokens; the tokens themselves are created here.
extension HTTPSession {
    /// Creates an installation with the ID that it chose, normalised, or with a fresh one if the ID belongs to another.
    func createInstallation(
        _ request: HTTPRequest, _ project: [UInt8], _ requester: Requester, _ now: Now, _ io: inout SessionIO
    ) throws(RequestFault) -> Outcome {
        try Self.checkProject(project)
        let body = try Self.json(request)
        let sender = try Self.appSender(body["appId"])
        let fresh = freshInstallationID()
        let wanted = Self.normalised(Array((body["fid"]?.text ?? "").utf8)) ?? fresh
        var answer = InstallationAnswer(project: project, refresh: [])
        for id in wanted == fresh ? [wanted] : [wanted, fresh] {
            let token = refreshToken(id, sender)
            answer.refresh.append((token, settings.digest(token)))
        }
        var offer = InstallationOffer(
            refresh: answer.refresh[0].digest,
            other: wanted == fresh ? nil : (fresh, answer.refresh[1].digest))
        let authorization = request.header("authorization")
        if let login = DeviceCredentials(header: authorization) {
            offer.device = (DeviceID(login.device), digest(ofToken: login.token))
        } else if let shown = try? shownRefreshToken(authorization), shown.decoded.installation == wanted {
            offer.shown = settings.digest(shown.text)
            answer.refresh.append((shown.text, settings.digest(shown.text)))
        }
        io.events.append(
            .installation(
                InstallationRequest(
                    requester: requester, installation: wanted, sender: sender, action: .create(offer))))
        return .wait(.installation(answer))
    }

    /// A request that is authenticated by the refresh token of an installation.
    enum InstallationChange {
        /// Grants an access token.
        case token
        /// Deletes the installation and its registrations.
        case deletion
    }

    /// Passes a request of an installation to the core, with the digest of its refresh token as proof.
    func changeInstallation(
        _ request: HTTPRequest, _ captured: [[UInt8]], _ change: InstallationChange, _ requester: Requester,
        _ io: inout SessionIO
    ) throws(RequestFault) -> Outcome {
        try Self.checkProject(captured[0])
        let (known, text) = try refreshToken(request, captured[1])
        let digest = settings.digest(text)
        let (action, question): (InstallationRequest.Action, HTTPPendingRequests.Question) =
            switch change {
            case .token:
                (.refresh(digest), .installation(InstallationAnswer(project: captured[0], refresh: [])))
            case .deletion: (.end(digest), .done(Array("{}".utf8)))
            }
        io.events.append(
            .installation(
                InstallationRequest(
                    requester: requester, installation: known.installation, sender: known.sender,
                    action: action)))
        return .wait(question)
    }

    /// Returns the answer with an installation, or only with an access token of it.
    func installationResponse(_ record: InstallationRecord, _ answer: InstallationAnswer, _ now: Now)
        -> HTTPResponse
    {
        var body = ByteBuffer()
        guard let refresh = answer.refresh.first(where: { $0.digest == record.refresh }) else {
            appendAccess(record, now, to: &body)
            return HTTPResponse(.ok, HTTPResponse.json, body.copied())
        }
        body.append("{\"name\":\"projects/")
        body.append(answer.project)
        body.append("/installations/")
        body.append(record.id)
        body.append("\",\"fid\":\"")
        body.append(record.id)
        body.append("\",\"refreshToken\":\"")
        body.append(refresh.token)
        body.append("\",\"authToken\":")
        appendAccess(record, now, to: &body)
        body.append("}")
        return HTTPResponse(.ok, HTTPResponse.json, body.copied())
    }

    /// Returns the error for a refused refresh token; SDKs create a new installation after 401 or 404.
    static func installationFault(_ refusal: RegistrationRefusal) -> RequestFault {
        switch refusal {
        case .authenticationFailed:
            RequestFault(.unauthorized, "wrong refresh token for this installation")
        case .notRegistered: RequestFault(.notFound, "The installation does not exist or was deleted.")
        default: fault(refusal)
        }
    }

    /// Returns the installation of an app's request, or `nil` without an access token (mcs-device 5.6).
    func installation(_ request: HTTPRequest, _ now: Now) throws(RequestFault) -> InstallationToken? {
        guard let text = request.header("x-goog-firebase-installations-auth"), !text.isEmpty else {
            return nil
        }
        guard let token = accessToken(text) else {
            throw RequestFault(
                .unauthorized, "invalid x-goog-firebase-installations-auth: expected a token of this server")
        }
        guard token.expiresAt > now.wall else {
            throw RequestFault(
                .unauthorized, "x-goog-firebase-installations-auth: the token has expired.")
        }
        return token
    }

    /// Decodes an access token, with or without its scheme. Returns `nil` if it was not issued by this server.
    func accessToken(_ text: [UInt8]) -> InstallationToken? {
        let scheme = Array("FIS ".utf8)
        let bare = text.starts(with: scheme) ? Array(text.dropFirst(scheme.count)) : text
        guard let token = settings.seal.installationToken(bare.raw), token.purpose == .access else {
            return nil
        }
        return token
    }

    // MARK: Parts

    /// Returns the refresh token in `Authorization`, which must belong to the installation in the path.
    private func refreshToken(
        _ request: HTTPRequest, _ fid: [UInt8]
    ) throws(RequestFault) -> (decoded: InstallationToken, text: [UInt8]) {
        let shown = try shownRefreshToken(request.header("authorization"))
        // One client sends these five characters literally in place of the ID.
        guard fid == Array("{fid}".utf8) || Self.normalised(fid) == shown.decoded.installation else {
            throw RequestFault(.notFound, "The refresh token belongs to another installation.")
        }
        return shown
    }

    /// Returns the refresh token in `Authorization`.
    private func shownRefreshToken(
        _ header: [UInt8]?
    ) throws(RequestFault) -> (decoded: InstallationToken, text: [UInt8]) {
        let scheme = Array("FIS_v2 ".utf8)
        guard let header, header.starts(with: scheme) else {
            throw RequestFault(.unauthorized, "invalid Authorization: expected FIS_v2 and a refresh token")
        }
        let text = Array(header.dropFirst(scheme.count))
        guard let token = settings.seal.installationToken(text.raw), token.purpose == .refresh else {
            throw RequestFault(
                .unauthorized, "invalid Authorization: expected a refresh token of this server")
        }
        return (token, text)
    }

    /// Appends a fresh access token as a JSON object.
    private func appendAccess(_ record: InstallationRecord, _ now: Now, to answer: inout ByteBuffer) {
        let token = InstallationToken(
            purpose: .access, installation: record.id, sender: record.sender,
            expiresAt: now.wall + Int64(Limits.Installation.tokenSeconds) * 1_000, mark: record.mark ?? 0)
        answer.append("{\"token\":\"")
        answer.append(settings.seal.text(of: token))
        answer.append("\",\"expiresIn\":\"")
        answer.append(decimal: Limits.Installation.tokenSeconds)
        answer.append("s\"}")
    }

    private func refreshToken(_ id: [UInt8], _ sender: SenderID?) -> [UInt8] {
        settings.seal.text(
            of: InstallationToken(
                purpose: .refresh, installation: id, sender: sender, expiresAt: .max,
                mark: settings.random()))
    }

    /// Returns the project number in an app ID such as `1:123:web:abc`, or `nil` if there is none.
    private static func appSender(_ appID: JSONValue?) throws(RequestFault) -> SenderID? {
        switch appID {
        case nil, .null: return nil
        case .string(let text):
            let parts = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            guard parts.count >= 2, parts[0].elementsEqual("1".utf8) else { return nil }
            return SenderID(decimal: parts[1])
        default: throw RequestFault(.badRequest, "invalid appId: expected a string")
        }
    }

    /// Parses the body of a request of a JSON interface, which is always an object.
    static func json(_ request: HTTPRequest) throws(RequestFault) -> JSONValue {
        let body: JSONValue
        do throws(JSONError) {
            body = try JSONValue(parsing: request.body.raw)
        } catch {
            throw RequestFault(.badRequest, "invalid body: expected JSON")
        }
        guard body.members != nil else {
            throw RequestFault(.badRequest, "invalid body: expected a JSON object")
        }
        return body
    }

    /// Returns the installation that an app server sends in place of a token (http 8.2, 8.7), or `nil` if the text is not one.
    static func installation(_ text: [UInt8]) -> [UInt8]? {
        text.count == InstallationToken.idLength ? normalised(text) : nil
    }

    /// Normalises an installation ID to 22 characters of base64url; libraries send 24 of the standard alphabet.
    static func normalised(_ fid: [UInt8]) -> [UInt8]? {
        guard fid.count >= InstallationToken.idLength else { return nil }
        var proper: [UInt8] = []
        for byte in fid.prefix(InstallationToken.idLength) {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"):
                proper.append(byte)
            case UInt8(ascii: "+"): proper.append(UInt8(ascii: "-"))
            case UInt8(ascii: "/"): proper.append(UInt8(ascii: "_"))
            default: return nil
            }
        }
        return proper
    }

    /// Refuses a malformed project name or number; it is repeated in answers without escaping.
    static func checkProject(_ name: [UInt8]) throws(RequestFault) {
        let isName =
            name.count <= Limits.Installation.projectNameBytes
            && name.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"),
                    UInt8(ascii: "."), UInt8(ascii: ":"):
                    true
                default: false
                }
            }
        guard isName else {
            throw RequestFault(
                .badRequest, "invalid project in the path: expected only the characters A-Z a-z 0-9 - _ . :")
        }
    }

    /// Returns a random installation ID: 17 bytes whose first four bits are 0111, as base64url.
    private func freshInstallationID() -> [UInt8] {
        var bytes = (0..<3).flatMap { _ in
            let word = settings.random()
            return (0..<8 as Range<UInt64>).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
        }
        bytes[0] = 0x70 | bytes[0] & 0x0F
        return Array(
            Base64.text(bytes, urlSafe: true, padded: false).utf8.prefix(InstallationToken.idLength))
    }
}
