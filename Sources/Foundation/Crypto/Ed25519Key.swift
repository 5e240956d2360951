import Basics
import COpenSSL

/// A private key on Ed25519 (RFC 8032) that signs.
public struct Ed25519Key: Sendable {
    /// The length of a seed, a public key, and half a signature.
    public static let seedBytes = 32

    private let seed: Redacted<[UInt8]>
    /// The public key.
    public let publicKey: [UInt8]

    /// Creates the key of a seed. Returns `nil` for a seed of another length than 32 bytes.
    public init?(seed: [UInt8]) {
        defer { ERR_clear_error() }
        guard let key = unsafe Self.key(seed) else { return nil }
        defer { unsafe EVP_PKEY_free(key) }
        var publicKey = [UInt8](repeating: 0, count: Self.seedBytes)
        var length = publicKey.count
        guard unsafe EVP_PKEY_get_raw_public_key(key, &publicKey, &length) == 1, length == publicKey.count
        else { return nil }
        self.seed = Redacted(seed)
        self.publicKey = publicKey
    }

    /// Returns the signature of 64 bytes.
    public func signature(of message: [UInt8]) -> [UInt8] {
        defer { ERR_clear_error() }
        var signature = [UInt8](repeating: 0, count: 2 * Self.seedBytes)
        var length = signature.count
        guard let key = unsafe Self.key(seed.revealed), let context = unsafe EVP_MD_CTX_new() else {
            preconditionFailure("OpenSSL has no memory for a key")
        }
        defer {
            unsafe EVP_MD_CTX_free(context)
            unsafe EVP_PKEY_free(key)
        }
        let isSigned =
            unsafe EVP_DigestSignInit(context, nil, nil, nil, key) == 1
            && EVP_DigestSign(context, &signature, &length, message, message.count) == 1
        precondition(isSigned && length == signature.count, "OpenSSL signs with no key on Ed25519")
        return signature
    }

    private static func key(_ seed: [UInt8]) -> OpaquePointer? {
        guard seed.count == seedBytes else { return nil }
        return unsafe EVP_PKEY_new_raw_private_key(NID_ED25519, nil, seed, seed.count)
    }
}
