import Basics
import Cluster
import ClusterLog
import ClusterSetup
import Delivery
import History
import NATSClient
import NodeLinks
import NodeProtocol
import Transport

/// The thread of the cluster: the connection to the logs, the links to the other nodes, the replicas of all partitions, and the
/// membership that decides which of them this node claims.
///
/// In a turn, batches and events of the reactors, records of the logs and parcels of other nodes are handled; everything for another
/// node goes into one parcel, which is sent at the end.
final class ClusterHost: ReactorDelegate {
    let reactor: Reactor
    let settings: ClusterSettings
    let mailbox: ClusterMailbox
    let log: Log
    let map: PartitionMap
    let reactors: [ReactorMailbox]
    let store: StoreThreads
    let factory: PartitionFactory
    let tally: ClusterTally
    let contact: ClusterContact
    let backups: Backups
    /// The message history of this node. `nil` if it is switched off.
    let history: HistoryPort?
    let dataDirectory: String
    /// Ends the process, so that it is started again.
    let restart: @Sendable () -> Void
    /// Called after batches of other nodes that change the senders.
    let sendersChanged: @Sendable () -> Void

    var membership: Membership
    private(set) var replicas: [HostedReplica]
    var effects: [ReplicaEffect] = []
    /// Decides who gets each event, command and change.
    var router: NodeRouter
    var routed: [NodeRouterEffect] = []
    /// The changes by operators of this node without an outcome, by number.
    var changes: [ChangeOrigin.Number: @Sendable (CommitOutcome) -> Void] = [:]
    private var lastChange: ChangeOrigin.Number = 0
    /// The questions of this node to the histories of all nodes, and who waits for the results, by number.
    var inquiries = HistoryInquiries(after: SecureRandom.number())
    var inquirers: [HistoryInquiries.Number: @Sendable (HistoryResult?) -> Void] = [:]
    var lastInquiry: HistoryInquiries.Number = 0
    /// What goes to each node in this turn.
    var outgoing: [NodeNumber: OutgoingParcel] = [:]
    var incoming: [Parcel]
    /// The events for partitions of this node in this turn, by reactor.
    var owned: [[Event]]
    var writer: BatchWriter
    private(set) lazy var logs = makeLogs()
    private(set) var links: NodeLinkHost?
    private var tickTimer: TimerID?
    private var ended: (() -> Void)?
    var drained: (() -> Void)?
    var syncDue = Instant.distantPast
    var figuresDue = Instant.distantPast
    /// Since when there is no connection to the log. `nil` if there is one.
    var disconnectedSince: Instant?
    /// Whether the log works, and the first of the streams that are asked for a proof next.
    var health: LogHealth
    var askedNext = 0
    /// What this node has taken or lost and the log does not say yet.
    var news = OwnershipNews()
    /// The problems of streams that the log has, with their partitions.
    var reportedProblems: [StreamProblem: [Int]] = [:]
    /// Since when each node that is alive has had no link.
    var unlinkedSince: [NodeNumber: Instant] = [:]
    /// The handovers that operators wait for, by partition.
    var ordered: [Int: OrderedHandover] = [:]
    var rosterState = RosterState.stored
    /// The copies of stores: the one that this node needs, and the one that it gives.
    var copy = CopyState()
    var giving: GivenCopy?
    /// The servers of the log that are asked whether they sync.
    var logServers: [WatchedLogServer] = []

    init(
        reactor: Reactor, settings: ClusterSettings, mailbox: ClusterMailbox, progress: [LogProgress?],
        surroundings: Surroundings
    ) {
        self.reactor = reactor
        self.settings = settings
        self.mailbox = mailbox
        log = surroundings.log
        map = surroundings.map
        reactors = surroundings.reactors
        store = surroundings.store
        factory = surroundings.factory
        tally = surroundings.tally
        contact = surroundings.contact
        backups = surroundings.backups
        history = surroundings.history
        dataDirectory = surroundings.dataDirectory
        restart = surroundings.restart
        sendersChanged = surroundings.sendersChanged
        membership = Membership(
            settings.membership, roster: surroundings.roster, seed: SecureRandom.number(), now: reactor.now)
        replicas = progress.enumerated().map { partition, progress in
            HostedReplica(
                partition: partition,
                log: settings.logKey(of: partition), progress, now: reactor.now.monotonic)
        }
        router = NodeRouter(
            node: settings.membership.node, partitions: progress.count, seed: SecureRandom.number())
        incoming = surroundings.reactors.map { _ in Parcel() }
        owned = surroundings.reactors.map { _ in [] }
        writer = BatchWriter(partitions: progress.count, limit: Limits.NodeProtocol.entriesBytes)
        disconnectedSince = reactor.now.monotonic
        health = LogHealth(servers: settings.nats.servers.count)
        reactor.delegate = self
    }

