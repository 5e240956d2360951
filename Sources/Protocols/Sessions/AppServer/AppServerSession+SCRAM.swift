import Basics
import Delivery
import Wire

/// A SCRAM exchange in progress; a class, because few sessions have one, and only during the login.
final class AppServerSCRAM {
    /// The channel binding of -PLUS; `nil` without -PLUS.
    let binding: [UInt8]?
    /// The client's first message, once received.
    var first: SCRAM.ClientFirst?
    /// The account that the client claims.
    var account: AppServerSession.Account?
    /// The server's first message; empty before it is sent.
    var serverFirst: [UInt8] = []
    /// The client's nonce followed by the server's.
    var nonce: [UInt8] = []
    /// The keys that the client may prove.
    var keys: [ServerKey] = []
    /// The server signature, sent once the login is accepted.
    var signature: [UInt8] = []

    init(binding: [UInt8]?) { self.binding = binding }

    /// Returns the key that a client's final message proves, or `nil`. Tries every key even after a match, for constant time.
    func provenKey(_ final: SCRAM.ClientFinal, _ functions: SCRAM.Functions) -> SecretDigest? {
        guard let first, final.nonce == nonce,
            ConstantTime.equal(final.bound, first.header + (binding ?? []))
        else { return nil }
        let message = SCRAM.authMessage(first: first, serverFirst: serverFirst, final: final)
        var proven: SecretDigest?
        if keys.isEmpty {
            // An unknown sender must take as long as a wrong proof.
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
    /// The SCRAM mechanisms offered on this connection.
    var scramOffer: Features.SCRAMOffer {
        guard settings.scram != nil else { return .none }
        return channelBinding() == nil ? .plain : .bound
    }

    /// Handles `<auth>` of SCRAM with or without -PLUS (RFC 5802, 5).
    mutating func beginSCRAM(_ bindsChannel: Bool, _ payload: String?, _ io: inout SessionIO) {
        guard scramOffer == .bound || (scramOffer == .plain && !bindsChannel) else {
            return failLogin(.invalidMechanism, .loginRefused, &io)
        }
        let exchange = AppServerSCRAM(binding: bindsChannel ? channelBinding() : nil)
        if let payload { received(payload, of: exchange, &io) } else { challenge(exchange, &io) }
    }

    /// Handles the client's first or final message.
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

    /// Checks the claimed account and the channel binding flag, then requests the keys from the core.
    private mutating func begin(
        _ exchange: AppServerSCRAM, _ first: SCRAM.ClientFirst, _ io: inout SessionIO
    ) throws(SASL.Condition) {
        switch first.binding {
        case .unsupported where exchange.binding == nil: break
        // The client saw no -PLUS although it was offered: a man in the middle removed it (RFC 5802, 6).
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
        exchange.account = AppServerSession.Account(sender: account.sender, domain: account.domain)
        state = .lookingUpKeys(exchange)
        io.loginClaim = .sender(account.sender)
        io.events.append(.appServerKeysRequested(connection, account.sender))
    }

    /// Challenges the client with the keys from the core. The challenge for an account without a key looks like any other.
    mutating func received(_ keys: [ServerKey], _ io: inout SessionIO) {
        guard case .lookingUpKeys(let exchange) = state, let first = exchange.first,
            let account = exchange.account, let scram = settings.scram
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
        state = .challenged(exchange)
        readEarlyBytes(&io)
    }

    /// Checks the proof and sends the proven key, or one that does not exist, to the core, which answers as for PLAIN.
    private mutating func finish(
        _ exchange: AppServerSCRAM, _ final: SCRAM.ClientFinal, _ io: inout SessionIO
    ) {
        guard let account = exchange.account, let scram = settings.scram else { return }
        let key = exchange.provenKey(final, scram.functions)
        state = .checking(account, exchange)
        io.loginClaim = .sender(account.sender)
        io.events.append(
            .appServerLogin(connection, account.sender, key: key ?? SecretDigest(bytes: [])))
    }
}
