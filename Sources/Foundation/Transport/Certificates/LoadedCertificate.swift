public import Basics

/// A certificate chain and its key, both PEM, that were passed as content rather than read from their files.
public struct CertificateContent: Sendable {
    /// The chain, the server's own certificate first.
    public var chain: [UInt8]
    /// The key of the server's own certificate.
    public var key: Redacted<[UInt8]>
    /// The files from which both were read, for error texts; `nil` if they are not known.
    public var names: TLSFileNames?

    public init(chain: [UInt8], key: Redacted<[UInt8]>, names: TLSFileNames? = nil) {
        self.chain = chain
        self.key = key
        self.names = names
    }
}

/// A certificate with its key, as the two files were when they were read.
///
/// Load them again to pick up changes: if that fails, the earlier certificate stays in use.
public struct LoadedCertificate: Sendable {
    private let certificateFile: String
    private let keyFile: String
    private let stamps: [SmallFile.Stamp?]
    private let identity: TLSIdentity
    /// When the certificate expires.
    public var notAfter: UnixMilliseconds { identity.notAfter }
    /// Warnings about the certificate for the operator.
    public var warnings: [String] { identity.warnings }

    /// Reads the files. With `content`, uses that instead of the files until they change.
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

    /// Whether the files have changed since they were read.
    public var hasChanged: Bool { [SmallFile.stamp(certificateFile), SmallFile.stamp(keyFile)] != stamps }

    /// Creates a context with these settings. Each context has its own session ticket keys.
    public func context(_ settings: TLSServerSettings) throws(TransportError) -> TLSServerContext {
        try TLSServerContext(chain: identity.chain, key: identity.key, settings: settings)
    }
}
