import Basics
import COpenSSL

/// The curve of Web Push: key agreement (RFC 8291, 3.1) and signatures of application servers (RFC 8292, 2).
public enum P256 {
    /// The length of a public key: an uncompressed point.
    public static let publicKeyBytes = 65
    /// The length of a private key: a big-endian number.
    public static let privateKeyBytes = 32
    /// The length of a signature: two numbers.
    public static let signatureBytes = 64

    /// Whether the bytes are an uncompressed point on the curve.
    public static func isPublicKey(_ bytes: [UInt8]) -> Bool {
        guard let key = CurveKey(publicKey: bytes) else { return false }
        return key.isValid
    }

    /// Whether a JWS signature (ES256, RFC 7518, 3.4) of a text is valid for a public key.
    public static func verifies(_ signature: [UInt8], of text: [UInt8], by publicKey: [UInt8]) -> Bool {
        defer { ERR_clear_error() }
        guard signature.count == signatureBytes, let key = CurveKey(publicKey: publicKey),
            let parts = unsafe ECDSA_SIG_new()
        else { return false }
        defer { unsafe ECDSA_SIG_free(parts) }
        let half = Int32(signatureBytes / 2)
        let r = unsafe BN_bin2bn(Array(signature[..<Int(half)]), half, nil)
        let s = unsafe BN_bin2bn(Array(signature[Int(half)...]), half, nil)
        guard let r = unsafe r, let s = unsafe s, unsafe ECDSA_SIG_set0(parts, r, s) == 1 else {
            unsafe BN_free(r)
            unsafe BN_free(s)
            return false
        }
        var encoded: UnsafeMutablePointer<UInt8>?
        let length = unsafe i2d_ECDSA_SIG(parts, &encoded)
        guard length > 0, let context = unsafe EVP_MD_CTX_new() else { return false }
        defer {
            unsafe copenssl_free(encoded)
            unsafe EVP_MD_CTX_free(context)
        }
        return unsafe EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key.raw) == 1
            && EVP_DigestVerify(context, encoded, Int(length), text, text.count) == 1
    }
}

/// A private key on P-256 with its public key.
public struct KeyPair: Sendable {
    /// The scalar: `P256.privateKeyBytes` bytes, a secret.
    public let privateKey: [UInt8]
    /// The point: `P256.publicKeyBytes` bytes.
    public let publicKey: [UInt8]

    /// Computes the pair of a private key. Returns `nil` if the number is not between 0 and the order of the curve.
    public init?(privateKey: [UInt8]) {
        guard let publicKey = Self.publicKey(of: privateKey) else { return nil }
        self.privateKey = privateKey
        self.publicKey = publicKey
    }

    /// Generates a pair from random bytes. Returns `nil` if the source yields no valid key.
    public init?(random: (_ count: Int) -> [UInt8]) {
        // One draw in four thousand million is not a valid key.
        for _ in 0..<Limits.Registration.keyDraws {
            guard let pair = KeyPair(privateKey: random(P256.privateKeyBytes)) else { continue }
            self = pair
            return
        }
        return nil
    }

    /// Computes the shared secret of 32 bytes. Returns `nil` if the other key is not a point on the curve.
    public func secret(with publicKey: [UInt8]) -> [UInt8]? {
        defer { ERR_clear_error() }
        guard let own = CurveKey(publicKey: self.publicKey, scalar: privateKey),
            let other = CurveKey(publicKey: publicKey),
            let context = unsafe EVP_PKEY_CTX_new(own.raw, nil)
        else { return nil }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var length = 32
        var secret = [UInt8](repeating: 0, count: length)
        guard unsafe EVP_PKEY_derive_init(context) == 1,
            unsafe EVP_PKEY_derive_set_peer(context, other.raw) == 1,
            unsafe EVP_PKEY_derive(context, &secret, &length) == 1, length == 32
        else { return nil }
        return secret
    }

    /// The curve, immutable after initialization.
    nonisolated(unsafe) private static let group = unsafe EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1)

    private static func publicKey(of privateKey: [UInt8]) -> [UInt8]? {
        defer { ERR_clear_error() }
        guard privateKey.count == P256.privateKeyBytes, let group = unsafe group else { return nil }
        let number = unsafe BN_bin2bn(privateKey, Int32(privateKey.count), nil)
        let point = unsafe EC_POINT_new(group)
        defer {
            unsafe BN_clear_free(number)
            unsafe EC_POINT_free(point)
        }
        guard let number = unsafe number, let point = unsafe point, unsafe BN_is_zero(number) == 0,
            unsafe BN_cmp(number, EC_GROUP_get0_order(group)) < 0
        else { return nil }
        unsafe BN_set_flags(number, BN_FLG_CONSTTIME)
        var bytes = [UInt8](repeating: 0, count: P256.publicKeyBytes)
        guard unsafe EC_POINT_mul(group, point, number, nil, nil, nil) == 1,
            unsafe EC_POINT_point2oct(
                group, point, POINT_CONVERSION_UNCOMPRESSED, &bytes, bytes.count, nil) == bytes.count
        else { return nil }
        return bytes
    }
}
