public import Basics
import Wire

/// How a client proves its identity to a NATS server.
public enum NATSLogin: Sendable {
    /// The server asks for nothing.
    case none
    /// A user and a password.
    case password(user: String, password: Redacted<String>)
    /// A token.
    case token(Redacted<String>)
    /// An NKey, whose public half the server's configuration names.
    case key(NKeySeed)
    /// A user's JWT with its key, from a credentials file.
    case credentials(NATSCredentials)

    /// Returns the login for a server with this nonce. Throws `.noNonce` if a signature is needed and the server asks for none.
    func answer(to nonce: [UInt8]?) throws(NATSFailure) -> NATSWriter.Login {
        switch self {
        case .none: return .none
        case .password(let user, let password): return .password(user: user, password: password.revealed)
        case .token(let token): return .token(token.revealed)
        case .key(let seed):
            guard let nonce else { throw .noNonce }
            return .key(nkey: seed.publicKey, signature: seed.signature(of: nonce))
        case .credentials(let credentials):
            guard let nonce else { throw .noNonce }
            return .credentials(
                jwt: credentials.jwt.revealed, signature: credentials.seed.signature(of: nonce))
        }
    }
}

/// The content of a credentials file of NATS (`.creds`): a user's JWT and its NKey seed.
public struct NATSCredentials: Sendable {
    /// The JWT, which names the user and its permissions.
    let jwt: Redacted<String>
    /// The key that the JWT was issued for.
    let seed: NKeySeed

    /// Reads a file.
    public init(parsing file: [UInt8]) throws(NATSCredentialsError) {
        guard file.count <= Limits.NATS.credentialsBytes else { throw .tooLong(file.count) }
        let lines = file.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).map { Array($0) }
        guard let jwt = Self.line(after: "BEGIN NATS USER JWT", in: lines) else { throw .noJWT }
        let isJWT = jwt.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy {
            !$0.isEmpty && Base64.bytes(Array($0).raw) != nil
        }
        guard isJWT, jwt.count(where: { $0 == UInt8(ascii: ".") }) == 2 else { throw .notAJWT }
        guard let seed = Self.line(after: "BEGIN USER NKEY SEED", in: lines) else { throw .noSeed }
        self.jwt = Redacted(String(decoding: jwt, as: UTF8.self))
        do throws(NKeyError) { self.seed = try NKeySeed(seed) } catch { throw .seed(error) }
    }

    /// The line after the one with these words.
    private static func line(after words: String, in lines: [[UInt8]]) -> [UInt8]? {
        let words = Array(words.utf8)
        guard let at = lines.firstIndex(where: { $0.first == UInt8(ascii: "-") && $0.contains(words) }),
            at + 1 < lines.count
        else { return nil }
        return lines[at + 1]
    }
}

/// Why a file is not a credentials file.
public enum NATSCredentialsError: Error, Hashable, Sendable, CustomStringConvertible {
    case tooLong(Int)
    case noJWT
    case notAJWT
    case noSeed
    case seed(NKeyError)

    /// The problem in words, after the name of the file.
    public var description: String {
        switch self {
        case .tooLong(let count):
            "invalid credentials of \(count) bytes: expected up to \(Limits.NATS.credentialsBytes)"
        case .noJWT: "invalid credentials: expected a line with BEGIN NATS USER JWT, and the JWT after it"
        case .notAJWT: "invalid credentials: expected a JWT of three parts in Base64 between dots"
        case .noSeed: "invalid credentials: expected a line with BEGIN USER NKEY SEED, and the seed after it"
        case .seed(let error): "invalid credentials: \(error)"
        }
    }
}
