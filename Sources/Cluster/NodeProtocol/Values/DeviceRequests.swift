import Basics
import Delivery

// Requests of devices, and of app servers about registrations.

extension NodeWriter {
    mutating func write(_ login: DeviceLogin) {
        write(login.connection)
        write(login.device)
        write(login.token)
        list(login.received) { $0.write($1) }
        flag(login.isIdle)
    }

    /// A device with the digest of its security token.
    mutating func write(_ claimed: (DeviceID, SecretDigest)) {
        write(claimed.0)
        write(claimed.1)
    }

    mutating func write(_ checkIn: CheckIn) {
        write(checkIn.requester)
        optional(checkIn.claimed) { $0.write($1) }
        write(checkIn.freshDevice)
        number(checkIn.freshToken)
        write(checkIn.freshDigest)
        flag(checkIn.refusesWrongToken)
    }

    mutating func write(_ request: RegistrationRequest) {
        write(request.requester)
        write(request.device)
        write(request.token)
        bytes(request.category)
        bytes(request.subtype)
        bytes(request.senderText)
        bytes(request.instance)
        flag(request.isProved)
        write(request.scope)
        write(request.endedScopes)
        bytes(request.apnsToken)
        bytes(request.appVersion)
    }

    private mutating func write(_ scope: RegistrationScope) {
        switch scope {
        case .unrecorded: write(ScopeCase.unrecorded)
        case .unnamed: write(ScopeCase.unnamed)
        case .all: write(ScopeCase.all)
        case .only(let text):
            write(ScopeCase.only)
            bytes(text)
        }
    }

    private mutating func write(_ scopes: EndedScopes) {
        switch scopes {
        case .any: write(EndedScopesCase.any)
        case .unnamed: write(EndedScopesCase.unnamed)
        case .named: write(EndedScopesCase.named)
        case .one(let scope):
            write(EndedScopesCase.one)
            write(scope)
        }
    }

    mutating func write(_ request: WebRegistrationRequest) {
        write(request.requester)
        write(request.endpoint)
        bytes(request.keys.publicKey)
        bytes(request.keys.auth)
        write(request.project)
        bytes(request.instance)
        flag(request.isProved)
        write(request.proof)
        optional(request.renewed) { $0.write($1) }
    }

    private mutating func write(_ project: WebRegistrationRequest.Project) {
        switch project {
        case .sender(let sender):
            write(ProjectCase.sender)
            write(sender)
        case .label(let label):
            write(ProjectCase.label)
            bytes(label)
        }
    }

    private mutating func write(_ proof: RegistrationProof) {
        switch proof {
        case .none: write(ProofCase.none)
        case .device(let device, let token):
            write(ProofCase.device)
            write((device, token))
        case .installation(let id):
            write(ProofCase.installation)
            bytes(id)
        }
    }

    mutating func write(_ claim: TokenClaim) {
        write(claim.name)
        write(claim.proof)
        list(claim.projects) { $0.write($1) }
    }

    mutating func write(_ request: TopicRequest) {
        write(request.requester)
        write(request.name)
        write(request.token)
        write(request.topic)
        flag(request.isEnd)
    }

    mutating func write(_ request: TokenRequest) {
        write(request.requester)
        write(request.name)
        write(request.sender)
        write(request.action)
    }

    mutating func write(_ action: TokenRequest.Action) {
        switch action {
        case .describe: write(TokenActionCase.describe)
        case .subscribe(let topic):
            write(TokenActionCase.subscribe)
            write(topic)
        case .unsubscribe(let topic):
            write(TokenActionCase.unsubscribe)
            write(topic)
        }
    }

    mutating func write(_ rows: DeviceImport) {
        write(rows.requester)
        write(rows.device)
        optional(rows.record) { $0.write($1) }
        list(rows.registrations) { $0.write($1) }
        list(rows.subscriptions) { $0.write($1) }
        flag(rows.replaces)
        optional(rows.seal) { $0.bytes($1.secret) }
    }
}
