import Basics
import COpenSSL

/// Cryptographic digests.
package enum Digest {
    /// The SHA-256 of bytes: 32 octets.
    package static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        sha256(bytes.raw)
    }

    /// The SHA-256 of borrowed bytes: 32 octets.
    package static func sha256(_ bytes: RawSpan) -> [UInt8] {
        unsafe bytes.withUnsafeBytes { bytes in
            unsafe [UInt8](unsafeUninitializedCapacity: 32) { room, count in
                _ = unsafe SHA256(
                    bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, room.baseAddress)
                count = 32
            }
        }
    }
}
