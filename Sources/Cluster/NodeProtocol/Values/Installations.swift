import Basics
import Delivery

// Requests that name an installation. Some contain the event that they vouch for.

extension NodeWriter {
    mutating func write(_ request: InstallationRequest) {
        write(request.requester)
        bytes(request.installation)
        optional(request.sender) { $0.write($1) }
        write(request.action)
        optional(request.mark) { $0.number($1) }
        flag(request.isBound)
    }

    private mutating func write(_ action: InstallationRequest.Action) {
        switch action {
        case .subscribe(let topic):
            write(InstallationActionCase.subscribe)
            write(topic)
        case .unsubscribe(let topic):
            write(InstallationActionCase.unsubscribe)
            write(topic)
        case .address(let action):
            write(InstallationActionCase.address)
            write(action)
        case .send(let content):
            write(InstallationActionCase.send)
            write(content)
        case .remove: write(InstallationActionCase.remove)
        case .vouch(let event):
            write(InstallationActionCase.vouch)
            writeInner(event)
        case .claim(let event, let device):
            write(InstallationActionCase.claim)
            writeInner(event)
            write(device)
        case .create(let offer):
            write(InstallationActionCase.create)
            write(offer)
        case .vouched(let offer, let isProved):
            write(InstallationActionCase.vouched)
            write(offer)
            flag(isProved)
        case .refresh(let digest):
            write(InstallationActionCase.refresh)
            write(digest)
        case .end(let digest):
            write(InstallationActionCase.end)
            write(digest)
        case .revoke: write(InstallationActionCase.revoke)
        case .imported(let record, let replaces):
            write(InstallationActionCase.imported)
            write(record)
            flag(replaces)
        case .apple(let address):
            write(InstallationActionCase.apple)
            write(address)
        }
    }

    private mutating func write(_ offer: InstallationOffer) {
        write(offer.refresh)
        optional(offer.other) {
            $0.bytes($1.id)
            $0.write($1.refresh)
        }
        optional(offer.shown) { $0.write($1) }
        optional(offer.device) { $0.write($1) }
    }

    private mutating func write(_ address: AppleRegistration) {
        bytes(address.bundle)
        bytes(address.token)
        write(address.freshDevice)
        write(address.freshDigest)
        bytes(address.appVersion)
        flag(address.isImport)
    }
}

extension NodeReader {
    @_lifetime(self: copy self)
    mutating func installationRequest() throws(NodeProtocolFault) -> InstallationRequest {
        let (requester, id) = (try requester(), try byteArray("installation"))
        let sender = try flag("sender") ? try sender() : nil
        var request = InstallationRequest(
            requester: requester, installation: id, sender: sender, action: try installationAction(),
            mark: try flag("mark") ? try number() : nil)
        request.isBound = try flag("bound")
        return request
    }

    @_lifetime(self: copy self)
    private mutating func installationAction() throws(NodeProtocolFault) -> InstallationRequest.Action {
        let number: InstallationActionCase = try numbered()
        switch number {
        case .subscribe: return .subscribe(try topic())
        case .unsubscribe: return .unsubscribe(try topic())
        case .address: return .address(try tokenAction())
        case .send: return .send(try content())
        case .remove: return .remove
        case .vouch: return .vouch(for: try innerEvent())
        case .claim: return .claim(for: try innerEvent(), by: try device())
        case .create: return .create(try offer())
        case .vouched: return .vouched(try offer(), isProved: try flag("proof"))
        case .refresh: return .refresh(try digest())
        case .end: return .end(try digest())
        case .revoke: return .revoke
        case .imported: return .imported(try installationRecord(), replaces: try flag("replacement"))
        case .apple: return .apple(try appleRegistration())
        }
    }

    @_lifetime(self: copy self)
    private mutating func offer() throws(NodeProtocolFault) -> InstallationOffer {
        let refresh = try digest()
        var other: (id: [UInt8], refresh: SecretDigest)?
        if try flag("other installation") {
            let id = try byteArray("installation")
            other = (id: id, refresh: try digest())
        }
        let shown = try flag("refresh token") ? try digest() : nil
        return InstallationOffer(
            refresh: refresh, other: other, shown: shown,
            device: try flag("device") ? try claimed() : nil)
    }

    @_lifetime(self: copy self)
    private mutating func appleRegistration() throws(NodeProtocolFault) -> AppleRegistration {
        let (bundle, token) = (try byteArray("bundle"), try byteArray("APNs token"))
        let (device, digest, version) = (try device(), try digest(), try byteArray("version of an app"))
        var address = AppleRegistration(
            bundle: bundle, token: token, freshDevice: device, freshDigest: digest,
            isImport: try flag("import"))
        address.appVersion = version
        return address
    }
}
