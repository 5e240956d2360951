import Basics
import Catalogue
import Delivery
import Sessions
import Transport

extension Daemon {
    /// Reads configuration and certificates again; on any problem everything stays as it was, and the problems are returned.
    func reload() -> [String] {
        let problems = tryReload()
        metrics.shards[0].add(to: .configReloads, problems.isEmpty ? 0 : 1)
        metrics.shards.last?.set(.configReloadSuccess, to: problems.isEmpty ? 1 : 0)
        if problems.isEmpty {
            log.notice("reloaded")
        } else {
            for problem in problems { log.error("reload_failed", ["problem": .text(problem)]) }
        }
        return problems
    }

    private func tryReload() -> [String] {
        let newer: Configuration
        do { newer = try source.load() } catch { return error.lines }
        let old = configuration
        let next = old.reloaded(from: newer)
        do { try certificates.reload(next) } catch { return [error.description] }
        let waiting = newer.changes(from: next)
        if !waiting.isEmpty {
            log.warning(
                "settings_wait_for_restart", ["keys": .text(waiting.map(\.rawValue).joined(separator: ","))])
        }
        apply(next)
        return []
    }

    /// Looks at configuration and files as `ccsd check` does; one line for each finding.
    func checkConfiguration() -> [String] {
        do { return try source.load().check().map(\.description) } catch { return error.lines }
    }
}

extension SessionSettings {
    /// The settings that a configuration asks for; `scramSecret` makes the salts of senders that do not exist.
    init(_ configuration: Configuration, seal: TokenSeal, scramSecret: [UInt8], senders: Senders) {
        self.init(
            seal: seal, digest: { SecretDigest(octets: Digest.sha256($0)) }, random: { SecureRandom.number() }
        )
        webPush = .host
        // One look at the directory for a whole request, however many it is sent to.
        senderOfKey = { key, now in senders.directory.sender(withKey: key, at: now) }
        pendingWindow = configuration.pendingWindow
        keepaliveSeconds = configuration.keepaliveSeconds
        devicePingSeconds = configuration.devicePingSeconds
        loginDeadlineSeconds = configuration.loginDeadlineSeconds
        strictAcks = configuration.strictAcks
        controlMessageID = configuration.controlMessageID
        lenientLifetime = configuration.lenientTimeToLive
        reservesGCMPrefix = configuration.reserveGCMPrefix
        streamManagement = configuration.streamManagement
        if configuration.scram {
            scram = SCRAMSettings(functions: .host) { sender in
                Array(
                    Digest.hmacSHA256(key: scramSecret, Array("\(sender.number)".utf8))
                        .prefix(Limits.scramSaltBytes))
            }
        }
        pushHosts = HostNames.all(configuration).map { $0.lowercased() }
        acceptedDomains += configuration.hostNames.filter { !acceptedDomains.contains($0) }
    }
}
