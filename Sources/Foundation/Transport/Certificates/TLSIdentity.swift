public import Basics
import COpenSSL
import Glibc

/// The files of a certificate chain and its key, for error texts.
public struct TLSFileNames: Sendable {
    /// The file of the chain.
    public var certificate: String
    /// The file of the key.
    public var key: String

    public init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }
}

/// A certificate chain with its key, read from files, and verified to match.
public struct TLSIdentity: Sendable {
    /// PEM of the chain, the server's own certificate first.
    public let chain: [UInt8]
    /// PEM of the key.
    let key: [UInt8]
    /// The expiry of the server's own certificate.
    public let notAfter: UnixMilliseconds
    /// Warnings for the operator; empty if there are none.
    public let warnings: [String]

    /// Reads and checks both files, which must be regular ones. Throws if no handshake could succeed with them.
    public init(certificateFile: String, keyFile: String, now: UnixMilliseconds) throws(TransportError) {
        try self.init(
            chain: SmallFile.read(certificateFile, waits: false),
            key: SmallFile.read(keyFile, waits: false), now: now,
            names: TLSFileNames(certificate: certificateFile, key: keyFile))
    }

    /// Checks PEM texts; errors contain the names of their files, if these are known.
    public init(
        chain: [UInt8], key: [UInt8], now: UnixMilliseconds, names: TLSFileNames? = nil
    ) throws(TransportError) {
        let certificates: [Certificate]
        do throws(TransportError) { certificates = try PEM.certificates(chain) } catch {
            throw error.about(names?.certificate)
        }
        guard let own = certificates.first else {
            throw TransportError("load the certificate", detail: "the file contains no certificate")
                .about(names?.certificate)
        }
        let privateKey: PrivateKey
        do throws(TransportError) { privateKey = try PEM.privateKey(key) } catch {
            throw error.about(names?.key)
        }
        guard unsafe X509_check_private_key(own.raw, privateKey.raw) == 1 else {
            let failure = OpenSSLErrors.failure(
                "load the key", otherwise: "the key does not belong to the certificate")
            guard let names else { throw failure }
            throw TransportError(
                "load the key in \(names.key)", detail: "\(failure.detail) (\(names.certificate))",
                code: failure.code)
        }
        self.chain = chain
        self.key = key
        notAfter = own.notAfter
        warnings = Self.warnings(certificates, now: now)
    }

    /// Whether clients that connect to a host name accept the certificate.
    public func isValid(for host: String) -> Bool {
        guard let own = try? PEM.certificates(chain).first else { return false }
        defer { _ = OpenSSLErrors.drain() }
        return unsafe X509_check_host(own.raw, host, host.utf8.count, 0, nil) == 1
    }

    private static func warnings(_ certificates: [Certificate], now: UnixMilliseconds) -> [String] {
        guard let own = certificates.first else { return [] }
        var found: [String] = []
        let day: Int64 = 86_400_000
        if own.notAfter <= now {
            found.append("the certificate has expired: clients that verify will refuse it")
        } else if own.notAfter - now < Int64(Limits.Certificate.renewalDays) * day {
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
    /// Start of the validity.
    var notBefore: UnixMilliseconds { unsafe Self.milliseconds(X509_get0_notBefore(raw)) }
    /// End of the validity.
    var notAfter: UnixMilliseconds { unsafe Self.milliseconds(X509_get0_notAfter(raw)) }

    private static func milliseconds(_ time: UnsafePointer<ASN1_TIME>?) -> UnixMilliseconds {
        var parts = unsafe tm()
        guard unsafe ASN1_TIME_to_tm(time, &parts) == 1 else { return 0 }
        return unsafe Int64(timegm(&parts)) &* 1_000
    }
}
