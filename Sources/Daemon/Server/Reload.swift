import Basics
import Catalogue
import Crypto
import Delivery
import Reference
import Sessions
import Transport
import Wire

extension Daemon {
    /// The changes made by a reload.
    struct Reloaded {
        /// The keys whose new values are in use.
        var applied: [ConfigKey] = []
        /// The keys whose new values need a restart.
        var waiting: [ConfigKey] = []
    }

    /// The problems that made a reload fail, one line each.
    struct ReloadFailure: Error {
        var problems: [String]
    }

    /// Reloads the configuration and certificates. Throws, without any change, if there is a problem.
    ///
    /// The certificate in `supplied` is used instead of the configured files until those change.
    func reload(supplied: CertificateContent? = nil) throws(ReloadFailure) -> Reloaded {
        do throws(ReloadFailure) {
            let reloaded = try reloadAll(supplied)
            metrics[.control].add(to: .configReloads, 0)
            metrics[.control].set(.configReloadSuccess, to: 1)
            log.notice("reloaded", ["changed": .text(Self.names(reloaded.applied))])
            if !reloaded.waiting.isEmpty {
                log.warning("restart_required", ["keys": .text(Self.names(reloaded.waiting))])
            }
            return reloaded
        } catch {
            metrics[.control].add(to: .configReloads, 1)
            metrics[.control].set(.configReloadSuccess, to: 0)
            for problem in error.problems {
                log.repeating(.error, "reload_failed", by: problem, ["problem": .text(problem)])
            }
            throw error
        }
    }

    /// Looks for new files of the certificate. If the last reload failed, perhaps because only one of them was there, it is made up for.
    func checkCertificates() {
        guard certificates.check(configuration), metrics.value(.configReloadSuccess) == 0 else { return }
        _ = try? reload()
    }

    private func reloadAll(_ supplied: CertificateContent?) throws(ReloadFailure) -> Reloaded {
        let newer: LocatedConfiguration
        do { newer = try source.load() } catch { throw ReloadFailure(problems: error.lines) }
        let old = located
        let next = old.reloaded(from: newer)
        do { try certificates.reload(next.values, supplied: supplied) } catch {
            throw ReloadFailure(problems: [error.description])
        }
        apply(next)
        return Reloaded(
            applied: next.values.changes(from: old.values), waiting: newer.values.changes(from: next.values))
    }

    private static func names(_ keys: [ConfigKey]) -> String {
        keys.map(\.rawValue).joined(separator: ",")
    }

    /// What was wrong with the last reload, or with the files of the certificate since. `nil` if nothing was.
    var reloadFailure: String? {
        if metrics.value(.configReloadSuccess) == 0 {
            return "the last reload failed: the old settings and certificates stay in use"
        }
        return certificates.problem.map { "a changed certificate was not loaded: \($0)" }
    }

    /// Checks the configuration as `ccsd check` does.
    func checkConfiguration() -> CheckReport { source.check(running: asDetected) }
}

extension Configuration {
    /// The settings that check-in sends to browsers; `nil` if no host is advertised.
    var checkInSettings: CheckInSettings? {
        guard !advertisedHost.isEmpty else { return nil }
        return CheckInSettings(
            host: advertisedHost, devicePort: advertisedDevicePort, httpsPort: advertisedHTTPSPort,
            sha1: { Digest.sha1($0) })
    }
}

extension SessionSettings {
    /// Creates the settings of a configuration; `scramSecret` generates the salts of unknown senders.
    init(_ configuration: Configuration, seal: TokenSeal, scramSecret: [UInt8], senders: Senders) {
        self.init(
            seal: seal, digest: { SecretDigest(bytes: Digest.sha256($0)) }, random: { SecureRandom.number() }
        )
        webPush = .host
        // One directory lookup per request, independent of the number of recipients.
        senderOfKey = { key, now in senders.directory.sender(withKey: key, at: now) }
        isKeySuspended = { key, now in senders.directory.isSuspended(key: key, at: now) }
        areSendersCurrent = { senders.areCurrent(since: $0) }
        accounts = AccountFunctions(
            account: { senders.directory.account(withKeyID: $0) }, record: { senders.directory[$0] },
            verifies: { RSAKey.verifies($0, of: $1, by: $2) })
        pendingWindow = configuration.pendingWindow
        keepaliveSeconds = configuration.keepaliveSeconds
        devicePingSeconds = configuration.devicePingSeconds
        deviceHeartbeatSeconds = configuration.deviceHeartbeatSeconds
        if configuration.clusterDirectory != nil {
            upstreamRetrySeconds = Limits.Device.clusterUpstreamRetrySeconds
        }
        loginDeadlineSeconds = configuration.loginDeadlineSeconds
        strictAcks = configuration.strictAcks
        controlMessageID = configuration.controlMessageID
        rules.lenientLifetime = configuration.lenientTimeToLive
        rules.reservesGCMPrefix = configuration.reserveGCMPrefix
        rules.strictConditions = configuration.strictConditions
        rules.topicPayloadBytes = configuration.topicPayloadBytes
        streamManagement = configuration.streamManagement
        idleNotifications = configuration.idleNotifications
        checkIn = configuration.checkInSettings
        if configuration.scram {
            scram = SCRAMSettings(functions: .host) { sender in
                Array(
                    Digest.hmacSHA256(key: scramSecret, Array("\(sender.number)".utf8))
                        .prefix(Limits.Login.scramSaltBytes))
            }
        }
        pushHosts = HostNames.all(configuration).map { $0.lowercased() }
        pageOrigins = PageOrigins(configuration.corsOrigins)
        isDeclared = DeclaredAnswers.contain
        acceptedDomains += configuration.hostNames.filter { !acceptedDomains.contains($0) }
    }
}
