import Basics
import Synchronization
import Transport

/// The certificate for new TLS handshakes: the operator's, or one of our own CA.
final class Certificates: Sendable {
    private struct State: Sendable {
        var loaded: LoadedCertificate
        var files: Files
        /// When the session ticket keys must be replaced, together with the context that has them.
        var freshBy: Instant
        /// Content that the operator passed with a reload instead of the files; `nil` if the files are used.
        var supplied: CertificateContent?
    }

    private struct Files: Equatable, Sendable {
        var certificate: String
        var key: String
        /// The file of our own CA, which clients must trust; `nil` with the operator's certificate.
        var authority: String?
        var minimum: TLSVersion
    }

    /// The context for app servers and devices; it has no application protocol, since none of them negotiates one.
    let holder: TLSContextHolder
    /// The context for HTTPS; it offers HTTP/2 (http 1.2).
    let webHolder: TLSContextHolder
    private let log: Log
    private let lastProblem = Mutex<TransportError?>(nil)
    private let state: Mutex<State>
    /// Serialises changes: SIGHUP, the reload command and the periodic check may happen at the same time.
    private let changes = Mutex(())

    init(configuration: Configuration, log: Log) throws(TransportError) {
        self.log = log
        let (loaded, files) = try Self.open(configuration)
        holder = TLSContextHolder(try loaded.context(Self.settings(files)))
        webHolder = TLSContextHolder(try loaded.context(Self.webSettings(files)))
        for warning in loaded.warnings { log.warning("certificate", ["problem": .text(warning)]) }
        Self.warn(of: files.minimum, log)
        state = Mutex(State(loaded: loaded, files: files, freshBy: Self.freshBy()))
    }

    /// When the current certificate expires, in milliseconds since 1970.
    var notAfter: UnixMilliseconds { state.withLock { $0.loaded.notAfter } }

    /// Why a changed certificate was not loaded, or an own one not renewed. `nil` if there is no problem.
    var problem: TransportError? { lastProblem.withLock { $0 } }

    /// Path of the CA that clients must trust; `nil` with the operator's certificate.
    var authorityPath: String? { state.withLock { $0.files.authority } }

    /// Reloads or renews the certificate (SIGHUP); on failure the old one stays in use.
    ///
    /// The content in `supplied` replaces that of the files until the files change: a service under systemd keeps the credentials
    /// of its start and does not see a renewal.
    func reload(_ configuration: Configuration, supplied: CertificateContent? = nil) throws(TransportError) {
        try changes.withLock { _ throws(TransportError) in
            try reloadLocked(configuration, supplied: supplied ?? stillSupplied(configuration))
        }
        Self.warn(of: configuration.tlsMinimum, log)
    }

    /// Logs a warning at the start and at each reload if deprecated TLS versions are accepted.
    private static func warn(of minimum: TLSVersion, _ log: Log) {
        guard minimum.isDeprecated else { return }
        log.warning(
            "tls_deprecated",
            [
                "tls_minimum": .text(minimum.rawValue),
                "problem": .text("RFC 8996 deprecates TLS 1.0 and 1.1; clients can be made to use them"),
            ])
    }

    /// Returns the content passed with an earlier reload. Returns `nil` if the files have changed since.
    private func stillSupplied(_ configuration: Configuration) -> CertificateContent? {
        state.withLock { state in
            let isSame =
                state.files.certificate == configuration.certificateFile
                && state.files.key == configuration.keyFile
            return isSame && !state.loaded.hasChanged ? state.supplied : nil
        }
    }

    private func reloadLocked(_ configuration: Configuration, supplied: CertificateContent?)
        throws(TransportError)
    {
        let (loaded, files) = try Self.open(configuration, supplied)
        let (context, webContext) = (
            try loaded.context(Self.settings(files)), try loaded.context(Self.webSettings(files))
        )
        holder.replace(with: context)
        webHolder.replace(with: webContext)
        for warning in loaded.warnings { log.warning("certificate", ["problem": .text(warning)]) }
        state.withLock {
            $0 = State(loaded: loaded, files: files, freshBy: Self.freshBy(), supplied: supplied)
        }
        lastProblem.withLock { $0 = nil }
    }

    private static func freshBy() -> Instant {
        Now.read().monotonic.advanced(seconds: Limits.Certificate.ticketKeySeconds)
    }

