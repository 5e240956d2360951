public import Basics
import COpenSSL

/// Provider tokens: what a server presents to APNs instead of a certificate (apns 1.4).
public enum ProviderToken {
    /// Returns a token (JWT, ES256) with the time at which it was issued. Returns `nil` if the key is not an EC key on P-256.
    public static func make(
        keyPEM: Redacted<[UInt8]>, keyID: String, teamID: String, issuedAt: UnixMilliseconds
    ) -> [UInt8]? {
        guard let key = PrivateKeyObject.decode(pem: keyPEM.revealed), key.isP256 else { return nil }
        let header = "{\"alg\":\"ES256\",\"kid\":\"\(keyID)\"}"
        let claims = "{\"iss\":\"\(teamID)\",\"iat\":\(issuedAt / 1_000)}"
        let text = Array("\(encoded(Array(header.utf8))).\(encoded(Array(claims.utf8)))".utf8)
        guard let signature = signature(of: text, by: key) else { return nil }
        return text + [UInt8(ascii: ".")] + Array(encoded(signature).utf8)
    }

    private static func encoded(_ bytes: [UInt8]) -> String {
        Base64.text(bytes, urlSafe: true, padded: false)
    }

    /// Signs a text. Returns the two numbers of the signature, 32 bytes each (RFC 7518, 3.4).
    private static func signature(of text: [UInt8], by key: PrivateKeyObject) -> [UInt8]? {
        defer { ERR_clear_error() }
        guard let context = unsafe EVP_MD_CTX_new() else { return nil }
        defer { unsafe EVP_MD_CTX_free(context) }
        var length = Int(unsafe EVP_PKEY_get_size(key.raw))
        var encoded = [UInt8](repeating: 0, count: length)
        guard
            unsafe EVP_DigestSignInit_ex(
                context, nil, "SHA2-256", LegacyAlgorithms.context, nil, key.raw, nil) == 1,
            unsafe EVP_DigestSign(context, &encoded, &length, text, text.count) == 1
        else { return nil }
        let parts = unsafe encoded.withUnsafeBufferPointer { buffer in
            var at = buffer.baseAddress
            return unsafe d2i_ECDSA_SIG(nil, &at, length)
        }
        guard let parts = unsafe parts else { return nil }
        defer { unsafe ECDSA_SIG_free(parts) }
        let half = P256.signatureBytes / 2
        var (r, s) = ([UInt8](repeating: 0, count: half), [UInt8](repeating: 0, count: half))
        guard unsafe BN_bn2binpad(ECDSA_SIG_get0_r(parts), &r, Int32(half)) == half,
            unsafe BN_bn2binpad(ECDSA_SIG_get0_s(parts), &s, Int32(half)) == half
        else { return nil }
        return r + s
    }
}
