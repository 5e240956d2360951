import COpenSSL

/// The SHA-256 of bytes that arrive in parts.
@safe public struct RunningDigest: ~Copyable {
    private let context: OpaquePointer?

    /// Starts with no bytes.
    public init() {
        unsafe context = EVP_MD_CTX_new()
        _ = unsafe EVP_DigestInit_ex(context, EVP_sha256(), nil)
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    /// Adds bytes.
    public func add(_ bytes: borrowing RawSpan) {
        unsafe bytes.withUnsafeBytes { bytes in
            _ = unsafe EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
        }
    }

    /// Returns the digest of all bytes: 32 bytes. Ends the digest.
    public consuming func finish() -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: 32) { room, count in
            _ = unsafe EVP_DigestFinal_ex(context, room.baseAddress, nil)
            count = 32
        }
    }
}
