import Basics
import Catalogue
import Operator
import Transport

/// Tries what a configuration asks for: files, folders, the control socket and the ports. It changes nothing.
struct ConfigCheck {
    let configuration: Configuration
    /// Where values were given.
    let places: [ConfigKey: ConfigProblem.Place]
    /// Keys whose values are wrong in themselves: what they would lead to is not tried.
    let faulty: Set<ConfigKey>
    /// The daemon that runs with this configuration or an earlier state of it.
    let running: LivingDaemon?
    let now: UnixMilliseconds
    private(set) var findings: [ConfigFinding] = []

    init(_ loaded: LoadedConfiguration, running: LivingDaemon?, now: UnixMilliseconds) {
        configuration = loaded.configuration
        places = loaded.places
        faulty = loaded.faulty
        self.running = running
        self.now = now
    }

    /// Every part in order; returns what was found.
    mutating func run() -> [ConfigFinding] {
        checkDirectory()
        checkPartitions()
        checkCertificate()
        checkControlSocket()
        checkPorts()
        checkSettings()
        return findings
    }

    /// Whether the value of a key can be tried.
    func isUsable(_ key: ConfigKey) -> Bool { !faulty.contains(key) }

    mutating func add(
        _ severity: ConfigFinding.Severity, _ key: ConfigKey, _ problem: String, _ hint: String = ""
    ) {
        findings.append(ConfigFinding(severity, key, at: places[key], problem, hint))
    }

    /// What is allowed and seldom meant.
    private mutating func checkSettings() {
        if configuration.tlsMinimum.isDeprecated {
            add(
                .warning, .tlsMinimum,
                "\(configuration.tlsMinimum.rawValue) lets clients in with TLS that RFC 8996 deprecates",
                "go back to 1.2 when the last old client is gone")
        }
        if configuration.shutdownSeconds < configuration.drainGraceSeconds {
            add(
                .warning, .shutdownSeconds,
                "\(configuration.shutdownSeconds) is shorter than drain_grace_seconds, so a stop cuts the drain short",
                "give the stop at least \(configuration.drainGraceSeconds) seconds")
        }
    }
}

extension ConfigurationSource {
    /// Looks at the configuration and at all that it names; `running` is the daemon that asks, if one does.
    func check(running: LivingDaemon? = nil) -> CheckReport {
        let loaded = inspect()
        var report = CheckReport(
            findings: loaded.problems.list.map { ConfigFinding($0) }, leftOut: loaded.problems.leftOut)
        // A file that cannot be read says nothing of what it was to name.
        guard loaded.isReadable else { return report }
        var check = ConfigCheck(
            loaded, running: running ?? LivingDaemon.beside(loaded), now: Now.read().wall)
        report.findings += check.run()
        return report
    }
}
