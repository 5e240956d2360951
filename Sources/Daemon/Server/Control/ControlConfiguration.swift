import Basics
import Catalogue
import Operator
import Store
import Transport

/// The configuration in use.
extension ControlServer {
    func showConfiguration(_ command: ShowConfiguration) -> ShowConfiguration.Answer {
        let located = daemon.located
        let rows = ConfigKey.allCases.map { row($0, located) }
        return ShowConfiguration.Answer(
            file: daemon.source.file,
            keys: command.isChanged ? rows.filter { $0.source != .preset || $0.value != $0.preset } : rows)
    }

    private func row(_ key: ConfigKey, _ located: LocatedConfiguration) -> ShowConfiguration.Row {
        let entry = key.entry
        var row = ShowConfiguration.Row(
            key: key.rawValue, value: located.values[key].plain, preset: entry.preset.plain, source: .preset,
            isReloadable: entry.isReloadable, inUse: meaning(of: key, located.values),
            pending: located.pending[key]?.plain)
        switch located.locations[key] {
        case .file(let file, let line, _):
            row.source = .file
            row.file = file
            row.line = line
        case .flag(let name):
            row.source = .flag
            row.name = name
        case .variable(let name):
            row.source = .environment
            row.name = name
        case nil: break
        }
        guard key == .logLevel, let level = daemon.logLevel.current?.level else { return row }
        row.pending = row.value
        row.value = level.word
        row.source = .command
        return row
    }

    /// Returns what a value stands for that leaves the choice to the daemon. Returns `nil` for any other value.
    private func meaning(of key: ConfigKey, _ configuration: Configuration) -> String? {
        switch key {
        case .controlSocket where configuration[key] == .text(""): configuration.controlSocket
        case .reactors where configuration.reactors == 0: "\(configuration.reactorCount)"
        case .storePartitions where configuration.storePartitions == nil: "\(daemon.storage.store.partitions)"
        case .registryBytes where daemon.storage.threads.registry.limit != configuration.registryBytes:
            "\(daemon.storage.threads.registry.limit)"
        case .certificateFile where configuration.certificateFile == nil: "a certificate of its own authority"
        case .appServerPort where configuration.appServerPort == 0: port(.appServer)
        case .appServerPreproductionPort where configuration.appServerPreproductionPort == 0:
            port(.appServerPreproduction)
        case .devicePort where configuration.devicePort == 0: port(.device)
        case .httpsPort where configuration.httpsPort == 0: port(.https)
        default: nil
        }
    }

    private func port(_ kind: Link.Kind) -> String? {
        daemon.listeners.first { $0.name == kind.rawValue }.map { "\($0.port)" }
    }

    func changeLogLevel(_ command: ChangeLogLevel) -> ChangeLogLevel.Answer {
        let configured = daemon.configuration.logLevel
        if let word = command.level, let level = Log.Level(word: word.rawValue) {
            daemon.logLevel.set(level, seconds: command.seconds, now: Now.read())
        }
        return ChangeLogLevel.Answer(
            level: LogLevelWord(daemon.log.level), configured: LogLevelWord(configured),
            until: daemon.logLevel.current?.until)
    }

    func showAuthority() throws(OperatorProblem) -> ShowAuthority.Answer {
        guard let path = daemon.certificates.authorityPath else {
            throw OperatorProblem(
                "ccsd uses the certificate in certificate_file, not one of its own authority",
                hint: "clients must trust the authority that issued that certificate")
        }
        do throws(TransportError) {
            let authority = try AuthorityCertificate(file: path)
            return ShowAuthority.Answer(
                certificate: String(decoding: authority.text, as: UTF8.self),
                fingerprint: authority.fingerprintText, notAfter: authority.notAfter)
        } catch {
            throw OperatorProblem(error.description, hint: "check the data directory, and reload")
        }
    }
}

extension LogLevelWord {
    fileprivate init(_ level: Log.Level) {
        switch level {
        case .debug: self = .debug
        case .info: self = .info
        case .notice: self = .notice
        case .warning: self = .warning
        case .error: self = .error
        }
    }
}
