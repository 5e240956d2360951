import Basics
import Catalogue
import Operator
import Transport

/// Checks the files, folders, control socket and ports of a configuration without changing anything.
struct ConfigCheck {
    let configuration: Configuration
    /// Where values were given.
    let locations: [ConfigKey: ConfigProblem.Location]
    /// Keys whose values are invalid, for which no further checks are made.
    let faulty: Set<ConfigKey>
    /// The daemon that runs with this configuration or an earlier version of it.
    let running: DetectedDaemon?
    let now: UnixMilliseconds
    private(set) var findings: [ConfigFinding] = []

    init(_ loaded: LoadedConfiguration, running: DetectedDaemon?, now: UnixMilliseconds) {
        configuration = loaded.configuration
        locations = loaded.locations
        faulty = loaded.faulty
        self.running = running
        self.now = now
    }

    /// Runs all checks in order and returns the findings.
    mutating func run() -> [ConfigFinding] {
        checkDirectory()
        checkPartitions()
        checkCertificate()
        checkClientAuthorities()
        checkControlSocket()
        checkPorts()
        checkSettings()
        return findings
    }

    /// Whether the value of a key is valid, so that it can be checked further.
    func isUsable(_ key: ConfigKey) -> Bool { !faulty.contains(key) }

    mutating func add(
        _ severity: ConfigFinding.Severity, _ key: ConfigKey, _ problem: String, _ hint: String = ""
    ) {
        findings.append(ConfigFinding(severity, key, at: locations[key], problem, hint))
    }

    /// Checks for values that are valid but rarely intended.
    private mutating func checkSettings() {
        if configuration.tlsMinimum.isDeprecated {
            add(
                .warning, .tlsMinimum,
                "\(configuration.tlsMinimum.rawValue) accepts TLS versions that RFC 8996 deprecates",
                "set it to 1.2 when no client needs an older version")
        }
        if configuration.shutdownSeconds < configuration.drainGraceSeconds {
            add(
                .warning, .shutdownSeconds,
                "\(configuration.shutdownSeconds) is less than drain_grace_seconds, so a shutdown cuts the drain short",
                "set it to at least \(configuration.drainGraceSeconds)")
        }
    }
}

extension ConfigurationSource {
    /// Checks the configuration; `running` is the daemon that checks its own configuration, if any.
    func check(running: DetectedDaemon? = nil) -> CheckReport {
        var loaded = inspect()
        var report = CheckReport(
            findings: loaded.problems.list.map { ConfigFinding($0) }, leftOut: loaded.problems.leftOut)
        // Without a readable file the configured paths and ports are unknown.
        guard loaded.isReadable else { return report }
        let running = running ?? DetectedDaemon.beside(loaded, file: file)
        running?.supply(&loaded)
        var check = ConfigCheck(loaded, running: running, now: Now.read().wall)
        report.findings += check.run()
        return report
    }
}
