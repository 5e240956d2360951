import Basics
import COpenSSL

/// A PKCS #12 archive (`.p12`, `.pfx`), opened with its password (RFC 7292).
struct PKCS12Archive {
    /// The private key. `nil` if the archive has none.
    let key: PrivateKeyObject?
    /// The certificates, that of the key first.
    let certificates: [CertificateObject]

    /// Opens an archive. Throws `APNsFileProblem` if it is damaged or the password is wrong.
    init(_ bytes: [UInt8], password: Redacted<String>?) throws(APNsFileProblem) {
        ERR_clear_error()
        defer { ERR_clear_error() }
        guard let archive = unsafe Self.decoded(bytes) else {
            throw .damaged(Self.lastError())
        }
        defer { unsafe PKCS12_free(archive) }
        guard unsafe Self.iterations(of: archive) <= Limits.APNsCredentials.passwordIterations else {
            throw .damaged("too many iterations")
        }
        var word = Array((password?.revealed ?? "").utf8CString)
        defer { for at in word.indices { word[at] = 0 } }
        // An archive without a password has a code for the empty one, or none at all.
        guard unsafe PKCS12_mac_present(archive) == 0 || Self.verifies(archive, word) else {
            throw password == nil ? .passwordMissing : .passwordWrong
        }
        var key: OpaquePointer?
        var own: OpaquePointer?
        var others: OpaquePointer?
        guard unsafe PKCS12_parse(archive, word, &key, &own, &others) == 1 else {
            throw Self.problem(password)
        }
        self.key = unsafe key.map { unsafe PrivateKeyObject(owning: $0) }
        var certificates = unsafe own.map { [unsafe CertificateObject(owning: $0)] } ?? []
        defer { unsafe copenssl_free_certificates(others) }
        for at in 0..<max(0, unsafe copenssl_certificate_count(others)) {
            guard let raw = unsafe copenssl_certificate_at(others, at), unsafe X509_up_ref(raw) == 1 else {
                continue
            }
            certificates.append(unsafe CertificateObject(owning: raw))
        }
        self.certificates = certificates
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

    private static func verifies(_ archive: OpaquePointer, _ word: [CChar]) -> Bool {
        defer { ERR_clear_error() }
        if unsafe PKCS12_verify_mac(archive, word, -1) == 1 { return true }
        return unsafe word.count == 1 && PKCS12_verify_mac(archive, nil, 0) == 1
    }

    /// Returns the problem for OpenSSL's last error.
    private static func problem(_ password: Redacted<String>?) -> APNsFileProblem {
        let code = ERR_peek_last_error()
        let reason = ERR_GET_REASON(code)
        if ERR_GET_LIB(code) == ERR_LIB_EVP,
            reason == EVP_R_UNSUPPORTED_ALGORITHM || reason == ERR_R_UNSUPPORTED
        {
            return .unsupportedEncryption
        }
        if reason == ERR_R_UNSUPPORTED { return .unsupportedEncryption }
        if ERR_GET_LIB(code) == ERR_LIB_PKCS12, reason == PKCS12_R_MAC_VERIFY_FAILURE {
            return password == nil ? .passwordMissing : .passwordWrong
        }
        return .damaged(lastError())
    }

    /// The text of OpenSSL's last error.
    private static func lastError() -> String {
        let code = ERR_peek_last_error()
        return unsafe ERR_reason_error_string(code).map { unsafe String(cString: $0) } ?? "unknown error"
    }
}
