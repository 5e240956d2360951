import Basics
import Delivery
import Wire

/// What the answer to a web app contains beside the token.
enum WebAnswer {
    /// The name of the registration: the project, and the installation if known.
    case named(project: [UInt8], installation: [UInt8]?)
    /// Nothing.
    case bare
    /// The `pushSet` of the older interface.
    case connected
}

/// Registration of web apps that the server encrypts for (mcs-device 5.6).
extension HTTPSession {
    /// Registers a web app, or an iOS app if the body contains `ios`.
    func createRegistration(
        _ request: HTTPRequest, _ project: [UInt8], _ requester: Requester, _ now: Now, _ io: inout SessionIO
    ) throws(RequestFault) -> Outcome {
        try Self.checkProject(project)
        let installation = try installation(request, now)
        let body = try Self.json(request)
        if let apple = body["ios"] {
            return try createAppleRegistration(apple, project, installation, requester, &io)
        }
        var wanted = try webRequest(body, project, installation, requester)
        wanted.proof = proof(request, installation)
        io.events.append(requiringInstallation(.registerWeb(wanted), installation, requester))
        return .wait(.web(.named(project: project, installation: installation?.installation)))
    }

    /// Renews the token of a web app whose subscription has changed.
    func renewRegistration(
        _ request: HTTPRequest, _ captured: [[UInt8]], _ requester: Requester, _ now: Now,
        _ io: inout SessionIO
    ) throws(RequestFault) -> Outcome {
        try Self.checkProject(captured[0])
        let installation = try installation(request, now)
        let renewed = try name(ofToken: captured[1])
        let body = try Self.json(request)
        var wanted = try webRequest(body, captured[0], installation, requester)
        wanted.proof = proof(request, installation)
        wanted.renewed = TokenClaim(
            name: renewed, proof: wanted.proof, projects: Self.projects(captured[0], installation))
        io.events.append(requiringInstallation(.registerWeb(wanted), installation, requester))
        return .wait(.web(.bare))
    }

    /// Deletes a registration, given a proof of ownership. Succeeds as well if the registration does not exist.
    func deleteRegistration(
        _ request: HTTPRequest, _ captured: [[UInt8]], _ requester: Requester, _ now: Now,
        _ io: inout SessionIO
    ) throws(RequestFault) -> Outcome {
        try Self.checkProject(captured[0])
        let installation = try installation(request, now)
        if let known = installation, known.installation == captured[1] {
            io.events.append(
                .installation(
                    InstallationRequest(
                        requester: requester, installation: known.installation, sender: known.sender,
                        action: .remove, mark: known.mark)))
        } else {
            let claim = TokenClaim(
                name: try name(ofToken: captured[1]), proof: proof(request, installation),
                projects: Self.projects(captured[0], installation))
            guard claim.proof != .none else {
                throw RequestFault(
                    .unauthorized,
                    "missing credentials: expected x-goog-firebase-installations-auth, or AidLogin in Authorization"
                )
            }
            io.events.append(
                requiringInstallation(.unregisterToken(claim, requester), installation, requester))
        }
        return .wait(.done(Array("{}".utf8)))
    }

    /// Registers a web app by the older interface, a form that contains the sender.
    func connectSubscription(
        _ request: HTTPRequest, _ requester: Requester, _ io: inout SessionIO
    ) throws(RequestFault) -> Outcome {
        guard let form = try? FormBody(request.body.raw) else {
            throw RequestFault(.badRequest, "invalid body: expected application/x-www-form-urlencoded")
        }
        guard let entity = form["authorized_entity"], !entity.isEmpty else {
            throw RequestFault(
                .badRequest, "missing authorized_entity: expected a sender ID or the label of a sender")
        }
        let keys = try self.keys(
            form["encryption_key"], form["encryption_auth"],
            RequestFault(
                .badRequest, "invalid encryption_key: expected a P-256 public key of 65 bytes in base64url"),
            RequestFault(.badRequest, "invalid encryption_auth: expected a secret of 16 bytes in base64url"))
        guard let endpoint = form["endpoint"].flatMap({ Self.endpointToken($0) }),
            let name = settings.seal.name(of: endpoint.raw)
        else {
            throw RequestFault(
                .badRequest, "invalid endpoint: expected a token of this server as its last path segment")
        }
        io.events.append(
            .registerWeb(
                WebRegistrationRequest(
                    requester: requester, endpoint: name, keys: keys, project: Self.project(entity))))
        return .wait(.web(.connected))
    }

    /// Subscribes the registration of an installation to a topic, or unsubscribes it (mcs-device 5.4).
    func subscribe(
        _ request: HTTPRequest, _ captured: [[UInt8]], isEnd: Bool, _ requester: Requester, _ now: Now,
        _ io: inout SessionIO
    ) throws(RequestFault) -> Outcome {
        try Self.checkProject(captured[0])
        guard let installation = try installation(request, now) else {
            throw RequestFault(
                .unauthorized,
                "missing x-goog-firebase-installations-auth: expected an access token of an installation")
        }
        guard Self.normalised(captured[1]) == installation.installation else {
            throw RequestFault(.forbidden, "The installation in the path is not the one of the token.")
        }
        guard let topic = TopicName(captured[2]) else {
            throw RequestFault(
                .badRequest, "invalid topic: expected 1 to 900 of the characters a-z A-Z 0-9 - _ . ~ %")
        }
        let sender = installation.sender ?? SenderID(decimal: captured[0])
        io.events.append(
            .installation(
                InstallationRequest(
                    requester: requester, installation: installation.installation, sender: sender,
                    action: isEnd ? .unsubscribe(topic) : .subscribe(topic), mark: installation.mark)))
        return .wait(.done(Array("{}".utf8)))
    }

