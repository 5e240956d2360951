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

        /// `127.0.0.1:5228`, `[::1]:5228`, or the path of a socket.
        var place: String {
            guard port != 0 else { return host }
            return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        }
    }

    /// The state that changes with the configuration.
    private struct Settings {
        var configuration: LocatedConfiguration
        var sessions: SharedSettings
    }

    /// The store, and the threads that write to it.
    struct Storage: Sendable {
        let store: any Store
        let threads: StoreThreads
        let backups: Backups
    }

    /// The partitions, on the reactors of this process and on other nodes.
    struct Core: Sendable {
        let map: PartitionMap
        let mailboxes: [ReactorMailbox]
        let factory: PartitionFactory
        /// The other nodes. `nil` for a daemon that belongs to no cluster.
        let cluster: ClusterPort?
    }

    /// The ways to Apple and to webhooks.
    struct Gateways: Sendable {
        let apns: APNsPort
        /// The credentials for APNs.
        let credentials: APNsCredentialStore
        let webhooks: WebhookPort
        /// Encrypts the secrets of webhooks.
        let webhookSecrets: WebhookSecrets
    }

    /// The secrets of the server towards clients.
    struct Secrets: Sendable {
        let seal: TokenSeal
        /// Generates the salts that are sent for unknown senders.
        let scram: [UInt8]
    }

    /// The test bench: virtual devices, and the faults that messages meet.
    struct Bench: Sendable {
        let devices: TestBench
        let faults = FaultGate()
    }

    let log: Log
    let metrics: Metrics
    let senderFigures: SenderFigures
    let source: ConfigurationSource
    let storage: Storage
    let core: Core
    let gateways: Gateways
    let secrets: Secrets
    let certificates: Certificates
    let senders: Senders
    /// The operators of the API.
    let operators: OperatorAccounts
    /// The server's time, and whether the machine's clock is trusted.
    let clock: ClockStatus
    /// The message history. `nil` if it is switched off.
    let history: HistoryPort?
    /// The histories of all nodes. `nil` if that of this one is switched off.
    var histories: HistoryDesk? { history.map { HistoryDesk(port: $0, cluster: core.cluster) } }
    /// What is left of the questions about topics of each sender.
    let topicAllowance = Mutex(SenderAllowance(of: "topics"))
    /// The clock that operators can move forward. `nil` if it is off.
    let testClock: TestClock?
    /// `nil` if the test bench is off.
    let bench: Bench?
    let listeners: [BoundListener]
    let drainer: Drainer
    let startedAt = Now.read()
    /// The document at `/openapi.json`.
    let openAPI = OpenAPI.document(version: Program.version)
    let auditLog: AuditLog
    let commandRecords: CommandRecords
    /// The document at `/operator/v1/openapi.json`.
    let operatorOpenAPI = Array(OperatorOpenAPI.document(version: Program.version).compact.utf8)
    /// The host names that the administrative port answers to.
    let adminHosts: AcceptedHosts
    /// A log level that an operator has set.
    let logLevel: LogLevelOverride
    private let settings: Mutex<Settings>

    init(
        _ startup: borrowing Startup, storage: Storage, core: Core, gateways: Gateways, secrets: Secrets,
        certificates: Certificates, senders: Senders, operators: OperatorAccounts, clock: ClockStatus,
        history: HistoryPort?, testClock: TestClock?, bench: Bench?, listeners: [BoundListener]
    ) {
        log = startup.log
        metrics = startup.metrics
        senderFigures = startup.senderFigures
        source = startup.source
        self.storage = storage
        self.core = core
        self.gateways = gateways
        self.secrets = secrets
        self.certificates = certificates
        self.senders = senders
        self.operators = operators
        self.clock = clock
        self.history = history
        self.testClock = testClock
        self.bench = bench
        self.listeners = listeners
        let configuration = startup.configuration
        drainer = Drainer(mailboxes: core.mailboxes, pace: configuration.drainPace)
        adminHosts = AcceptedHosts(HostNames.admin(configuration))
        auditLog = AuditLog(folder: configuration.dataDirectory, log: log)
        commandRecords = CommandRecords(log: log, auditLog: auditLog)
        logLevel = LogLevelOverride(log: log)
        let sessions = SessionSettings(
            configuration, seal: secrets.seal, scramSecret: secrets.scram, senders: senders)
        settings = Mutex(Settings(configuration: startup.located, sessions: SharedSettings(sessions)))
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
            configuration, seal: secrets.seal, scramSecret: secrets.scram, senders: senders)
        settings.withLock { $0 = Settings(configuration: located, sessions: SharedSettings(sessions)) }
        let window = configuration.pendingWindow
        var change = Parcel(events: [.settingsChanged(configuration.running)])
        change.jobs.append { $0.changePendingWindow(window) }
        let admission = configuration.admission
        change.jobs.append { $0.changeAdmission(admission) }
        // Sessions keep their settings, and browsers their connections.
        if hasOtherOrigins { change.jobs.append { $0.beginLastCall(to: [.https], .connectionDraining) } }
        core.factory.use(configuration.running)
        for mailbox in core.mailboxes { mailbox.post(change) }
        gateways.apns.apply(configuration)
        gateways.webhooks.apply(CURLSettings(configuration))
        storage.threads.registry.limit = configuration.registryLimit
        drainer.setPace(configuration.drainPace)
        logLevel.end(configured: configuration.logLevel)
    }

    /// The actual listeners: `device on 127.0.0.1:5228, https on 127.0.0.1:443 and [::1]:443`.
    var listenersText: String {
        var places: [(name: String, addresses: [String])] = []
        for fact in listeners where fact.name != Link.Kind.control.rawValue {
            let at = places.firstIndex { $0.name == fact.name } ?? places.count
            if at == places.count { places.append((fact.name, [])) }
            places[at].addresses.append(fact.place)
        }
        return places.map { "\($0.name) on \($0.addresses.joined(separator: " and "))" }.joined(
            separator: ", ")
    }

    /// Whether the daemon accepts new work, as `/readyz` reports it.
    var isReady: Bool {
        drainer.state == .serving && storage.threads.isHealthy && clusterProblem == nil
    }

    /// Why this node of a cluster accepts no work. `nil` for a daemon that belongs to none.
    private var clusterProblem: String? { core.cluster?.contact.problem(Now.read().monotonic) }

    /// The page `/readyz`. A clock in doubt, a full registry and damaged tables are listed as errors, but leave the daemon ready,
    /// since all other messages are still delivered.
    var readiness: String {
        guard isReady else { return "not ready: \(unreadiness)\n" }
        let errors = [
            clock.problem, storage.threads.registry.problem, HealthState.text(of: storage.threads.damage),
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
        if let failure = storage.threads.lastFailure {
            return "the store does not accept writes (\(failure.kind.rawValue))"
        }
        return clusterProblem ?? ""
    }

    /// Whether every reactor and the thread of the cluster answer, for the watchdog.
    var isAlive: Bool {
        core.mailboxes.ask { _ in true }.allSatisfy { $0.wait() == true }
            && (core.cluster.map { $0.mailbox.ask { _ in true }.wait() == true } ?? true)
    }
}
