import Basics
import BasicsSupport
import Cluster
import ClusterLog
import ClusterSetup
import Delivery
import Glibc
import NATSClient
import NATSServerSupport
import Operator
import RocksStore
import Store
import StoreSupport
import Synchronization
import Transport

@testable import Server

/// The store of a daemon that belongs to no cluster.
final class LocalLog: LogUnderTest {
    private let store = GatedStore(partitions: OutcomeJournal.partitions)
    private let threads: StoreThreads
    let outcomes: OutcomeJournal

    /// Starts a log; `report` changes what it reports, to check the checks.
    init(report: @escaping @Sendable ([StoreReport]) -> [StoreReport] = { $0 }) throws {
        let outcomes = OutcomeJournal(store)
        self.outcomes = outcomes
        threads = try StoreThreads(store: store, metrics: MetricShard(), log: .silent) {
            outcomes.add(report($0))
        }
    }

    deinit { threads.stop() }

    var log: any CommitLog { threads }
    func collect() {}
    func fail() {
        store.failNext(Array(repeating: StoreError(.inputOutput, "planted"), count: 10_000))
    }
    func mend() {
        store.failNext([])
        // After a failure the queue pauses.
        usleep(UInt32(Limits.Store.retryMilliseconds) * 2_000)
    }
    func close() { threads.stop() }
}

/// A cluster of one node with a real nats-server.
final class ReplicatedLog: LogUnderTest {
    private struct Problem: Error, CustomStringConvertible { var description: String }

    private let server: NATSServerProcess
    private let folder = NATSServerProcess.temporaryFolder()
    private let store = MemoryStore(partitions: OutcomeJournal.partitions)
    private let threads: StoreThreads
    private let port: ClusterPort
    private let mailbox: ReactorMailbox
    private var thread: Transport.Thread?
    private var strangers: [PlainConnection] = []
    let outcomes: OutcomeJournal
    /// The key of the log of partition 0.
    let key: LogKey

    init() throws {
        server = try NATSServerProcess()
        let settings = try Self.found(server, folder)
        let (own, other) = (try Reactor(index: 0), try Reactor(index: 1))
        let mailbox = ReactorMailbox(handle: own.handle)
        let map = PartitionMap(partitions: OutcomeJournal.partitions, reactors: 1)
        let reports = StoreReports(map: map, mailboxes: [mailbox])
        let port = ClusterPort(other.handle, settings.membership, reports)
        let outcomes = OutcomeJournal(store)
        threads = try StoreThreads(
            store: store, metrics: MetricShard(), log: .silent,
            applied: { reports in port.mailbox.add { $0.applied += reports } },
            report: { reports.post($0) })
        (self.mailbox, self.port, self.outcomes) = (mailbox, port, outcomes)
        key = settings.logKey(of: 0)
        let host = ClusterHost(
            reactor: other, settings: settings, mailbox: port.mailbox, progress: try store.logProgress(),
            surroundings: ClusterHost.Surroundings(
                log: .silent, map: map, reactors: [mailbox], store: threads,
                factory: PartitionFactory(
                    partitions: OutcomeJournal.partitions, settings: DeliverySettings(),
                    directory: SenderDirectory([]), lease: try SequenceLease(store: store)),
                tally: ClusterTally(shard: MetricShard()), contact: port.contact,
                // The only node copies nothing.
                backups: Backups(
                    store: try RocksStore(path: folder + "/store", partitions: OutcomeJournal.partitions),
                    log: .silent), dataDirectory: folder, restart: {},
                sendersChanged: {}))
        try host.listen()
        nonisolated(unsafe) let transferred = host
        thread = try Transport.Thread(name: "cluster") { unsafe transferred.run() }
        guard waitUntilServed() else { throw Problem(description: "the partitions have no owner") }
    }

    deinit {
        close()
        threads.stop()
        NATSServerProcess.remove(folder)
    }

    private static func found(_ server: NATSServerProcess, _ folder: String) throws -> ClusterSettings {
        let log = ClusterFile.LogServers(
            servers: ["127.0.0.1:\(server.port)"], replicas: 1, prefix: "ccs")
        let link = try FreePorts.take(1)[0]
        let founding = ClusterFounding(
            addresses: ["127.0.0.1:\(link)"], partitions: OutcomeJournal.partitions, log: log)
        let problem = StreamFounding.run(
            try log.settings(name: "test"), names: try log.names(), partitions: OutcomeJournal.partitions,
            stream: StreamSettings(replicas: 1)
        ) { _ in }
        if let problem { throw Problem(description: problem) }
        let file = try founding.write(to: "\(folder)/cluster", now: Now.read().wall)
        let own = ClusterFounding.folder(of: file.node, in: "\(folder)/cluster")
        return try ClusterSettings(folder: own, software: "test", clientAddress: "127.0.0.1")
    }

    private func waitUntilServed() -> Bool {
        let end = Now.read().monotonic.advanced(milliseconds: 60_000)
        while Now.read().monotonic < end {
            let isServed = port.mailbox.ask { host in
                host.replicas.allSatisfy { host.router.standing(of: $0.partition) == .serving }
            }
            if isServed.wait() == true { return true }
            usleep(10_000)
        }
        return false
    }

    var log: any CommitLog { port }

    /// Writes a record to the log of a partition, as a stranger or a node of another software does.
    func append(_ record: [UInt8], to partition: Int) throws {
        let connection = try PlainConnection(port: server.port)
        connection.send("CONNECT {}\r\nPUB ccs.\(partition) \(record.count)\r\n")
        connection.send(record)
        connection.send("\r\nPING\r\n")
        // It stays open: a server may drop what a client sent that is gone.
        strangers.append(connection)
    }

    /// The alarms of the node.
    var alarms: [ShowCluster.Answer.Alarm] {
        port.mailbox.ask { host in host.alarms(host.reactor.now) }.wait() ?? []
    }

    func failures(of partition: Int) -> UInt64 {
        thread == nil ? 0 : port.mailbox.ask { $0.replicas[partition].order.failures }.wait() ?? 0
    }
    func collect() { outcomes.add(mailbox.takeAll().reports) }
    func fail() { server.kill() }
    func mend() {
        try? server.start()
        _ = waitUntilServed()
    }
    func close() {
        guard let thread else { return }
        self.thread = nil
        port.stop()
        thread.join()
    }
}
