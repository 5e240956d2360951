import Basics
import COpenSSL
import Glibc

/// Builds and signs a certificate.
struct CertificateBuilder {
    let certificate: Certificate

    /// Creates an unsigned certificate, valid from an hour ago, since clocks of clients differ.
    init(commonName: String, key: PrivateKey, now: UnixMilliseconds, days: Int64) throws(TransportError) {
        guard let raw = unsafe X509_new() else { throw OpenSSLErrors.failure("make a certificate") }
        unsafe certificate = Certificate(owning: raw)
        let begin = time_t(now / 1_000 - 3_600)
        let name = unsafe X509_get_subject_name(raw)
        let words = Array(commonName.utf8)
        guard unsafe X509_set_version(raw, 2) == 1, unsafe Self.setSerial(raw),
            unsafe ASN1_TIME_set(X509_getm_notBefore(raw), begin) != nil,
            unsafe ASN1_TIME_set(X509_getm_notAfter(raw), begin + time_t(days * 86_400)) != nil,
            unsafe X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_FLAG, words, Int32(words.count), -1, 0)
                == 1,
            unsafe X509_set_pubkey(raw, key.raw) == 1
        else { throw OpenSSLErrors.failure("make a certificate") }
    }

    /// Makes an authority with a new key.
    static func makeAuthority(
        named name: String, now: UnixMilliseconds, days: Int64
    ) throws(TransportError) -> (certificate: Certificate, key: PrivateKey) {
        let key = try makeKey()
        let builder = try CertificateBuilder(commonName: name, key: key, now: now, days: days)
        try builder.add(NID_basic_constraints, "critical,CA:TRUE,pathlen:0", issuer: builder.certificate)
        try builder.add(NID_key_usage, "critical,keyCertSign,cRLSign", issuer: builder.certificate)
        try builder.add(NID_subject_key_identifier, "hash", issuer: builder.certificate)
        try builder.sign(issuer: builder.certificate, key: key)
        return (builder.certificate, key)
    }

    /// Makes a certificate with a new key, for an extended usage such as `serverAuth`.
    static func makeLeaf(
        _ names: SubjectNames, usage: String, authority: (certificate: Certificate, key: PrivateKey),
        now: UnixMilliseconds, days: Int64
    ) throws(TransportError) -> (certificate: Certificate, key: PrivateKey) {
        let key = try makeKey()
        let issuer = authority.certificate
        let builder = try CertificateBuilder(commonName: names.commonName, key: key, now: now, days: days)
        try builder.add(NID_basic_constraints, "critical,CA:FALSE", issuer: issuer)
        try builder.add(NID_key_usage, "critical,digitalSignature", issuer: issuer)
        try builder.add(NID_ext_key_usage, usage, issuer: issuer)
        try builder.add(NID_subject_key_identifier, "hash", issuer: issuer)
        try builder.add(NID_authority_key_identifier, "keyid", issuer: issuer)
        try builder.add(NID_subject_alt_name, names.extensionText, issuer: issuer)
        try builder.sign(issuer: issuer, key: authority.key)
        return (builder.certificate, key)
    }

    /// Makes a new EC key on P-256.
    static func makeKey() throws(TransportError) -> PrivateKey {
        guard let raw = unsafe copenssl_make_p256_key() else { throw OpenSSLErrors.failure("make a key") }
        return unsafe PrivateKey(owning: raw)
    }

    private static func setSerial(_ raw: OpaquePointer) -> Bool {
        var bytes = SecureRandom.bytes(16)
        bytes[0] &= 0x7f  // Serial numbers are positive (RFC 5280, 4.1.2.2).
        let number = unsafe BN_bin2bn(bytes, Int32(bytes.count), nil)
        defer { unsafe BN_free(number) }
        return unsafe BN_to_ASN1_INTEGER(number, X509_get_serialNumber(raw)) != nil
    }

    /// Adds an extension in the syntax of openssl.cnf.
    func add(_ kind: Int32, _ value: String, issuer: Certificate) throws(TransportError) {
        var context = unsafe X509V3_CTX()
        unsafe X509V3_set_ctx(&context, issuer.raw, certificate.raw, nil, nil, 0)
        let made = unsafe X509V3_EXT_conf_nid(nil, &context, kind, value)
        defer { unsafe X509_EXTENSION_free(made) }
        guard let made = unsafe made, unsafe X509_add_ext(certificate.raw, made, -1) == 1 else {
            throw OpenSSLErrors.failure("make a certificate")
        }
    }

    /// Signs it with the issuer's key.
    func sign(issuer: Certificate, key: PrivateKey) throws(TransportError) {
        guard unsafe X509_set_issuer_name(certificate.raw, X509_get_subject_name(issuer.raw)) == 1,
            unsafe X509_sign(certificate.raw, key.raw, EVP_sha256()) > 0
        else { throw OpenSSLErrors.failure("sign a certificate") }
    }
}

