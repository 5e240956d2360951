import Basics
import Delivery

// Requests of devices, and of app servers about registrations.

extension DeviceLogin: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        Self(
            connection: try c(v?.connection), device: try c(v?.device), token: try c(v?.token),
            received: try c(v?.received, "received messages"), isIdle: try c(v?.isIdle, "idle"))
    }
}

extension CheckIn: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        Self(
            requester: try c(v?.requester),
            claimed: try c.optional(v?.claimed.map(DeviceProof.init), "claimed device")?.pair,
            freshDevice: try c(v?.freshDevice), freshToken: try c(v?.freshToken),
            freshDigest: try c(v?.freshDigest), refusesWrongToken: try c(v?.refusesWrongToken, "wrong token"))
    }
}

extension RegistrationRequest: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        var request = Self(
            requester: try c(v?.requester), device: try c(v?.device), token: try c(v?.token),
            category: try c(v?.category, "category"), subtype: try c(v?.subtype, "subtype"),
            senderText: try c(v?.senderText, "sender"), instance: try c(v?.instance, "instance"))
        request.isProved = try c(v?.isProved, "proof")
        request.scope = try c(v?.scope)
        request.endedScopes = try c(v?.endedScopes)
        request.apnsToken = try c(v?.apnsToken, "APNs token")
        request.appVersion = try c(v?.appVersion, "version of an app")
        return request
    }
}

/// The numbers of scopes.
enum ScopeCase: UInt8, CaseNumber {
    case unrecorded = 1
    case unnamed, all, only

    static let kind: StaticString = "scope"
}

extension RegistrationScope: NodeCases {
    func write(to w: inout NodeWriter) throws(Fault) {
        switch self {
        case .unrecorded: try w.put(Case.unrecorded)
        case .unnamed: try w.put(Case.unnamed)
        case .all: try w.put(Case.all)
        case .only(let text): try w.put(Case.only, text)
        }
    }

    static func read(_ number: ScopeCase, from r: inout NodeReader) throws(Fault) -> Self {
        switch number {
        case .unrecorded: return .unrecorded
        case .unnamed: return .unnamed
        case .all: return .all
        case .only:
            let text: [UInt8] = try r.get("scope")
            guard !text.isEmpty else { throw .value(of: "scope") }
            return .only(text)
        }
    }
}

/// The numbers of the scopes that a request ends.
enum EndedScopesCase: UInt8, CaseNumber {
    case any = 1
    case unnamed, named, one

    static let kind: StaticString = "ended scopes"
}

extension EndedScopes: NodeCases {
    func write(to w: inout NodeWriter) throws(Fault) {
        switch self {
        case .any: try w.put(Case.any)
        case .unnamed: try w.put(Case.unnamed)
        case .named: try w.put(Case.named)
        case .one(let scope): try w.put(Case.one, scope)
        }
    }

    static func read(_ number: EndedScopesCase, from r: inout NodeReader) throws(Fault) -> Self {
        switch number {
        case .any: .any
        case .unnamed: .unnamed
        case .named: .named
        case .one: .one(try r.get())
        }
    }
}

extension WebRegistrationRequest: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        var request = Self(
            requester: try c(v?.requester), endpoint: try c(v?.endpoint), keys: try c(v?.keys),
            project: try c(v?.project), instance: try c(v?.instance, "instance"))
        request.isProved = try c(v?.isProved, "proof")
        request.proof = try c(v?.proof)
        request.renewed = try c.optional(v?.renewed, "renewed token")
        return request
    }
}

extension WebKeys: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        let publicKey = try c.bytes(v?.publicKey, "web key", upTo: publicKeyBytes)
        let auth = try c.bytes(v?.auth, "web key", upTo: authBytes)
        guard let keys = v ?? Self(publicKey: publicKey, auth: auth) else { throw .value(of: "web key") }
        return keys
    }
}