    /// Reloads if the files have changed, our own certificate is about to expire, or the session ticket keys are old. Returns whether the
    /// files had changed, and are in use now.
    @discardableResult
    func check(_ configuration: Configuration, now: Instant = Now.read().monotonic) -> Bool {
        do throws(TransportError) {
            return try changes.withLock { _ throws(TransportError) in
                if configuration.certificateFile == nil { try Self.makeOwn(configuration) }
                let (hasChanged, isOld) = state.withLock { ($0.loaded.hasChanged, $0.freshBy <= now) }
                guard hasChanged || isOld else {
                    lastProblem.withLock { $0 = nil }
                    return false
                }
                try reloadLocked(configuration, supplied: stillSupplied(configuration))
                guard hasChanged else { return false }
                log.notice("certificate_replaced", ["not_after": .text(Timestamp.text(notAfter))])
                return true
            }
        } catch {
            // Logged once, not at every check, until the problem changes.
            let isNew = lastProblem.withLock { known in
                defer { known = error }
                return known != error
            }
            if isNew { log.error("certificate_reload_failed", ["problem": .text(error.description)]) }
            return false
        }
    }

    private static func settings(_ files: Files) -> TLSServerSettings {
        var settings = TLSServerSettings()
        settings.minimum = files.minimum
        return settings
    }

    private static func webSettings(_ files: Files) -> TLSServerSettings {
        var settings = settings(files)
        settings.applicationProtocols = ["h2", "http/1.1"]
        return settings
    }

    private static func makeOwn(_ configuration: Configuration) throws(TransportError) {
        let authority = CertificateAuthority(directory: configuration.dataDirectory)
        try authority.ensure(names: HostNames.all(configuration), now: Now.read().wall)
    }

    private static func open(_ configuration: Configuration, _ supplied: CertificateContent? = nil)
        throws(TransportError) -> (LoadedCertificate, Files)
    {
        let minimum = configuration.tlsMinimum
        let files: Files
        if let certificate = configuration.certificateFile, let key = configuration.keyFile {
            files = Files(certificate: certificate, key: key, authority: nil, minimum: minimum)
        } else {
            guard supplied == nil else {
                throw TransportError(
                    "use the certificate of the reload command",
                    detail:
                        "certificate_file and key_file are not set: set both first"
                )
            }
            try makeOwn(configuration)
            let own = CertificateAuthority(directory: configuration.dataDirectory)
            files = Files(
                certificate: own.certificateFile, key: own.keyFile, authority: own.authorityFile,
                minimum: minimum)
        }
        let loaded = try LoadedCertificate(
            certificateFile: files.certificate, keyFile: files.key, content: supplied, now: Now.read().wall)
        return (loaded, files)
    }
}

/// The host names that clients connect to.
enum HostNames {
    /// The names of the Google services that ccsd replaces (ccs-xmpp 1.1, mcs-device 5, http 1.1).
    static let google = [
        "gcm.googleapis.com", "gcm-xmpp.googleapis.com", "fcm-xmpp.googleapis.com",
        "gcm-preprod.googleapis.com",
        "gcm-staging.googleapis.com", "mtalk.google.com", "mtalk4.google.com", "alt1-mtalk.google.com",
        "android.clients.google.com", "android.googleapis.com", "device-provisioning.googleapis.com",
        "firebaseinstallations.googleapis.com", "fcmregistrations.googleapis.com", "fcmtoken.googleapis.com",
        "fcm.googleapis.com", "iid.googleapis.com", "jmt17.google.com", "gcm-http.googleapis.com",
        "oauth2.googleapis.com", "iamcredentials.googleapis.com", "www.googleapis.com", "accounts.google.com",
    ]

    /// Returns these names, those of this machine, and those of the configuration.
    static func all(_ configuration: Configuration) -> [String] {
        let own = local(configuration)
        return own + google + configuration.hostNames.filter { !own.contains($0) && !google.contains($0) }
    }

    /// Returns the names and addresses by which clients on the machine and its networks reach it: loopback, the name of the machine, and
    /// the addresses that it listens on, unless they are wildcards.
    private static func local(_ configuration: Configuration) -> [String] {
        var names = ["localhost", "127.0.0.1", "::1"]
        let addresses = [configuration.listenAddress, configuration.adminAddress].filter { address in
            !["0.0.0.0", "::"].contains(address)
        }
        for name in (Machine.hostName.map { [$0] } ?? []) + addresses where !names.contains(name) {
            names.append(name)
        }
        return names
    }

    /// Returns what the admin port answers to, beside loopback: the name of this machine, the names of the configuration, and the
    /// addresses that it listens on.
    static func admin(_ configuration: Configuration) -> [String] {
        local(configuration) + configuration.hostNames + [
            configuration.advertisedHost, configuration.adminAddress,
        ]
    }
}