    /// Returns the answer with a registration token.
    func registered(_ name: TokenName, _ answer: WebAnswer) -> HTTPResponse {
        let token = settings.seal.token(for: name)
        var body = ByteBuffer()
        body.append("{\"token\":\"")
        body.append(token)
        switch answer {
        case .bare: break
        case .named(let project, let installation):
            body.append("\",\"name\":\"projects/")
            body.append(project)
            body.append("/registrations/")
            body.append(installation ?? token)
        case .connected:
            // The start of a token without a prefix is unique, as the name of a push set must be.
            let plain = settings.seal.token(for: name.registration)
            body.append("\",\"pushSet\":\"")
            body.append(Array(plain.prefix { $0 != UInt8(ascii: ":") }))
        }
        body.append("\"}")
        return HTTPResponse(.ok, HTTPResponse.json, body.copied())
    }

    // MARK: Parts

    private func webRequest(
        _ body: JSONValue, _ project: [UInt8], _ installation: InstallationToken?, _ requester: Requester
    ) throws(RequestFault) -> WebRegistrationRequest {
        guard let web = body["web"], web.members != nil else {
            throw RequestFault(.badRequest, "invalid web: expected an object")
        }
        switch web["applicationPubKey"] {
        case nil, .null, .string: break
        default: throw RequestFault(.badRequest, "invalid web.applicationPubKey: expected a string")
        }
        let keys = try self.keys(
            web["p256dh"]?.text.map { Array($0.utf8) }, web["auth"]?.text.map { Array($0.utf8) },
            RequestFault(
                .badRequest, "invalid web.p256dh: expected a P-256 public key of 65 bytes in base64url"),
            RequestFault(.badRequest, "invalid web.auth: expected a secret of 16 bytes in base64url"))
        guard let url = web["endpoint"]?.text, let token = Self.endpointToken(Array(url.utf8)),
            let endpoint = settings.seal.name(of: token.raw)
        else {
            throw RequestFault(
                .badRequest, "invalid web.endpoint: expected a token of this server as its last path segment")
        }
        var request = WebRegistrationRequest(
            requester: requester, endpoint: endpoint, keys: keys,
            project: installation?.sender.map { .sender($0) } ?? Self.project(project),
            instance: installation?.installation ?? [])
        request.isProved = installation != nil
        return request
    }

    /// Returns an event that the core processes only if the installation of the access token still exists.
    func requiringInstallation(_ event: Event, _ installation: InstallationToken?, _ requester: Requester)
        -> Event
    {
        guard let installation else { return event }
        return .installation(
            InstallationRequest(
                requester: requester, installation: installation.installation, sender: installation.sender,
                action: .vouch(for: event), mark: installation.mark))
    }

    /// Returns the proof of ownership in a request: the check-in credentials of a device, or an access token of an installation.
    private func proof(_ request: HTTPRequest, _ installation: InstallationToken?) -> RegistrationProof {
        if let login = DeviceCredentials(header: request.header("authorization")) {
            return .device(DeviceID(login.device), digest(ofToken: login.token))
        }
        return installation.map { .installation($0.installation) } ?? .none
    }

    /// Returns the projects of a request: in its path, and in its installation's token.
    private static func projects(
        _ path: [UInt8], _ installation: InstallationToken?
    ) -> [WebRegistrationRequest.Project] {
        [project(path)] + (installation?.sender.map { [.sender($0)] } ?? [])
    }

    /// Parses a sender ID, or else the label of a sender.
    private static func project(_ text: [UInt8]) -> WebRegistrationRequest.Project {
        SenderID(decimal: text).map { .sender($0) } ?? .label(text)
    }

    private func keys(
        _ key: [UInt8]?, _ auth: [UInt8]?, _ badKey: RequestFault, _ badAuth: RequestFault
    ) throws(RequestFault) -> WebKeys {
        guard let key, let point = Base64.bytes(key.raw), point.count == WebKeys.publicKeyBytes,
            point[0] == 4
        else { throw badKey }
        guard let auth, let secret = Base64.bytes(auth.raw),
            let keys = WebKeys(publicKey: point, auth: secret)
        else { throw badAuth }
        // A point that is not on the curve is a security risk, and its messages could never be sent.
        guard settings.webPush.isPublicKey(point) else { throw badKey }
        return keys
    }

    /// Returns the last path segment of an endpoint, decoded; any host is accepted (mcs-device 5.6).
    private static func endpointToken(_ url: [UInt8]) -> [UInt8]? {
        guard url.count <= Limits.Registration.endpointBytes else { return nil }
        let path = url.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        return HTTPPath(Array(path[slash...]))?.only
    }

    private func name(ofToken token: [UInt8]) throws(RequestFault) -> RegistrationName {
        guard let name = settings.seal.name(of: token.raw) else {
            throw RequestFault(.notFound, "invalid registration in the path: expected a token of this server")
        }
        return name
    }
}