/// The numbers of the names of projects.
enum ProjectCase: UInt8, CaseNumber {
    case sender = 1
    case label

    static let kind: StaticString = "project"
}

extension WebRegistrationRequest.Project: NodeCases {
    static var leastBytes: Int { 2 }

    func write(to w: inout NodeWriter) throws(Fault) {
        switch self {
        case .sender(let sender): try w.put(Case.sender, sender)
        case .label(let label): try w.put(Case.label, label)
        }
    }

    static func read(_ number: ProjectCase, from r: inout NodeReader) throws(Fault) -> Self {
        switch number {
        case .sender: .sender(try r.get())
        case .label: .label(try r.get("label"))
        }
    }
}

/// The numbers of proofs.
enum ProofCase: UInt8, CaseNumber {
    case none = 1
    case device, installation

    static let kind: StaticString = "proof"
}

extension RegistrationProof: NodeCases {
    func write(to w: inout NodeWriter) throws(Fault) {
        switch self {
        case .none: try w.put(Case.none)
        case .device(let device, let token): try w.put(Case.device, device, token)
        case .installation(let id): try w.put(Case.installation, id)
        }
    }

    static func read(_ number: ProofCase, from r: inout NodeReader) throws(Fault) -> Self {
        switch number {
        case .none: .none
        case .device: .device(try r.get(), try r.get())
        case .installation: .installation(try r.get("installation"))
        }
    }
}

extension TokenClaim: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        Self(name: try c(v?.name), proof: try c(v?.proof), projects: try c(v?.projects, "projects"))
    }
}

extension TopicRequest: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        Self(
            requester: try c(v?.requester), name: try c(v?.name), token: try c(v?.token),
            topic: try c(v?.topic), isEnd: try c(v?.isEnd, "end"))
    }
}

extension ScheduledMessage: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        Self(
            dueAt: try c(v?.dueAt), device: try c(v?.device), sequence: try c(v?.sequence),
            sender: try c(v?.sender))
    }
}

extension Cancellation: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        Self(
            requester: try c(v?.requester), device: try c(v?.device),
            registration: try c.optional(v?.registration, "registration"),
            sender: try c.optional(v?.sender, "sender"), messageID: try c(v?.messageID, "message ID"))
    }
}

extension TokenRequest: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        Self(
            requester: try c(v?.requester), name: try c(v?.name), sender: try c(v?.sender),
            action: try c(v?.action))
    }
}

/// The numbers of the requests about a registration.
enum TokenActionCase: UInt8, CaseNumber {
    case describe = 1
    case subscribe, unsubscribe

    static let kind: StaticString = "token request"
}

extension TokenRequest.Action: NodeCases {
    func write(to w: inout NodeWriter) throws(Fault) {
        switch self {
        case .describe: try w.put(Case.describe)
        case .subscribe(let topic): try w.put(Case.subscribe, topic)
        case .unsubscribe(let topic): try w.put(Case.unsubscribe, topic)
        }
    }

    static func read(_ number: TokenActionCase, from r: inout NodeReader) throws(Fault) -> Self {
        switch number {
        case .describe: .describe
        case .subscribe: .subscribe(try r.get())
        case .unsubscribe: .unsubscribe(try r.get())
        }
    }
}

extension DeviceImport: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        var rows = Self(requester: try c(v?.requester), device: try c(v?.device), replaces: false)
        rows.record = try c.optional(v?.record, "record")
        rows.registrations = try c(v?.registrations, "registrations")
        rows.subscriptions = try c(v?.subscriptions, "subscriptions")
        rows.replaces = try c(v?.replaces, "replacement")
        rows.seal = try c.optional(v?.seal, "seal")
        return rows
    }
}

extension TokenSeal: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        let secret = try c.bytes(v?.secret, "seal", upTo: 32)
        guard secret.count == 32 else { throw .value(of: "seal") }
        return v ?? Self(secret: secret)
    }
}
