import Basics
import Delivery
import Transport
import Wire

/// The client's side of SCRAM in transcripts: `KEY|HEADER|BARE`, where BARE is the rest of its first message. With `|NONCE`
/// appended, the client proves its key for that nonce in place of the server's.
struct TranscriptSCRAM {
    /// The salt of all keys in transcripts.
    static let salt = Array("salt".utf8)
    /// The iterations of all keys in transcripts.
    static let iterations = 4_096
    /// The channel binding of every connection that has one.
    static let channelBinding = [UInt8](repeating: 0xCB, count: 32)
    /// Hash and HMAC of OpenSSL.
    static let functions = SCRAM.Functions(
        hash: { Digest.sha256($0) }, authenticate: { Digest.hmacSHA256(key: $0, $1) })

    private let salted: [UInt8]
    private let withoutProof: [UInt8]
    private let signed: [UInt8]

    /// `challenge` is the text of the server's challenge, in Base64.
    init?(_ text: String, challenge: String?) {
        let parts = text.split(separator: "|").map(String.init)
        guard parts.count == 3 || parts.count == 4, let challenge,
            let first = Base64.bytes(Array(challenge.utf8).raw)
        else {
            return nil
        }
        let binding = parts[1].hasPrefix("p=") ? Self.channelBinding : []
        let bound = Base64.text(Array(parts[1].utf8) + binding)
        let own = parts.count == 4 ? Array("r=\(parts[3])".utf8) : nil
        let nonce = own ?? Array(first.prefix { $0 != UInt8(ascii: ",") })
        salted = Digest.stretched(Array(parts[0].utf8), salt: Self.salt, iterations: Self.iterations)
        withoutProof = Array("c=\(bound),".utf8) + nonce
        signed = Array("\(parts[2]),".utf8) + first + Array(",".utf8) + withoutProof
    }

    /// Returns the value of `$(scram-proof:…)` and `$(scram-answer:…)`.
    static func value(of inner: String, _ values: [String: String]) -> [UInt8]? {
        for (name, isProof) in [("scram-proof:", true), ("scram-answer:", false)] where inner.hasPrefix(name)
        {
            return TranscriptSCRAM(String(inner.dropFirst(name.count)), challenge: values["challenge"])?
                .message(isProof: isProof)
        }
        return nil
    }

    /// Returns the client's final message, or the server's answer to it, in Base64.
    func message(isProof: Bool) -> [UInt8] {
        let keys = Self.functions.keys(saltedPassword: salted)
        guard isProof else {
            return Self.text(Array("v=".utf8) + Self.text(Digest.hmacSHA256(key: keys.server, signed)))
        }
        let clientKey = Digest.hmacSHA256(key: salted, Array("Client Key".utf8))
        let proof = zip(clientKey, Digest.hmacSHA256(key: keys.stored, signed)).map { $0 ^ $1 }
        return Self.text(withoutProof + Array(",p=".utf8) + Self.text(proof))
    }

    /// Returns a key as the core sends it; its digest is its own text.
    static func key(_ text: String) -> ServerKey {
        let keys = functions.keys(
            saltedPassword: Digest.stretched(Array(text.utf8), salt: salt, iterations: iterations))
        return ServerKey(
            digest: SecretDigest(bytes: Array(text.utf8)), createdAt: 0,
            scram: SCRAMVerifier(
                storedKey: keys.stored, serverKey: keys.server, salt: salt, iterations: iterations))
    }

    private static func text(_ bytes: [UInt8]) -> [UInt8] { Array(Base64.text(bytes).utf8) }
}
