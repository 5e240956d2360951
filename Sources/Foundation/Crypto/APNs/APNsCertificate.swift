public import Basics
import COpenSSL

/// A push certificate with its private key, and what it allows (apns 1.5).
public struct APNsCertificate: Sendable {
    /// PEM of the certificate and its chain, the certificate itself first.
    public let chain: [UInt8]
    /// PEM of the private key (PKCS #8, not encrypted).
    public let key: Redacted<[UInt8]>
    /// The common name, such as `Apple Push Services: com.example.app`.
    public let name: String
    /// The common name of the issuer.
    public let issuer: String
    /// The bundle ID of the app.
    public let bundle: String
    /// The topics that the certificate allows; at least one.
    public let topics: [String]
    /// Whether it may be used with the sandbox.
    public let allowsSandbox: Bool
    /// Whether it may be used in production.
    public let allowsProduction: Bool
    public let notBefore: UnixMilliseconds
    public let notAfter: UnixMilliseconds
    /// SHA-256 of the certificate in DER.
    public let fingerprint: [UInt8]
    /// Whether the extensions of Apple are missing, so that the name determined the environments.
    private let hasNoExtensions: Bool

    /// The extensions of Apple that a push certificate has.
    private enum Extension {
        static let sandbox = "1.2.840.113635.100.6.3.1"
        static let production = "1.2.840.113635.100.6.3.2"
        static let voiceTopics = "1.2.840.113635.100.6.3.4"
        static let topics = "1.2.840.113635.100.6.3.6"
    }

    /// Reads a certificate with its chain and its key, both PEM. Throws `APNsFileProblem` if they do not match or are for another
    /// service.
    public init(chain: [UInt8], key: Redacted<[UInt8]>) throws(APNsFileProblem) {
        guard let privateKey = PrivateKeyObject.decode(pem: key.revealed) else { throw .noPrivateKey }
        try self.init(CertificateObject.decode(pem: chain), privateKey)
    }

    /// Creates a certificate from those of a file, one of which belongs to the key.
    init(_ certificates: [CertificateObject], _ key: PrivateKeyObject) throws(APNsFileProblem) {
        guard let place = certificates.firstIndex(where: { key.belongs(to: $0) }) else { throw .keyMismatch }
        let own = certificates[place]
        var issuers = certificates
        issuers.remove(at: place)
        let parts = ([own] + issuers).compactMap(\.pem)
        guard parts.count == certificates.count, let keyText = key.pem, let der = own.der else {
            throw .damaged("the certificate cannot be encoded")
        }
        chain = Array(parts.joined())
        self.key = keyText
        fingerprint = SHA256Digest.of(der)
        name = own.subject(NID_commonName) ?? ""
        issuer = own.issuerName ?? ""
        notBefore = own.notBefore
        notAfter = own.notAfter
        let listed =
            Self.topics(own.extensionContent(Extension.topics))
            + Self.topics(own.extensionContent(Extension.voiceTopics))
        let isForSandbox = own.extensionContent(Extension.sandbox) != nil
        let isForProduction = own.extensionContent(Extension.production) != nil
        hasNoExtensions = !isForSandbox && !isForProduction
        guard !hasNoExtensions || !listed.isEmpty || Self.isPushName(name) else {
            throw .otherCertificate(name)
        }
        allowsSandbox = hasNoExtensions ? !name.contains("Production") : isForSandbox
        allowsProduction = hasNoExtensions ? !name.contains("Development") : isForProduction
        let user = own.subject(NID_userId) ?? ""
        guard let first = listed.first ?? (AppleNames.isBundle(user) ? user : nil) else {
            throw .otherCertificate(name)
        }
        topics = listed.isEmpty ? [first] : listed
        bundle = topics.contains(user) ? user : first
    }

    /// What an operator should look at, although the certificate is accepted.
    public func warnings(now: UnixMilliseconds) -> [String] {
        var found: [String] = []
        if !issuer.contains("Apple") {
            found.append("the certificate was not issued by Apple, but by \"\(Printable.text(issuer))\"")
        }
        if !Self.isPushName(name) {
            found.append("the name of the certificate is unusual: \"\(Printable.text(name))\"")
        }
        if hasNoExtensions {
            found.append("the certificate has no extensions of Apple: its name determines the environments")
        } else if name.contains("Development"), allowsProduction {
            found.append("the name is that of a development certificate, but it allows production")
        } else if name.contains("Production"), allowsSandbox {
            found.append("the name is that of a production certificate, but it allows the sandbox")
        }
        if let days = Limits.APNsCredentials.warningDays.first, daysLeft(now: now) < days {
            found.append("the certificate expires at \(Timestamp.text(notAfter))")
        }
        return found
    }

