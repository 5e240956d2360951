import Basics
import COpenSSL

/// Cryptographic digests.
public enum Digest {
    /// Returns the SHA-256 of bytes: 32 bytes.
    public static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        sha256(bytes.raw)
    }

    /// Returns the SHA-256 of borrowed bytes: 32 bytes.
    public static func sha256(_ bytes: RawSpan) -> [UInt8] {
        unsafe bytes.withUnsafeBytes { bytes in
            unsafe [UInt8](unsafeUninitializedCapacity: 32) { room, count in
                _ = unsafe SHA256(
                    bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, room.baseAddress)
                count = 32
            }
        }
    }

    /// Returns the SHA-1 of bytes: 20 bytes. Only for comparisons where a forgery gains nothing.
    public static func sha1(_ bytes: [UInt8]) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: 20) { room, count in
            _ = unsafe SHA1(bytes, bytes.count, room.baseAddress)
            count = 20
        }
    }

    /// Returns the HMAC-SHA-256 of a text: 32 bytes.
    public static func hmacSHA256(key: [UInt8], _ text: [UInt8]) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: 32) { room, count in
            let mac = unsafe HMAC(
                EVP_sha256(), key, Int32(key.count), text, text.count, room.baseAddress, nil)
            precondition(unsafe mac != nil, "OpenSSL failed to compute an HMAC")
            count = 32
        }
    }

    /// Returns a password hashed slowly with a salt, by PBKDF2 with HMAC-SHA-256: 32 bytes (`Hi` of RFC 5802, 2.2).
    public static func stretched(_ password: [UInt8], salt: [UInt8], iterations: Int) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: 32) { room, count in
            let done = unsafe password.withUnsafeBytes { password in
                unsafe PKCS5_PBKDF2_HMAC(
                    password.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(password.count), salt,
                    Int32(salt.count), Int32(clamping: iterations), EVP_sha256(), 32, room.baseAddress)
            }
            precondition(done == 1, "OpenSSL failed to compute PBKDF2")
            count = 32
        }
    }
}
