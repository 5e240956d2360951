public import Basics

/// A certificate chain and its key, both PEM, that were handed over rather than read from their files.
public struct CertificateContent: Sendable {
    /// The chain, the server's own certificate first.
    public var chain: [UInt8]
    /// The key of the server's own certificate.
    public var key: Redacted<[UInt8]>
    /// The files that both were read from, as errors name them; nil if they are not known.
    public var names: TLSFileNames?

    /// Both parts.
    public init(chain: [UInt8], key: Redacted<[UInt8]>, names: TLSFileNames? = nil) {
        self.chain = chain
        self.key = key
        self.names = names
    }
}

/// A certificate with its key, as two files held them when they were read.
///
/// To take over what they hold now, load them anew: a failure then leaves what was loaded before in use.
public struct LoadedCertificate: Sendable {
    private let certificateFile: String
    private let keyFile: String
    private let stamps: [SmallFile.Stamp?]
    private let identity: TLSIdentity
    /// When the certificate expires.
    public var notAfter: UnixMilliseconds { identity.notAfter }
    /// What an operator should know of the certificate.
    public var warnings: [String] { identity.warnings }

    /// Reads the files. With `content`, that is used instead of what the files hold now, until they change.
    public init(
        certificateFile: String, keyFile: String, content: CertificateContent? = nil, now: UnixMilliseconds
    ) throws(TransportError) {
        self.certificateFile = certificateFile
        self.keyFile = keyFile
        stamps = [SmallFile.stamp(certificateFile), SmallFile.stamp(keyFile)]
        if let content {
            identity = try TLSIdentity(
                chain: content.chain, key: content.key.revealed, now: now, names: content.names)
        } else {
            identity = try TLSIdentity(certificateFile: certificateFile, keyFile: keyFile, now: now)
        }
    }

    /// Whether the files are others than those that were read.
    public var hasChanged: Bool { [SmallFile.stamp(certificateFile), SmallFile.stamp(keyFile)] != stamps }

    /// A new context with these settings. Each has session ticket keys of its own.
    public func context(_ settings: TLSServerSettings) throws(TransportError) -> TLSServerContext {
        try TLSServerContext(chain: identity.chain, key: identity.key, settings: settings)
    }
}
