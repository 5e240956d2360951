import Basics
import Catalogue
import Delivery
import Operator
import Reference
import Sessions
import Store
import Synchronization
import TestBench
import Transport
import Wire

/// The state of the running server that its threads share.
final class Daemon: Sendable {
    /// A listener with its actual port, which the kernel picked if the configured one is 0.
    struct BoundListener: Sendable {
        var name: String
        var host: String
        var port: Int
    }

    /// The state that changes with the configuration.
    private struct Settings {
        var configuration: LocatedConfiguration
        var sessions: SharedSettings
    }

    let log: Log
    let metrics: Metrics
    let store: any Store
    let backups: Backups
    let storeThreads: StoreThreads
    /// The other nodes. `nil` for a daemon that belongs to no cluster.
    let cluster: ClusterPort?
    let factory: PartitionFactory
    /// The gateway to Apple.
    let apns: APNsPort
    /// The virtual devices. `nil` if the test bench is off.
    let testBench: TestBench?
    /// The faults that messages meet. `nil` if the test bench is off.
    let faults: FaultGate?
    /// The webhooks of senders, and what encrypts their secrets.
    let webhooks: WebhookPort
    let webhookSecrets: WebhookSecrets
    /// The server's time, and whether the machine's clock is trusted.
    let clock: ClockStatus
    /// The clock that operators can move forward. `nil` if it is off.
    let testClock: TestClock?
    let mailboxes: [ReactorMailbox]
    let senders: Senders
    let seal: TokenSeal
    /// Generates the salts that are sent for unknown senders.
    let scramSecret: [UInt8]
    let certificates: Certificates
    let apnsCredentials: APNsCredentialStore
    let drainer: Drainer
    let listeners: [BoundListener]
    let senderFigures: SenderFigures
    let startedAt = Now.read()
    /// The document at `/openapi.json`.
    let openAPI = OpenAPI.document(version: Program.version)
    let source: ConfigurationSource
    let auditLog: AuditLog
    let commandRecords: CommandRecords
    /// The operators of the API.
    let operators: OperatorAccounts
    /// The document at `/operator/v1/openapi.json`.
    let operatorOpenAPI = Array(OperatorOpenAPI.document(version: Program.version).compact.utf8)
    /// The host names that the administrative port answers to.
    let adminHosts: AcceptedHosts
    /// A log level that an operator has set.
    let logLevel: LogLevelOverride
    private let settings: Mutex<Settings>

    init(
        log: Log, metrics: Metrics, store: any Store, backups: Backups, storeThreads: StoreThreads,
        cluster: ClusterPort?, factory: PartitionFactory, apns: APNsPort, testBench: TestBench?,
        faults: FaultGate?, webhooks: WebhookPort, webhookSecrets: WebhookSecrets, clock: ClockStatus,
        testClock: TestClock?, mailboxes: [ReactorMailbox], senders: Senders, seal: TokenSeal,
        scramSecret: [UInt8], certificates: Certificates, apnsCredentials: APNsCredentialStore,
        drainer: Drainer,
        listeners: [BoundListener], senderFigures: SenderFigures, source: ConfigurationSource,
        operators: OperatorAccounts, configuration: LocatedConfiguration
    ) {
        self.log = log
        self.metrics = metrics
        self.store = store
        self.backups = backups
        self.storeThreads = storeThreads
        self.cluster = cluster
        self.factory = factory
        self.apns = apns
        self.testBench = testBench
        self.faults = faults
        self.webhooks = webhooks
        self.webhookSecrets = webhookSecrets
        self.clock = clock
        self.testClock = testClock
        self.mailboxes = mailboxes
        self.senders = senders
        self.seal = seal
        self.scramSecret = scramSecret
        self.certificates = certificates
        self.apnsCredentials = apnsCredentials
        self.drainer = drainer
        self.listeners = listeners
        self.senderFigures = senderFigures
        self.source = source
        self.operators = operators
        adminHosts = AcceptedHosts(HostNames.admin(configuration.values))
        auditLog = AuditLog(folder: configuration.values.dataDirectory, log: log)
        commandRecords = CommandRecords(log: log, auditLog: auditLog)
        logLevel = LogLevelOverride(log: log)
        let sessions = SessionSettings(
            configuration.values, seal: seal, scramSecret: scramSecret, senders: senders)
        settings = Mutex(Settings(configuration: configuration, sessions: SharedSettings(sessions)))
        metrics[.control].set(.configReloadSuccess, to: 1)
    }

