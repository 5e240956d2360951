public import Basics
import COpenSSL

/// A certificate authority of our own: for a server without a certificate yet, and for tests.
public struct CertificateAuthority: Sendable {
    /// PEM of the authority, for clients to trust.
    public let authorityFile: String
    /// PEM of the server's certificate and the authority.
    public let certificateFile: String
    /// PEM of the server's key; readable by the server's user only.
    public let keyFile: String
    private let authorityKeyFile: String

    private static var authorityDays: Int64 { 3_652 }
    /// The longest validity that common clients accept.
    private static var leafDays: Int64 { 397 }
    private static var dayMilliseconds: Int64 { 86_400_000 }

    /// Names the files in an existing directory; nothing is read or written.
    public init(directory: String) {
        authorityFile = directory + "/ca.pem"
        authorityKeyFile = directory + "/ca.key"
        certificateFile = directory + "/server.pem"
        keyFile = directory + "/server.key"
    }

    /// Makes what is missing, damaged or about to expire, for these DNS names and IP addresses. Returns whether anything was
    /// made.
    @discardableResult
    public func ensure(names: [String], now: UnixMilliseconds) throws(TransportError) -> Bool {
        let names = try SubjectNames(names)
        let authority: (certificate: Certificate, key: PrivateKey)
        var isNew = false
        if let found = try existingAuthority(now: now) {
            authority = found
        } else {
            authority = try makeAuthority(now: now)
            isNew = true
        }
        if !isNew, isLeafValid(names, authority.certificate, now: now) { return false }
        try makeLeaf(names, authority, now: now)
        return true
    }

    /// Reads the authority on disk, if any. Throws if it is damaged, as a start would. Nothing is changed.
    public func verify(now: UnixMilliseconds) throws(TransportError) { _ = try existingAuthority(now: now) }

    /// Returns the authority on disk, or `nil` if there is none. Throws if it is damaged: it is not replaced, since clients
    /// trust it.
    private func existingAuthority(now: UnixMilliseconds) throws(TransportError) -> (Certificate, PrivateKey)?
    {
        guard SmallFile.stamp(authorityFile) != nil, SmallFile.stamp(authorityKeyFile) != nil else {
            return nil
        }
        let key = try PEM.privateKey(SmallFile.read(authorityKeyFile))
        guard let certificate = try PEM.certificates(SmallFile.read(authorityFile)).first,
            unsafe X509_check_private_key(certificate.raw, key.raw) == 1
        else {
            _ = OpenSSLErrors.drain()
            throw TransportError(
                "use the own authority",
                detail: "\(authorityFile) and \(authorityKeyFile) do not belong together")
        }
        guard certificate.notAfter - now > Self.leafDays * Self.dayMilliseconds else { return nil }
        return (certificate, key)
    }

    private func isLeafValid(_ names: SubjectNames, _ authority: Certificate, now: UnixMilliseconds) -> Bool {
        guard let chain = try? SmallFile.read(certificateFile), let key = try? SmallFile.read(keyFile),
            (try? TLSIdentity(chain: chain, key: key, now: now)) != nil,
            let leaf = try? PEM.certificates(chain).first
        else { return false }
        // A certificate made while the clock was ahead would be refused until that time.
        guard leaf.notBefore <= now else { return false }
        let rest = leaf.notAfter - now
        return unsafe rest > Int64(Limits.Certificate.renewalDays) * Self.dayMilliseconds
            && names.areExactly(in: leaf)
            && X509_check_issued(authority.raw, leaf.raw) == X509_V_OK
    }

    private func makeAuthority(now: UnixMilliseconds) throws(TransportError) -> (Certificate, PrivateKey) {
        let suffix = Hex.text(SecureRandom.bytes(4))
        let (certificate, key) = try CertificateBuilder.makeAuthority(
            named: "ccsd authority \(suffix)", now: now, days: Self.authorityDays)
        try SmallFile.replace(authorityKeyFile, with: PEM.text(key), mode: 0o600)
        try SmallFile.replace(authorityFile, with: PEM.text(certificate), mode: 0o644)
        return (certificate, key)
    }

    private func makeLeaf(
        _ names: SubjectNames, _ authority: (certificate: Certificate, key: PrivateKey), now: UnixMilliseconds
    ) throws(TransportError) {
        let (certificate, key) = try CertificateBuilder.makeLeaf(
            names, usage: "serverAuth", authority: authority, now: now, days: Self.leafDays)
        let chain = try PEM.text(certificate) + PEM.text(authority.certificate)
        // A crash between the two writes leaves a pair that does not match, which the next start replaces.
        try SmallFile.replace(keyFile, with: PEM.text(key), mode: 0o600)
        try SmallFile.replace(certificateFile, with: chain, mode: 0o644)
    }
}
