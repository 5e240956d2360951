import Basics
import Delivery

// Requests that name an installation. Some contain the event that they vouch for.

extension InstallationRequest: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        var request = Self(
            requester: try c(v?.requester), installation: try c(v?.installation, "installation"),
            sender: try c.optional(v?.sender, "sender"), action: try c(v?.action),
            mark: try c.optional(v?.mark, "mark"))
        request.isBound = try c(v?.isBound, "bound")
        return request
    }
}

/// The numbers of the requests that name an installation.
enum InstallationActionCase: UInt8, CaseNumber {
    case subscribe = 1
    case unsubscribe, address, send, remove, vouch, claim, create, vouched, refresh, end, revoke, imported
    case apple

    static let kind: StaticString = "installation request"
}

extension InstallationRequest.Action: NodeCases {
    func write(to w: inout NodeWriter) throws(Fault) {
        switch self {
        case .subscribe(let topic): try w.put(Case.subscribe, topic)
        case .unsubscribe(let topic): try w.put(Case.unsubscribe, topic)
        case .address(let action): try w.put(Case.address, action)
        case .send(let content): try w.put(Case.send, content)
        case .remove: try w.put(Case.remove)
        case .vouch(let event): try w.put(Case.vouch, event)
        case .claim(let event, let device): try w.put(Case.claim, event, device)
        case .create(let offer): try w.put(Case.create, offer)
        case .vouched(let offer, let isProved): try w.put(Case.vouched, offer, isProved)
        case .refresh(let digest): try w.put(Case.refresh, digest)
        case .end(let digest): try w.put(Case.end, digest)
        case .revoke: try w.put(Case.revoke)
        case .imported(let record, let replaces): try w.put(Case.imported, record, replaces)
        case .apple(let address): try w.put(Case.apple, address)
        }
    }

    static func read(_ number: InstallationActionCase, from r: inout NodeReader) throws(Fault) -> Self {
        switch number {
        case .subscribe: .subscribe(try r.get())
        case .unsubscribe: .unsubscribe(try r.get())
        case .address: .address(try r.get())
        case .send: .send(try r.get())
        case .remove: .remove
        case .vouch: .vouch(for: try r.get())
        case .claim: .claim(for: try r.get(), by: try r.get())
        case .create: .create(try r.get())
        case .vouched: .vouched(try r.get(), isProved: try r.get("proof"))
        case .refresh: .refresh(try r.get())
        case .end: .end(try r.get())
        case .revoke: .revoke
        case .imported: .imported(try r.get(), replaces: try r.get("replacement"))
        case .apple: .apple(try r.get())
        }
    }
}

extension InstallationOffer: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        Self(
            refresh: try c(v?.refresh),
            other: try c.optional(v?.other.map(OtherInstallation.init), "other installation")?.pair,
            shown: try c.optional(v?.shown, "refresh token"),
            device: try c.optional(v?.device.map(DeviceProof.init), "device")?.pair)
    }
}

/// Another installation with the digest of its refresh token.
private struct OtherInstallation: NodeFields {
    var id: [UInt8]
    var refresh: SecretDigest

    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        Self(id: try c(v?.id, "installation"), refresh: try c(v?.refresh))
    }

    var pair: (id: [UInt8], refresh: SecretDigest) { (id, refresh) }
}

extension AppleRegistration: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        let (bundle, token) = (try c(v?.bundle, "bundle"), try c(v?.token, "APNs token"))
        let (device, digest) = (try c(v?.freshDevice), try c(v?.freshDigest))
        let version = try c(v?.appVersion, "version of an app")
        var address = Self(
            bundle: bundle, token: token, freshDevice: device, freshDigest: digest,
            isImport: try c(v?.isImport, "import"))
        address.appVersion = version
        return address
    }
}