extension PEM {
    /// Returns the PEM text of a certificate.
    static func text(_ certificate: Certificate) throws(TransportError) -> [UInt8] {
        let output = try MemoryBIO()
        guard unsafe PEM_write_bio_X509(output.raw, certificate.raw) == 1 else {
            throw OpenSSLErrors.failure("write a certificate")
        }
        return output.bytes
    }

    /// Returns the PEM text of a key, not encrypted.
    static func text(_ key: PrivateKey) throws(TransportError) -> [UInt8] {
        let output = try MemoryBIO()
        guard unsafe PEM_write_bio_PrivateKey(output.raw, key.raw, nil, nil, 0, nil, nil) == 1 else {
            throw OpenSSLErrors.failure("write a key")
        }
        return output.bytes
    }
}

/// The DNS names and IP addresses of a server's certificate.
struct SubjectNames {
    private let hosts: [String]
    private let addresses: [String]

    /// Sorts names into hosts and addresses. Throws if a name cannot be in a certificate.
    init(_ names: [String]) throws(TransportError) {
        var hosts: [String] = []
        var addresses: [String] = []
        for name in names {
            if let address = SocketAddress(literal: name, port: 0) {
                if !addresses.contains(address.host) { addresses.append(address.host) }
            } else if !name.isEmpty, name.utf8.count <= 253, name.utf8.allSatisfy(Self.isHostByte) {
                let name = name.lowercased()
                if !hosts.contains(name) { hosts.append(name) }
            } else {
                throw TransportError(
                    "make a certificate", detail: "invalid name '\(name)': expected a host name or address")
            }
        }
        guard !hosts.isEmpty || !addresses.isEmpty else {
            throw TransportError("make a certificate", detail: "expected at least one name")
        }
        self.hosts = hosts
        self.addresses = addresses
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"),
            UInt8(ascii: "*"):
            true
        default: false
        }
    }

    /// The first name that fits into a common name (64 bytes).
    var commonName: String { (hosts + addresses).first { $0.utf8.count <= 64 } ?? "ccsd" }

    /// The names in the syntax of openssl.cnf: `DNS:a,DNS:b,IP:127.0.0.1`.
    var extensionText: String {
        (hosts.map { "DNS:" + $0 } + addresses.map { "IP:" + $0 }).joined(separator: ",")
    }

    /// Whether a certificate has all of these names and no others.
    func areExactly(in certificate: Certificate) -> Bool {
        let raw = unsafe certificate.raw
        guard let names = unsafe X509_get_ext_d2i(raw, NID_subject_alt_name, nil, nil) else { return false }
        let count = unsafe OPENSSL_sk_num(OpaquePointer(names))
        unsafe GENERAL_NAMES_free(OpaquePointer(names))
        let flags = UInt32(X509_CHECK_FLAG_NEVER_CHECK_SUBJECT)
        return Int(count) == hosts.count + addresses.count
            && hosts.allSatisfy { unsafe X509_check_host(raw, $0, $0.utf8.count, flags, nil) == 1 }
            && addresses.allSatisfy { unsafe X509_check_ip_asc(raw, $0, flags) == 1 }
    }
}
