import Basics
import Delivery

// Requests of devices, and of app servers about registrations.

extension NodeReader {
    @_lifetime(self: copy self)
    mutating func deviceLogin() throws(NodeProtocolFault) -> DeviceLogin {
        let (connection, device, token) = (try connection(), try device(), try digest())
        let count = try count("received messages", least: 2)
        var received: [PersistentID] = []
        for _ in 0..<count { received.append(try persistentID()) }
        return DeviceLogin(
            connection: connection, device: device, token: token, received: received,
            isIdle: try flag("idle"))
    }

    /// Reads a device with the digest of its security token.
    @_lifetime(self: copy self)
    mutating func claimed() throws(NodeProtocolFault) -> (DeviceID, SecretDigest) {
        let device = try device()
        return (device, try digest())
    }

    @_lifetime(self: copy self)
    mutating func checkIn() throws(NodeProtocolFault) -> CheckIn {
        let requester = try requester()
        let claimed = try flag("claimed device") ? try claimed() : nil
        return CheckIn(
            requester: requester, claimed: claimed, freshDevice: try device(), freshToken: try number(),
            freshDigest: try digest(), refusesWrongToken: try flag("wrong token"))
    }

    @_lifetime(self: copy self)
    mutating func registrationRequest() throws(NodeProtocolFault) -> RegistrationRequest {
        let (requester, device, token) = (try requester(), try device(), try digest())
        var request = RegistrationRequest(
            requester: requester, device: device, token: token, category: try byteArray("category"),
            subtype: try byteArray("subtype"), senderText: try byteArray("sender"),
            instance: try byteArray("instance"))
        request.isProved = try flag("proof")
        request.scope = try scope()
        request.endedScopes = try endedScopes()
        request.apnsToken = try byteArray("APNs token")
        request.appVersion = try byteArray("version of an app")
        return request
    }

    @_lifetime(self: copy self)
    private mutating func scope() throws(NodeProtocolFault) -> RegistrationScope {
        let number: ScopeCase = try numbered()
        switch number {
        case .unrecorded: return .unrecorded
        case .unnamed: return .unnamed
        case .all: return .all
        case .only:
            let text = try byteArray("scope")
            guard !text.isEmpty else { throw .value(of: "scope") }
            return .only(text)
        }
    }

    @_lifetime(self: copy self)
    private mutating func endedScopes() throws(NodeProtocolFault) -> EndedScopes {
        let number: EndedScopesCase = try numbered()
        switch number {
        case .any: return .any
        case .unnamed: return .unnamed
        case .named: return .named
        case .one: return .one(try scope())
        }
    }

    @_lifetime(self: copy self)
    mutating func webRegistrationRequest() throws(NodeProtocolFault) -> WebRegistrationRequest {
        let (requester, endpoint) = (try requester(), try name())
        let publicKey = try byteArray("web key", upTo: WebKeys.publicKeyBytes)
        let auth = try byteArray("web key", upTo: WebKeys.authBytes)
        guard let keys = WebKeys(publicKey: publicKey, auth: auth) else { throw .value(of: "web key") }
        let (project, instance) = (try project(), try byteArray("instance"))
        var request = WebRegistrationRequest(
            requester: requester, endpoint: endpoint, keys: keys, project: project, instance: instance)
        request.isProved = try flag("proof")
        request.proof = try proof()
        request.renewed = try flag("renewed token") ? try tokenClaim() : nil
        return request
    }

    @_lifetime(self: copy self)
    private mutating func project() throws(NodeProtocolFault) -> WebRegistrationRequest.Project {
        let number: ProjectCase = try numbered()
        switch number {
        case .sender: return .sender(try sender())
        case .label: return .label(try byteArray("label"))
        }
    }

    @_lifetime(self: copy self)
    private mutating func proof() throws(NodeProtocolFault) -> RegistrationProof {
        let number: ProofCase = try numbered()
        switch number {
        case .none: return .none
        case .device: return .device(try device(), try digest())
        case .installation: return .installation(try byteArray("installation"))
        }
    }

    @_lifetime(self: copy self)
    mutating func tokenClaim() throws(NodeProtocolFault) -> TokenClaim {
        let (name, proof) = (try name(), try proof())
        let count = try count("projects", least: 2)
        var projects: [WebRegistrationRequest.Project] = []
        for _ in 0..<count { projects.append(try project()) }
        return TokenClaim(name: name, proof: proof, projects: projects)
    }

    @_lifetime(self: copy self)
    mutating func topicRequest() throws(NodeProtocolFault) -> TopicRequest {
        let (requester, name, token) = (try requester(), try name(), try digest())
        return TopicRequest(
            requester: requester, name: name, token: token, topic: try topic(), isEnd: try flag("end"))
    }

    @_lifetime(self: copy self)
    mutating func tokenRequest() throws(NodeProtocolFault) -> TokenRequest {
        let (requester, name, sender) = (try requester(), try name(), try sender())
        return TokenRequest(requester: requester, name: name, sender: sender, action: try tokenAction())
    }

    @_lifetime(self: copy self)
    mutating func tokenAction() throws(NodeProtocolFault) -> TokenRequest.Action {
        let number: TokenActionCase = try numbered()
        switch number {
        case .describe: return .describe
        case .subscribe: return .subscribe(try topic())
        case .unsubscribe: return .unsubscribe(try topic())
        }
    }

    @_lifetime(self: copy self)
    mutating func deviceImport() throws(NodeProtocolFault) -> DeviceImport {
        let (requester, device) = (try requester(), try device())
        let record = try flag("record") ? try deviceRecord() : nil
        let registrations = try count("registrations", least: 8)
        var rows = DeviceImport(requester: requester, device: device, replaces: false)
        rows.record = record
        for _ in 0..<registrations { rows.registrations.append(try registrationRecord()) }
        rows.subscriptions = try subscriptions()
        rows.replaces = try flag("replacement")
        guard try flag("seal") else { return rows }
        let secret = try byteArray("seal", upTo: 32)
        guard secret.count == 32 else { throw .value(of: "seal") }
        rows.seal = TokenSeal(secret: secret)
        return rows
    }

    @_lifetime(self: copy self)
    mutating func subscriptions() throws(NodeProtocolFault) -> [Subscription] {
        let count = try count("subscriptions", least: 5)
        var subscriptions: [Subscription] = []
        for _ in 0..<count { subscriptions.append(try subscription()) }
        return subscriptions
    }
}