    /// The current configuration.
    var configuration: Configuration { located.values }

    /// The current configuration with the locations of its values.
    var located: LocatedConfiguration { settings.withLock { $0.configuration } }

    /// The settings for new sessions.
    var sessionSettings: SharedSettings { settings.withLock { $0.sessions } }

    /// Applies a configuration: rates and windows at once, other settings to new sessions.
    func apply(_ located: LocatedConfiguration) {
        let configuration = located.values
        let hasOtherOrigins = configuration.corsOrigins != self.configuration.corsOrigins
        let sessions = SessionSettings(
            configuration, seal: seal, scramSecret: scramSecret, senders: senders)
        settings.withLock { $0 = Settings(configuration: located, sessions: SharedSettings(sessions)) }
        let window = configuration.pendingWindow
        var change = Parcel(events: [.settingsChanged(configuration.running)])
        change.jobs.append { $0.changePendingWindow(window) }
        let admission = configuration.admission
        change.jobs.append { $0.changeAdmission(admission) }
        // Sessions keep their settings, and browsers their connections.
        if hasOtherOrigins { change.jobs.append { $0.beginLastCall(to: [.https], .connectionDraining) } }
        factory.use(configuration.running)
        for mailbox in mailboxes { mailbox.post(change) }
        apns.apply(configuration)
        webhooks.apply(CURLSettings(configuration))
        storeThreads.registry.limit = configuration.registryLimit
        drainer.setPace(configuration.drainPace)
        logLevel.end(configured: configuration.logLevel)
    }

    /// The actual listeners: `device on 127.0.0.1:5228, https on 127.0.0.1:443 and [::1]:443`.
    var listenersText: String {
        var places: [(name: String, addresses: [String])] = []
        for fact in listeners where fact.name != Link.Kind.control.rawValue {
            let host = fact.host.contains(":") ? "[\(fact.host)]" : fact.host
            let at = places.firstIndex { $0.name == fact.name } ?? places.count
            if at == places.count { places.append((fact.name, [])) }
            places[at].addresses.append("\(host):\(fact.port)")
        }
        return places.map { "\($0.name) on \($0.addresses.joined(separator: " and "))" }.joined(
            separator: ", ")
    }

    /// Whether the daemon accepts new work, as `/readyz` reports it.
    var isReady: Bool {
        drainer.state == .serving && storeThreads.isHealthy && clusterProblem == nil
    }

    /// Why this node of a cluster accepts no work. `nil` for a daemon that belongs to none.
    private var clusterProblem: String? { cluster?.contact.problem(Now.read().monotonic) }

    /// The page `/readyz`. A clock in doubt, a full registry and damaged tables are listed as errors, but leave the daemon ready,
    /// since all other messages are still delivered.
    var readiness: String {
        guard isReady else { return "not ready: \(unreadiness)\n" }
        let errors = [
            clock.problem, storeThreads.registry.problem, HealthState.text(of: storeThreads.damage),
        ]
        return "ready\n" + errors.compactMap { $0 }.map { "error: \($0)\n" }.joined()
    }

    /// Why the daemon is not ready, for `/readyz`.
    var unreadiness: String {
        let state = drainer.state
        if state == .drained {
            return "drained: clients cannot connect until ccsctl drain --release or a restart"
        }
        if state != .serving { return state.word.rawValue }
        if let failure = storeThreads.lastFailure {
            return "the store does not accept writes (\(failure.kind.rawValue))"
        }
        return clusterProblem ?? ""
    }

    /// Whether every reactor and the thread of the cluster answer, for the watchdog.
    var isAlive: Bool {
        mailboxes.ask { _ in true }.allSatisfy { $0.wait() == true }
            && (cluster.map { $0.mailbox.ask { _ in true }.wait() == true } ?? true)
    }
}
