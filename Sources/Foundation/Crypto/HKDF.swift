import Basics
import COpenSSL

/// Key derivation by HKDF with SHA-256 (RFC 5869).
enum HKDF {
    /// Derives up to 32 bytes: Web Push needs no more, so one round of HKDF is enough.
    static func derive(salt: [UInt8], secret: [UInt8], info: [UInt8], count: Int) -> [UInt8] {
        precondition(count <= 32, "invalid count: expected at most 32 bytes")
        let key = mac(key: salt, secret)
        return Array(mac(key: key, info + [1]).prefix(count))
    }

    private static func mac(key: [UInt8], _ text: [UInt8]) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: 32) { room, count in
            let mac = unsafe HMAC(
                EVP_sha256(), key, Int32(key.count), text, text.count, room.baseAddress, nil)
            precondition(unsafe mac != nil, "OpenSSL failed to compute an HMAC")
            count = 32
        }
    }
}
