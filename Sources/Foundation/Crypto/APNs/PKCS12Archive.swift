import Basics
import COpenSSL

/// A PKCS #12 archive (`.p12`, `.pfx`), opened with its password (RFC 7292).
struct PKCS12Archive {
    /// The private keys, in the order of the archive.
    private(set) var keys: [PrivateKeyObject] = []
    /// The certificates, in the order of the archive.
    private(set) var certificates: [CertificateObject] = []

    /// The contents that an archive may have inside each other; usual ones have none.
    private static let depth = 4

    /// Opens an archive. Throws `APNsFileProblem` if it is damaged, the password is wrong, or needs too many iterations.
    init(_ bytes: [UInt8], password: Redacted<String>?) throws(APNsFileProblem) {
        ERR_clear_error()
        defer { ERR_clear_error() }
        guard let archive = unsafe Self.decoded(bytes) else {
            throw .damaged(Self.lastError())
        }
        defer { unsafe PKCS12_free(archive) }
        var budget = DerivationBudget()
        var word: [CChar]? = Array((password?.revealed ?? "").utf8CString)
        defer { for at in word?.indices ?? 0..<0 { word?[at] = 0 } }
        let hasCode = unsafe PKCS12_mac_present(archive) == 1
        if hasCode {
            try budget.charge(unsafe Self.iterations(of: archive))
            // An archive without a password has a code for the empty one, or none at all.
            if unsafe PKCS12_verify_mac(archive, word, -1) != 1 {
                guard word?.count == 1, unsafe PKCS12_verify_mac(archive, nil, 0) == 1 else {
                    throw password == nil ? .passwordMissing : .passwordWrong
                }
                word = nil
            }
        }
        guard let contents = unsafe PKCS12_unpack_authsafes(archive) else { throw .damaged(Self.lastError()) }
        defer { unsafe copenssl_free_contents(contents) }
        for at in 0..<max(0, unsafe copenssl_content_count(contents)) {
            guard let content = unsafe copenssl_content_at(contents, at) else { continue }
            var bags: OpaquePointer?
            if unsafe copenssl_is_data(content) == 1 {
                unsafe bags = PKCS12_unpack_p7data(content)
            } else if let algorithm = unsafe copenssl_encryption_of(content) {
                try unsafe budget.charge(algorithm)
                unsafe bags = PKCS12_unpack_p7encdata(content, word, -1)
            } else {
                continue
            }
            guard let bags = unsafe bags else { throw Self.problem(password, isVerified: hasCode) }
            defer { unsafe copenssl_free_bags(bags) }
            try unsafe read(bags, word, &budget, depth: Self.depth) {
                Self.problem(password, isVerified: hasCode)
            }
        }
    }

    /// Reads the keys and certificates of a content. `problem` returns that of OpenSSL's last error.
    private mutating func read(
        _ bags: OpaquePointer, _ word: [CChar]?, _ budget: inout DerivationBudget, depth: Int,
        problem: () -> APNsFileProblem
    ) throws(APNsFileProblem) {
        guard depth > 0 else { throw .damaged("too many contents inside each other") }
        for at in 0..<max(0, unsafe copenssl_bag_count(bags)) {
            guard let bag = unsafe copenssl_bag_at(bags, at) else { continue }
            switch unsafe PKCS12_SAFEBAG_get_nid(bag) {
            case NID_keyBag:
                let key = unsafe PKCS12_SAFEBAG_get0_p8inf(bag).flatMap { unsafe Self.key($0) }
                guard let key else { throw problem() }
                keys.append(key)
            case NID_pkcs8ShroudedKeyBag:
                guard let sealed = unsafe PKCS12_SAFEBAG_get0_pkcs8(bag) else { throw problem() }
                var algorithm: UnsafePointer<X509_ALGOR>?
                unsafe X509_SIG_get0(sealed, &algorithm, nil)
                guard let algorithm = unsafe algorithm else { throw problem() }
                try unsafe budget.charge(algorithm)
                guard let plain = unsafe PKCS8_decrypt_ex(sealed, word, -1, LegacyAlgorithms.context, nil)
                else { throw problem() }
                defer { unsafe PKCS8_PRIV_KEY_INFO_free(plain) }
                guard let key = unsafe Self.key(plain) else { throw problem() }
                keys.append(key)
            case NID_certBag where unsafe PKCS12_SAFEBAG_get_bag_nid(bag) == NID_x509Certificate:
                guard let certificate = unsafe PKCS12_SAFEBAG_get1_cert(bag) else { throw problem() }
                unsafe certificates.append(CertificateObject(owning: certificate))
            case NID_safeContentsBag:
                guard let inner = unsafe PKCS12_SAFEBAG_get0_safes(bag) else { throw problem() }
                try unsafe read(inner, word, &budget, depth: depth - 1, problem: problem)
            default: break
            }
        }
    }

    private static func key(_ plain: OpaquePointer) -> PrivateKeyObject? {
        unsafe EVP_PKCS82PKEY_ex(plain, LegacyAlgorithms.context, nil).map {
            unsafe PrivateKeyObject(owning: $0)
        }
    }

    /// Decodes an archive whose algorithms are those of `LegacyAlgorithms`.
    private static func decoded(_ bytes: [UInt8]) -> OpaquePointer? {
        guard let context = unsafe LegacyAlgorithms.context else { return nil }
        return unsafe MemoryInput.reading(bytes) { input in
            // The decoder fills this object, so that all parts use its context; it frees the object if it fails.
            var archive = unsafe PKCS12_init_ex(NID_pkcs7_data, context, nil)
            guard unsafe archive != nil, unsafe d2i_PKCS12_bio(input, &archive) != nil else { return nil }
            return unsafe archive
        } ?? nil
    }

    /// Returns the number of iterations with which the key of the archive's code is derived.
    private static func iterations(of archive: OpaquePointer) -> Int {
        var count: UnsafePointer<ASN1_INTEGER>?
        unsafe PKCS12_get0_mac(nil, nil, nil, &count, archive)
        guard let count = unsafe count else { return 1 }
        var number: Int64 = 0
        guard unsafe ASN1_INTEGER_get_int64(&number, count) == 1, number > 0 else { return .max }
        return Int(number)
    }

    /// Returns the problem for OpenSSL's last error.
    private static func problem(_ password: Redacted<String>?, isVerified: Bool) -> APNsFileProblem {
        let code = ERR_peek_last_error()
        let reason = ERR_GET_REASON(code)
        if ERR_GET_LIB(code) == ERR_LIB_EVP,
            reason == EVP_R_UNSUPPORTED_ALGORITHM || reason == ERR_R_UNSUPPORTED
        {
            return .unsupportedEncryption
        }
        if reason == ERR_R_UNSUPPORTED { return .unsupportedEncryption }
        // Without a code, only the decryption shows that the password is wrong.
        guard isVerified else { return password == nil ? .passwordMissing : .passwordWrong }
        return .damaged(lastError())
    }

    /// The text of OpenSSL's last error.
    private static func lastError() -> String {
        let code = ERR_peek_last_error()
        return unsafe ERR_reason_error_string(code).map { unsafe String(cString: $0) } ?? "unknown error"
    }
}
