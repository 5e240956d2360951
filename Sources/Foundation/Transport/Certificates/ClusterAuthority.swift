public import Basics
import COpenSSL

/// The authority of a cluster: it signs the certificates by which nodes recognize each other, and no others.
///
/// Its key is needed only to add or renew a node, so it does not have to stay on any of them.
public struct ClusterAuthority {
    /// A certificate with its issuers, and its key; both PEM.
    public struct Pair: Sendable {
        /// The chain, the own certificate first.
        public let chain: [UInt8]
        /// The key.
        public let key: Redacted<[UInt8]>
    }

    private static var authorityDays: Int64 { 7_305 }
    private static var nodeDays: Int64 { 3_652 }

    private let authority: (certificate: Certificate, key: PrivateKey)

    /// Makes the authority of a new cluster.
    public init(of cluster: ClusterID, now: UnixMilliseconds) throws(TransportError) {
        authority = try CertificateBuilder.makeAuthority(
            named: "ccsd cluster \(cluster.text)", now: now, days: Self.authorityDays)
    }

    /// Reads an authority. Throws if certificate and key do not belong together.
    public init(certificate: [UInt8], key: Redacted<[UInt8]>) throws(TransportError) {
        let key = try PEM.privateKey(key.revealed)
        guard let certificate = try PEM.certificates(certificate).first,
            unsafe X509_check_private_key(certificate.raw, key.raw) == 1
        else {
            _ = OpenSSLErrors.drain()
            throw TransportError(
                "use the cluster's authority", detail: "the key does not belong to the certificate")
        }
        authority = (certificate, key)
    }

    /// The authority itself, for its files.
    public func pair() throws(TransportError) -> Pair {
        try Pair(chain: PEM.text(authority.certificate), key: Redacted(PEM.text(authority.key)))
    }

    /// Makes the certificate of a node, as server and as client, for one DNS name.
    public func makeNode(named name: String, now: UnixMilliseconds) throws(TransportError) -> Pair {
        let (certificate, key) = try CertificateBuilder.makeLeaf(
            SubjectNames([name]), usage: "serverAuth,clientAuth", authority: authority, now: now,
            days: Self.nodeDays)
        return try Pair(chain: PEM.text(certificate), key: Redacted(PEM.text(key)))
    }
}