    /// Whole days until the expiry; less than 0 afterwards.
    public func daysLeft(now: UnixMilliseconds) -> Int {
        let left = notAfter - now
        return Int(left / 86_400_000) - (left < 0 ? 1 : 0)
    }

    /// Whether a common name is one of Apple's for push notifications.
    private static func isPushName(_ name: String) -> Bool {
        (name.contains("Apple") && name.contains("Push Services"))
            || ["VoIP Services:", "Website Push ID:", "Pass Type ID:", "APSP:"].contains {
                name.hasPrefix($0)
            }
    }

    /// Returns the topics of an extension: pairs of a text and a sequence of texts.
    private static func topics(_ content: [UInt8]?) -> [String] {
        guard let content else { return [] }
        var outer = DERReader(content)
        guard let sequence = outer.next(DERReader.Tag.sequence) else { return [] }
        var reader = DERReader(sequence)
        var topics: [String] = []
        while let element = reader.next() {
            guard element.tag == DERReader.Tag.text else { continue }
            let topic = String(decoding: element.content, as: UTF8.self)
            if AppleNames.isBundle(topic), !topics.contains(topic) { topics.append(topic) }
        }
        return topics
    }
}

/// SHA-256 of certificates and keys.
enum SHA256Digest {
    static func of(_ bytes: [UInt8]) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: 32) { room, count in
            _ = unsafe SHA256(bytes, bytes.count, room.baseAddress)
            count = 32
        }
    }
}

extension CertificateObject {
    /// Returns the first value of a field of the subject. Returns `nil` if there is none.
    func subject(_ field: Int32) -> String? { unsafe Self.value(of: field, in: X509_get_subject_name(raw)) }

    /// The common name of the issuer, or its organization.
    var issuerName: String? {
        let name = unsafe X509_get_issuer_name(raw)
        return unsafe Self.value(of: NID_commonName, in: name)
            ?? Self.value(of: NID_organizationName, in: name)
    }

    var notBefore: UnixMilliseconds { unsafe Self.milliseconds(X509_get0_notBefore(raw)) }

    var notAfter: UnixMilliseconds { unsafe Self.milliseconds(X509_get0_notAfter(raw)) }

    /// Returns the content of an extension. Returns `nil` if the certificate does not have it.
    func extensionContent(_ identifier: String) -> [UInt8]? {
        guard let object = unsafe OBJ_txt2obj(identifier, 1) else { return nil }
        defer { unsafe ASN1_OBJECT_free(object) }
        let place = unsafe X509_get_ext_by_OBJ(raw, object, -1)
        guard place >= 0, let data = unsafe X509_EXTENSION_get_data(X509_get_ext(raw, place)),
            let start = unsafe ASN1_STRING_get0_data(data)
        else { return nil }
        return unsafe Array(UnsafeBufferPointer(start: start, count: Int(ASN1_STRING_length(data))))
    }

    private static func value(of field: Int32, in name: OpaquePointer?) -> String? {
        let place = unsafe X509_NAME_get_index_by_NID(name, field, -1)
        guard place >= 0, let entry = unsafe X509_NAME_get_entry(name, place) else { return nil }
        var text: UnsafeMutablePointer<UInt8>?
        let length = unsafe ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(entry))
        guard length >= 0, let start = unsafe text else { return nil }
        defer { unsafe copenssl_free(start) }
        return unsafe String(decoding: UnsafeBufferPointer(start: start, count: Int(length)), as: UTF8.self)
    }

    /// Converts a time; the calculation is OpenSSL's, since this module has no calendar.
    private static func milliseconds(_ time: UnsafePointer<ASN1_TIME>?) -> UnixMilliseconds {
        var days: Int32 = 0
        var seconds: Int32 = 0
        guard let epoch = unsafe ASN1_TIME_set(nil, 0) else { return 0 }
        defer { unsafe ASN1_TIME_free(epoch) }
        guard unsafe ASN1_TIME_diff(&days, &seconds, epoch, time) == 1 else { return 0 }
        return (Int64(days) * 86_400 + Int64(seconds)) * 1_000
    }
}
