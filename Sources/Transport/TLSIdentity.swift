public import Basics
import COpenSSL
import Glibc

/// A certificate chain with its key, read from files and found to belong together.
public struct TLSIdentity: Sendable {
    /// PEM of the chain, the server's own certificate first.
    public let chain: [UInt8]
    /// PEM of the key.
    let key: [UInt8]
    /// When the server's own certificate ends.
    public let notAfter: UnixMilliseconds
    /// What an operator should know, in words; empty when all is well.
    public let warnings: [String]

    /// Reads and checks both files; fails where no handshake could succeed with them.
    public init(certificateFile: String, keyFile: String, now: UnixMilliseconds) throws(TransportError) {
        try self.init(chain: SmallFile.read(certificateFile), key: SmallFile.read(keyFile), now: now)
    }

    /// Checks PEM texts.
    public init(chain: [UInt8], key: [UInt8], now: UnixMilliseconds) throws(TransportError) {
        let certificates = try PEM.certificates(chain)
        guard let own = certificates.first else {
            throw TransportError("load the certificate", detail: "the file holds no certificate")
        }
        let privateKey = try PEM.privateKey(key)
        guard unsafe X509_check_private_key(own.raw, privateKey.raw) == 1 else {
            throw OpenSSLErrors.failure(
                "load the key", otherwise: "the key does not belong to the certificate")
        }
        self.chain = chain
        self.key = key
        notAfter = own.notAfter
        warnings = Self.warnings(certificates, now: now)
    }

    private static func warnings(_ certificates: [Certificate], now: UnixMilliseconds) -> [String] {
        guard let own = certificates.first else { return [] }
        var found: [String] = []
        let day: Int64 = 86_400_000
        if own.notAfter <= now {
            found.append("the certificate has expired: clients that verify will refuse it")
        } else if own.notAfter - now < Int64(Limits.certificateRenewalDays) * day {
            found.append("the certificate expires in \((own.notAfter - now) / day) days")
        }
        if own.notBefore > now { found.append("the certificate is not valid yet") }
        for (at, (issued, issuer)) in zip(certificates, certificates.dropFirst()).enumerated()
        where unsafe X509_check_issued(issuer.raw, issued.raw) != X509_V_OK {
            found.append("certificate \(at + 2) of the chain did not issue certificate \(at + 1)")
        }
        return found
    }
}

extension Certificate {
    /// When it begins.
    var notBefore: UnixMilliseconds { unsafe Self.milliseconds(X509_get0_notBefore(raw)) }
    /// When it ends.
    var notAfter: UnixMilliseconds { unsafe Self.milliseconds(X509_get0_notAfter(raw)) }

    private static func milliseconds(_ time: UnsafePointer<ASN1_TIME>?) -> UnixMilliseconds {
        var parts = unsafe tm()
        guard unsafe ASN1_TIME_to_tm(time, &parts) == 1 else { return 0 }
        return unsafe Int64(timegm(&parts)) &* 1_000
    }
}
