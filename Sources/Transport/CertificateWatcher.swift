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

/// Keeps the contexts of listeners in step with the certificate files.
///
/// New handshakes use the new certificate; any failure keeps the old one.
public struct CertificateWatcher: Sendable {
    /// What a look at the files found.
    public enum Outcome: Sendable {
        /// Nothing has changed.
        case unchanged
        /// New handshakes use what the files hold now.
        case replaced(notAfter: UnixMilliseconds, warnings: [String])
        /// What the files hold cannot be used; the old certificate stays.
        case kept(TransportError)
    }

    private let certificateFile: String
    private let keyFile: String
    private var targets: [(holder: TLSContextHolder, settings: TLSServerSettings)] = []
    private var stamps: [SmallFile.Stamp?]
    private var identity: TLSIdentity
    private var loadedAt: UnixMilliseconds
    /// When the certificate in use ends.
    public var notAfter: UnixMilliseconds { identity.notAfter }
    /// What an operator should know of the certificate in use.
    public var warnings: [String] { identity.warnings }

    /// Reads the files; fails where they cannot be used, since there is nothing older to keep.
    ///
    /// With `content` that is used in the place of what the files hold now, until they change.
    public init(
        certificateFile: String, keyFile: String, content: CertificateContent? = nil, now: UnixMilliseconds
    ) throws(TransportError) {
        self.certificateFile = certificateFile
        self.keyFile = keyFile
        stamps = [SmallFile.stamp(certificateFile), SmallFile.stamp(keyFile)]
        loadedAt = now
        if let content {
            identity = try TLSIdentity(
                chain: content.chain, key: content.key.revealed, now: now, names: content.names)
        } else {
            identity = try TLSIdentity(certificateFile: certificateFile, keyFile: keyFile, now: now)
        }
    }

    /// A context holder with these settings that this watcher keeps up to date.
    public mutating func holder(_ settings: TLSServerSettings) throws(TransportError) -> TLSContextHolder {
        let holder = TLSContextHolder(try context(identity, settings))
        targets.append((holder, settings))
        return holder
    }

    /// Whether the files are other ones than those read.
    public var hasChanged: Bool { [SmallFile.stamp(certificateFile), SmallFile.stamp(keyFile)] != stamps }

    /// A context of its own with these settings.
    public func context(_ settings: TLSServerSettings) throws(TransportError) -> TLSServerContext {
        try context(identity, settings)
    }

    /// Looks whether the files have changed, and if so takes them over.
    public mutating func check(now: UnixMilliseconds) -> Outcome {
        let found = [SmallFile.stamp(certificateFile), SmallFile.stamp(keyFile)]
        guard found != stamps else {
            // Fresh contexts have fresh ticket keys: one that leaks opens a day of TLS 1.2 sessions at most.
            if now - loadedAt > Int64(Limits.ticketKeySeconds) * 1_000 { _ = reload(now: now) }
            return .unchanged
        }
        stamps = found
        return reload(now: now)
    }

    /// Takes the files over, changed or not (SIGHUP): also gives new keys to the session tickets.
    public mutating func reload(now: UnixMilliseconds) -> Outcome {
        do throws(TransportError) {
            let fresh = try TLSIdentity(certificateFile: certificateFile, keyFile: keyFile, now: now)
            var contexts: [TLSServerContext] = []
            for (_, settings) in targets { contexts.append(try context(fresh, settings)) }
            for (target, context) in zip(targets, contexts) { target.holder.replace(with: context) }
            identity = fresh
            loadedAt = now
            return .replaced(notAfter: fresh.notAfter, warnings: fresh.warnings)
        } catch {
            return .kept(error)
        }
    }

    private func context(_ identity: TLSIdentity, _ settings: TLSServerSettings) throws(TransportError)
        -> TLSServerContext
    {
        try TLSServerContext(chain: identity.chain, key: identity.key, settings: settings)
    }
}
