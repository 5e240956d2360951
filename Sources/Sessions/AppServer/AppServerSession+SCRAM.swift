import Basics
import Delivery
import Wire

/// A SCRAM login under way; an object, since few sessions have one and none keeps it.
final class AppServerSCRAM {
    /// The channel binding that -PLUS uses; nil without -PLUS.
    let binding: [UInt8]?
    /// The client's first message, once it came.
    var first: SCRAM.ClientFirst?
    /// Who the client says it is.
    var account: (sender: SenderID, domain: String)?
    /// Our answer to it; empty before.
    var serverFirst: [UInt8] = []
    /// Both nonces.
    var nonce: [UInt8] = []
    /// What the client may prove.
    var keys: [ServerKey] = []
    /// What we prove to the client once the login stands.
    var signature: [UInt8] = []

    init(binding: [UInt8]?) { self.binding = binding }

    /// The key that a client's last message proves; nil for none. Tries every key, whichever fits.
    func provenKey(_ final: SCRAM.ClientFinal, _ functions: SCRAM.Functions) -> SecretDigest? {
        guard let first, final.nonce == nonce,
            ConstantTime.equal(final.bound, first.header + (binding ?? []))
        else { return nil }
        let message = SCRAM.authMessage(first: first, serverFirst: serverFirst, final: final)
        var proven: SecretDigest?
        if keys.isEmpty {
            // An unknown sender takes as long as a wrong proof.
            let nobody = [UInt8](repeating: 0, count: SCRAMVerifier.keyBytes)
            _ = functions.accepts(proof: final.proof, storedKey: nobody, authMessage: message)
        }
        for key in keys {
            guard let verifier = key.scram,
                functions.accepts(proof: final.proof, storedKey: verifier.storedKey, authMessage: message),
                proven == nil
            else { continue }
            signature = functions.authenticate(verifier.serverKey, message)
            proven = key.digest
        }
        return proven
    }
}

extension AppServerSession {
    /// What is offered of SCRAM on this connection.
    var scramOffer: Features.SCRAMOffer {
        guard settings.scram != nil else { return .none }
        return channelBinding() == nil ? .plain : .bound
    }

    /// `<auth>` of one of both mechanisms (RFC 5802, 5).
    mutating func beginSCRAM(_ bindsChannel: Bool, _ payload: String?, _ io: inout SessionIO) {
        guard scramOffer == .bound || (scramOffer == .plain && !bindsChannel) else {
            return failLogin(.invalidMechanism, .loginRefused, &io)
        }
        let exchange = AppServerSCRAM(binding: bindsChannel ? channelBinding() : nil)
        if let payload { received(payload, of: exchange, &io) } else { challenge(exchange, &io) }
    }

    /// The client's first or last message.
    mutating func received(_ payload: String, of exchange: AppServerSCRAM, _ io: inout SessionIO) {
        do throws(SASL.Condition) {
            if exchange.first == nil {
                try begin(exchange, SCRAM.ClientFirst(payload), &io)
            } else {
                finish(exchange, try SCRAM.ClientFinal(payload), &io)
            }
        } catch {
            failLogin(error, .loginRefused, &io)
        }
    }

    /// Who it is, and whether what it says of channel binding can be true; then the core is asked for the keys.
    private mutating func begin(
        _ exchange: AppServerSCRAM, _ first: SCRAM.ClientFirst, _ io: inout SessionIO
    ) throws(SASL.Condition) {
        switch first.binding {
        case .unsupported where exchange.binding == nil: break
        // It saw no -PLUS, but we offered it: somebody in between took it away (RFC 5802, 6).
        case .notOffered where exchange.binding == nil:
            guard scramOffer != .bound else { throw .notAuthorized }
        case .type(let type) where exchange.binding != nil:
            guard type == SCRAM.bindingType else { throw .notAuthorized }
        default: throw .malformedRequest
        }
        let account = try SASL.account(
            authzid: first.authzid, authcid: first.user, acceptedDomains: settings.acceptedDomains,
            defaultDomain: settings.defaultDomain)
        exchange.first = first
        exchange.account = account
        stage = .checking(exchange)
        io.loginClaim = .sender(account.sender)
        io.events.append(.appServerKeysRequested(connection, account.sender))
    }

    /// The keys that may be proved: challenges the client, one without a key exactly like any other.
    mutating func received(_ keys: [ServerKey], _ io: inout SessionIO) {
        guard case .checking(let exchange?) = stage, let first = exchange.first,
            let account = exchange.account,
            exchange.serverFirst.isEmpty, let scram = settings.scram
        else { return }
        var fresh = ByteBuffer()
        for _ in 0..<2 { Hex.appendUpper(settings.random(), to: &fresh) }
        exchange.keys = keys
        exchange.nonce = first.nonce + fresh.copied()
        let verifier = keys.first?.scram
        exchange.serverFirst = SCRAM.serverFirst(
            nonce: exchange.nonce, salt: verifier?.salt ?? scram.unknownSalt(account.sender),
            iterations: verifier?.iterations ?? Limits.Login.scramIterations)
        SASL.appendChallenge(exchange.serverFirst, to: &io.out.bytes)
        io.out.endRecord()
        stage = .challenged(exchange)
        readHeld(&io)
    }

    /// The proof: the core hears of the key that it proves, or of one that nobody has, and answers as for PLAIN.
    private mutating func finish(
        _ exchange: AppServerSCRAM, _ final: SCRAM.ClientFinal, _ io: inout SessionIO
    ) {
        guard let account = exchange.account, let scram = settings.scram else { return }
        let key = exchange.provenKey(final, scram.functions)
        sender = account.sender
        domain = account.domain
        stage = .checking(exchange)
        io.loginClaim = .sender(account.sender)
        io.events.append(
            .appServerLogin(connection, account.sender, key: key ?? SecretDigest(bytes: [])))
    }
}