    /// What the host works with.
    struct Surroundings {
        var log: Log
        var map: PartitionMap
        var reactors: [ReactorMailbox]
        var store: StoreThreads
        var factory: PartitionFactory
        var tally: ClusterTally
        var contact: ClusterContact
        /// The nodes that the last process has seen, and those that were removed.
        var roster = Roster()
        var backups: Backups
        var history: HistoryPort?
        var dataDirectory: String
        var restart: @Sendable () -> Void
        var sendersChanged: @Sendable () -> Void
    }

    /// The number of a change by an operator of this node, whose outcome is reported.
    func add(_ completed: @escaping @Sendable (CommitOutcome) -> Void) -> ChangeOrigin.Number {
        lastChange += 1
        changes[lastChange] = completed
        return lastChange
    }

    /// The node of this process.
    var node: NodeNumber { settings.membership.node }

    // MARK: Control

    /// Listens for the other nodes. Throws if the address or the certificates cannot be used.
    func listen() throws(TransportError) {
        let links = try NodeLinkHost(
            settings.identity, credentials: settings.credentials, reactor: reactor
        ) { [unowned self] in handle($0) }
        let address = try settings.listenAddress()
        try ListeningSocket.checkFree(address)
        try links.listen(on: ListeningSocket(tcp: address))
        self.links = links
    }

    /// Runs the reactor on the calling thread until it is stopped.
    func run() {
        logs.start()
        for node in settings.file.nodes {
            if membership.roster.isRemoved(node.number) {
                links?.bar(node.number)
            } else {
                links?.dial(node.number, at: node.address)
            }
        }
        writeFrames(of: membership.writtenFrameVersion)
        subscribeToHeartbeats()
        for hosted in replicas {
            route(.applied(hosted.replica.stored, partition: hosted.partition), reactor.now)
            examine(hosted.partition)
        }
        logServers = settings.monitors.map { WatchedLogServer(monitor: LogMonitor($0, reactor: reactor)) }
        if !logServers.isEmpty { askLogServers() }
        tick(reactor.now)
        reactor.run()
        ended?()
    }

    /// Gives all partitions to other nodes; `then` is called when that is done.
    func drain(then: @escaping @Sendable () -> Void) {
        drained = then
        handle(.drain, reactor.now)
    }

    /// Ends `run` after this turn; `then` is called when the host no longer uses any connection.
    func stop(then: @escaping @Sendable () -> Void) {
        ended = then
        answerAll(mailbox.close(), reactor.now)
        reportOwnership(nil)
        logs.stop()
        links?.stop()
        reactor.stop()
    }

    // MARK: Turn

    func reactorWoke(_ reactor: Reactor, now: Now) {
        let parcel = mailbox.takeAll()
        for report in parcel.applied { applied(report, now) }
        for batch in parcel.batches { submit(batch.batch, of: batch.partition, .partition, now) }
        for write in parcel.writes { submit(write, now) }
        for event in parcel.events { route(.event(event), now) }
        if !parcel.commands.isEmpty {
            route(.commands(parcel.commands, validUntil: parcel.validUntil), Now.read())
        }
        for job in parcel.jobs { job(self) }
    }

    func reactorTurnEnded(_ reactor: Reactor, now: Now) {
        links?.turnEnded(now: now)
        sendParcels()
        postIncoming()
    }

    /// Posts what this turn has for the reactors.
    ///
    /// Events are among the jobs, in order: those before a partition comes or leaves find it as it is then. Parcels are merged.
    func postIncoming() {
        for at in incoming.indices where !owned[at].isEmpty {
            let events = owned[at]
            owned[at] = []
            incoming[at].jobs.append { host in for event in events { host.turns.acceptOwned(event) } }
            incoming[at].eventsOfJobs += events.count
        }
        for at in incoming.indices where !incoming[at].isEmpty {
            reactors[at].post(incoming[at])
            incoming[at] = Parcel()
        }
    }

    /// Since when the first log has not answered what this node waits for.
    var dueSince: Instant? { replicas.compactMap { $0.replica.stalledSince }.min() }

    /// Handles what is due, and again when the next thing is.
    private func tick(_ now: Now) {
        // What a heartbeat reports is from after the heartbeats that it answers.
        for hosted in replicas { report(hosted) }
        handle(.tick, now)
        for hosted in replicas {
            handle(.reached(membership.reached(of: hosted.partition)), of: hosted, now)
        }
        for hosted in replicas where hosted.replica.nextTick <= now.monotonic {
            handle(.tick, of: hosted, now)
        }
        publishKnowledge()
        proveLog(now)
        reportOwnership(now)
        route(.tick, now)
        inquire { $0.tick(now.monotonic, effects: &$1) }
        requestSync(now)
        storeRoster()
        copyIfBehind(now)
        updateFigures(now)
        var next = now.monotonic.advanced(milliseconds: Limits.Cluster.heartbeatMilliseconds)
        next = min(next, membership.nextTick)
        for hosted in replicas { next = min(next, hosted.replica.nextTick) }
        let soonest = now.monotonic.advanced(milliseconds: Limits.ClusterHost.shortestTickMilliseconds)
        reactor.schedule(at: max(next, soonest)) { [unowned self] now in tick(now) }
    }
}
