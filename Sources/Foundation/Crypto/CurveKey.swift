import Basics
import COpenSSL

/// A P-256 key as an OpenSSL object.
@safe struct CurveKey: ~Copyable {
    let raw: OpaquePointer

    /// Creates a public key, or with a scalar a key pair. Returns `nil` if the bytes are not a point on the curve.
    ///
    /// OpenSSL only checks that the point is on the curve; `isValid` makes all checks.
    init?(publicKey: [UInt8], scalar: [UInt8]? = nil) {
        defer { ERR_clear_error() }
        guard publicKey.count == P256.publicKeyBytes, publicKey[0] == 4,
            let context = unsafe EVP_PKEY_CTX_new_from_name(nil, "EC", nil)
        else { return nil }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var group = Array("prime256v1".utf8CString)
        var point = publicKey
        // OpenSSL expects native byte order; both supported architectures are little-endian.
        var number = Array((scalar ?? []).reversed())
        var made: OpaquePointer?
        let selection = scalar == nil ? copenssl_public_key_selection() : copenssl_key_pair_selection()
        let isMade = unsafe group.withUnsafeMutableBufferPointer { group in
            unsafe point.withUnsafeMutableBufferPointer { point in
                unsafe number.withUnsafeMutableBufferPointer { number in
                    var parts = unsafe [
                        OSSL_PARAM_construct_utf8_string(Self.name("group"), group.baseAddress, 0),
                        OSSL_PARAM_construct_octet_string(Self.name("pub"), point.baseAddress, point.count),
                    ]
                    if !number.isEmpty {
                        unsafe parts.append(
                            OSSL_PARAM_construct_BN(Self.name("priv"), number.baseAddress, number.count))
                    }
                    unsafe parts.append(OSSL_PARAM_construct_end())
                    return unsafe EVP_PKEY_fromdata_init(context) == 1
                        && EVP_PKEY_fromdata(context, &made, selection, &parts) == 1
                }
            }
        }
        for at in number.indices { number[at] = 0 }
        guard isMade, let made = unsafe made else { return nil }
        unsafe raw = made
    }

    deinit { unsafe EVP_PKEY_free(raw) }

    /// Returns a C string with static lifetime, since OpenSSL retains the address; literals end with a zero byte.
    private static func name(_ literal: StaticString) -> UnsafePointer<CChar> {
        unsafe UnsafeRawPointer(literal.utf8Start).assumingMemoryBound(to: CChar.self)
    }

    /// Whether the point is on the curve, of the right order, and not at infinity.
    var isValid: Bool {
        defer { ERR_clear_error() }
        guard let context = unsafe EVP_PKEY_CTX_new(raw, nil) else { return false }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        return unsafe EVP_PKEY_public_check(context) == 1
    }
}
