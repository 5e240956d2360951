public import Basics

/// A `.p8` key of Apple, with which a server signs provider tokens (apns 1.4).
public struct APNsSigningKey: Sendable {
    /// PEM of the private key (PKCS #8, not encrypted).
    public let key: Redacted<[UInt8]>
    /// SHA-256 of the public key in DER.
    public let fingerprint: [UInt8]

    /// Reads a key in PEM. Throws `APNsFileProblem` if it is not an EC key on P-256.
    public init(pem: Redacted<[UInt8]>) throws(APNsFileProblem) {
        guard let key = PrivateKeyObject.decode(pem: pem.revealed) else { throw .noPrivateKey }
        try self.init(key)
    }

    init(_ key: PrivateKeyObject) throws(APNsFileProblem) {
        guard key.isP256 else { throw .otherKey(key.kind) }
        guard let text = key.pem, let publicKey = key.publicKey else {
            throw .damaged("the key cannot be encoded")
        }
        self.key = text
        fingerprint = SHA256Digest.of(publicKey)
    }
}

/// A credential for APNs in one of the formats in which operators have it (apns 1.5).
public enum APNsCredentialFile: Sendable {
    case certificate(APNsCertificate)
    case key(APNsSigningKey)

    /// Reads a credential: a `.p12` archive, a certificate with its key in PEM, or a `.p8` key. The content determines the format,
    /// regardless of the name of the file.
    ///
    /// Throws `APNsFileProblem`, which describes what the file is instead. The password is not kept.
    public static func read(
        _ file: Redacted<[UInt8]>, privateKey: Redacted<[UInt8]>? = nil, password: Redacted<String>? = nil,
        now: UnixMilliseconds
    ) throws(APNsFileProblem) -> APNsCredentialFile {
        let bytes = PEMText.mended(file.revealed)
        let privateKey = privateKey.map { Redacted(PEMText.mended($0.revealed)) }
        for content in [bytes, privateKey?.revealed ?? [0]] {
            guard !content.isEmpty else { throw .empty }
            guard content.count <= Limits.APNsCredentials.fileBytes else { throw .tooLarge }
        }
        let credential: APNsCredentialFile
        switch Content(bytes) {
        case .archive:
            guard privateKey == nil else { throw .archiveAndKey }
            credential = .certificate(try certificate(archive: bytes, password, now))
        case .certificate:
            guard let own = CertificateObject.decode(der: bytes) else { throw .unrecognized }
            guard let privateKey else { throw .certificateAlone }
            credential = .certificate(try APNsCertificate([own], key(in: privateKey, password)))
        case .text(let labels): credential = try read(text: bytes, labels, privateKey, password)
        case .profile: throw .provisioningProfile
        case .unknown: throw .unrecognized
        }
        if case .certificate(let certificate) = credential, certificate.notAfter <= now {
            throw .expired(certificate.notAfter)
        }
        if case .certificate(let certificate) = credential, certificate.notBefore > now {
            throw .notYetValid(certificate.notBefore)
        }
        return credential
    }

    /// Reads PEM texts.
    private static func read(
        text: [UInt8], _ labels: [String], _ privateKey: Redacted<[UInt8]>?, _ password: Redacted<String>?
    ) throws(APNsFileProblem) -> APNsCredentialFile {
        let hasKey = labels.contains { $0.hasSuffix("PRIVATE KEY") }
        if labels.contains(where: { $0.hasSuffix("CERTIFICATE") }) {
            let certificates = CertificateObject.decode(pem: text)
            guard !certificates.isEmpty else { throw .unrecognized }
            guard hasKey || privateKey != nil else { throw .certificateAlone }
            return .certificate(
                try APNsCertificate(certificates, key(in: privateKey ?? Redacted(text), password)))
        }
        guard hasKey else {
            if labels.contains(where: { $0.hasSuffix("CERTIFICATE REQUEST") }) { throw .certificateRequest }
            throw labels.contains { $0.hasSuffix("PUBLIC KEY") } ? .publicKey : .unrecognized
        }
        if let privateKey {
            throw CertificateObject.decode(pem: privateKey.revealed).isEmpty ? .archiveAndKey : .filesSwapped
        }
        let signing = try key(in: Redacted(text), password)
        guard signing.isP256 else { throw .otherKey(signing.kind) }
        guard !labels.contains("EC PRIVATE KEY") else { throw .keyNotPKCS8 }
        return .key(try APNsSigningKey(signing))
    }

    private static func certificate(
        archive bytes: [UInt8], _ password: Redacted<String>?, _ now: UnixMilliseconds
    ) throws(APNsFileProblem) -> APNsCertificate {
        let archive = try PKCS12Archive(bytes, password: password)
        guard !archive.keys.isEmpty else { throw .certificateAlone }
        // Keychain Access exports all that is selected: the push certificate may be one of several with their keys.
        let issuers = archive.certificates.filter { one in !archive.keys.contains { $0.belongs(to: one) } }
        var (usable, problem): (APNsCertificate?, APNsFileProblem?)
        for key in archive.keys {
            for own in archive.certificates where key.belongs(to: own) {
                do throws(APNsFileProblem) {
                    let found = try APNsCertificate([own] + issuers, key)
                    if found.notBefore <= now, found.notAfter > now { return found }
                    usable = usable ?? found
                } catch {
                    problem = problem ?? error
                }
            }
        }
        guard let usable else { throw problem ?? .keyMismatch }
        return usable
    }

    /// Returns the private key of a PEM text.
    private static func key(
        in text: Redacted<[UInt8]>, _ password: Redacted<String>?
    ) throws(APNsFileProblem) -> PrivateKeyObject {
        if password != nil {
            var budget = DerivationBudget()
            try budget.charge(pem: text.revealed)
        }
        if let key = PrivateKeyObject.decode(pem: text.revealed, password: password) { return key }
        let words = String(decoding: text.revealed, as: UTF8.self)
        guard words.contains("ENCRYPTED") else { throw .noPrivateKey }
        throw password == nil ? .passwordMissing : .passwordWrong
    }
}

/// What a file is, by its first bytes.
private enum Content {
    /// PKCS #12.
    case archive
    /// A certificate in DER.
    case certificate
    /// PEM, with the labels of its parts.
    case text([String])
    /// Signed data (PKCS #7), which a provisioning profile is.
    case profile
    case unknown

    /// 1.2.840.113549.1.7.2
    private static let signedData: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]

    init(_ bytes: [UInt8]) {
        let labels = Self.labels(bytes)
        guard labels.isEmpty else {
            self = .text(labels)
            return
        }
        var outer = DERReader(bytes)
        guard let content = outer.next(DERReader.Tag.sequence) else {
            self = .unknown
            return
        }
        var inner = DERReader(content)
        switch inner.next() {
        case (DERReader.Tag.integer, let version)? where version.elementsEqual([3]): self = .archive
        case (DERReader.Tag.objectIdentifier, let name)? where name.elementsEqual(Self.signedData):
            self = .profile
        case (DERReader.Tag.sequence, _)?: self = .certificate
        default: self = .unknown
        }
    }

    /// Returns the labels of the parts of a PEM text: `CERTIFICATE`, `PRIVATE KEY`.
    private static func labels(_ bytes: [UInt8]) -> [String] {
        let start = Array("-----BEGIN ".utf8)
        return bytes.split { $0 == 0x0A || $0 == 0x0D }.compactMap { line in
            guard line.starts(with: start) else { return nil }
            let label = line.dropFirst(start.count).prefix { $0 != UInt8(ascii: "-") }
            return String(decoding: label, as: UTF8.self)
        }
    }
}
