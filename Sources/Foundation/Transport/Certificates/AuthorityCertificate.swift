public import Basics
import COpenSSL

/// The certificate of an authority, for clients to trust and operators to compare.
public struct AuthorityCertificate: Sendable {
    /// The certificate (PEM).
    public let text: [UInt8]
    /// SHA-256 of the certificate (DER).
    public let fingerprint: [UInt8]
    /// When it expires, in milliseconds since 1970.
    public let notAfter: UnixMilliseconds

    /// Reads the first certificate of a file. Throws if there is none.
    public init(file: String) throws(TransportError) {
        text = try SmallFile.read(file)
        guard let certificate = try PEM.certificates(text).first else {
            throw TransportError("read \(file)", detail: "it has no certificate")
        }
        var digest = [UInt8](repeating: 0, count: 32)
        var count: UInt32 = 0
        guard unsafe X509_digest(certificate.raw, EVP_sha256(), &digest, &count) == 1, count == 32 else {
            throw OpenSSLErrors.failure("compute the fingerprint of \(file)")
        }
        fingerprint = digest
        notAfter = certificate.notAfter
    }

    /// The fingerprint as openssl prints it: pairs of hexadecimal digits with colons.
    public var fingerprintText: String {
        fingerprint.map { Hex.text([$0]).uppercased() }.joined(separator: ":")
    }
}
