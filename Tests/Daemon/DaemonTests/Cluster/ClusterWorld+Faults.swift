import Basics
import Foundation
import NATSServerSupport
import Transport

/// What is done to a cluster under load.
enum ClusterFault: String, CaseIterable {
    /// kill -9 of a node.
    case ccsd
    /// A node that stands still for four seconds.
    case stop
    /// kill -9 of a server of the log.
    case nats
    /// kill -9 of a node and of a server of the log at once.
    case both
    /// A node whose network is cut for five seconds.
    case net
    /// A node whose network is cut in one direction for six seconds.
    case oneway
    /// A node to which packets are lost for six seconds.
    case loss
    /// A machine with a node and a server of the log that is cut off for six seconds.
    case isolate
    /// A server of the log whose routes to the others are cut for six seconds, while clients reach it.
    case routes
    /// A server of the log that loses its disk, and whose place another one takes.
    case replace
    /// A node whose clock is an hour ahead for some seconds.
    case clock

    /// The layout of a cluster to which it can be done. `nil` if every one will do.
    var layout: ClusterLayout? {
        switch self {
        case .ccsd, .stop, .nats, .both, .clock: nil
        case .net, .oneway, .loss: .networks
        case .isolate: .machines
        case .routes, .replace: .relayed
        }
    }

    /// Whether this machine can do it.
    var isPossible: Bool {
        switch self {
        case .net, .oneway, .loss, .isolate: ClusterNetwork.isAvailable
        case .clock: TestPaths.hasFakeTime
        case .ccsd, .stop, .nats, .both, .routes, .replace: true
        }
    }
}

/// How long messages waited for their acknowledgements after a fault: the longest of all devices.
struct ClusterPauses {
    var fault: ClusterFault
    var downstream: Int64
    var upstream: Int64
    /// How long a message waited for its answer at most that an app server of another node than the touched one had sent: by partition
    /// that had to move, of those whose log does not depend on the touched server.
    var elsewhere: [Int64]
    /// The same of the others, together. `nil` if there was none.
    var dependent: Int64?
    /// As the first two, after what was killed has started again.
    var whenBack: Int64
}

extension ClusterWorld {
    /// Breaks something under load, waits until all devices are served, and starts again what was killed.
    func cycle(_ fault: ClusterFault, least: Int = 20) throws -> ClusterPauses {
        try runUntilAllAnswer()
        let at = Int.random(in: 0..<3, using: &random)
        // Most machines are isolated in a cluster that is whole, some whatever the fault before has left.
        if fault == .isolate, Int.random(in: 0..<4, using: &random) > 0 {
            try run(until: "each log has all its replicas, and each node partitions", every: 500) {
                cluster.isReplicated && !cluster.owned(by: at).isEmpty
            }
        }
        let before = acknowledged
        try run(until: "\(least) messages are acknowledged") { acknowledged >= before + least }
        try run(milliseconds: Int.random(in: 20...300, using: &random))
        let victim = try self.victim()
        let server = cluster.servers[at]
        resetPauses()
        touch(fault, victim: victim, server: at)
        defer { (touched, moved, dependent) = (nil, [], []) }
        switch fault {
        case .ccsd: try cluster.end(victim)
        case .nats: server.kill()
        case .both:
            server.kill()
            try cluster.end(victim)
        case .stop:
            try cluster.node(victim).signal(SIGSTOP)
            try run(milliseconds: 4_000)
            try cluster.node(victim).signal(SIGCONT)
        case .net: try trouble(.cut, victim, milliseconds: 5_000)
        case .oneway: try trouble(Bool.random(using: &random) ? .mute : .deaf, victim, milliseconds: 6_000)
        case .loss: try trouble(.loss, victim, milliseconds: 6_000)
        case .isolate:
            try cluster.network?.begin(.cut, at)
            try run(milliseconds: 6_000)
            serverReturns()
            try cluster.network?.end(.cut, at)
        case .routes:
            cluster.logs?.relays?.cut(at)
            try run(milliseconds: 6_000)
            serverReturns()
            cluster.logs?.relays?.heal(at)
        case .replace: try replace(at)
        case .clock:
            try cluster.end(victim)
            try restart(victim, environment: ClockTests.clock("+1h"))
            try run(milliseconds: 6_000)
            try cluster.end(victim)
        }
        try runUntilAllAnswer()
        var pauses = ClusterPauses(
            fault: fault, downstream: longest(\.down), upstream: longest(\.up),
            elsewhere: Array(longestElsewhere.values),
            dependent: longestDependent, whenBack: 0)
        resetPauses()
        if fault == .nats || fault == .both { try restart(server) }
        if fault == .ccsd || fault == .both || fault == .clock { try restart(victim) }
        try runUntilAllAnswer()
        pauses.whenBack = max(longest(\.down), longest(\.up))
        return pauses
    }

    /// Notes which node and which server of the log a fault is to touch.
    private func touch(_ fault: ClusterFault, victim: Int, server: Int) {
        touched =
            switch fault {
            case .isolate: server
            case .ccsd, .stop, .both, .net, .oneway, .loss, .clock: victim
            case .nats, .routes, .replace: nil
            }
        moved = touched.map(cluster.owned) ?? []
        switch fault {
        case .isolate, .nats, .both, .routes, .replace:
            dependent = cluster.dependent(on: cluster.servers[server])
        case .ccsd, .stop, .net, .oneway, .loss, .clock: dependent = []
        }
    }

    /// A server of the log that was cut off is about to reach the others again. It has voted meanwhile, so that each log elects its leader
    /// anew: what has no answer by then depends on it.
    private func serverReturns() {
        let now = Now.read().monotonic
        for server in servers {
            for sent in server.unanswered.values { noteWait(of: server, sent, now) }
        }
        dependent = Set(0..<cluster.partitions)
    }

    /// Breaks the network of a node for a while.
    private func trouble(
        _ trouble: ClusterNetwork.Trouble, _ node: Int, milliseconds: Int
    ) throws {
        try cluster.network?.begin(trouble, node)
        try run(milliseconds: milliseconds)
        try cluster.network?.end(trouble, node)
    }

    /// Replaces a server of the log as in docs/cluster.md, while messages are exchanged.
    func replace(_ at: Int) throws {
        let old = cluster.servers[at].name
        nonisolated(unsafe) let cluster = cluster
        try inBackground("\(old) is replaced") {
            _ = try cluster.logs?.replace(at)
            try cluster.removeServer(old)
        }
        let new = cluster.servers[at]
        // A second one may be replaced only then.
        try run(until: "each log has all its replicas after \(new.name) has come", every: 500) {
            cluster.isHealthy(new) && cluster.isReplicated
        }
    }

    /// A random node that owns partitions.
    private func victim() throws -> Int {
        var owning: [Int] = []
        try run(until: "a node owns partitions", every: 100) {
            owning = cluster.running.filter { !cluster.owned(by: $0).isEmpty }
            return !owning.isEmpty
        }
        return owning[Int.random(in: 0..<owning.count, using: &random)]
    }

    private func resetPauses() {
        let now = Now.read().monotonic
        (longestElsewhere, longestDependent) = ([:], nil)
        for device in devices {
            device.down.reset(now)
            device.up.reset(now)
        }
    }

    private func longest(_ meter: (ClusterDevice) -> PauseMeter) -> Int64 {
        devices.map { meter($0).longest }.max() ?? 0
    }

    /// Starts a node while messages are exchanged, and waits until all partitions have an owner.
    func restart(_ node: Int, environment: [String: String] = [:]) throws {
        let start = try cluster.starter(node, environment: environment)
        cluster.install(try inBackground("node \(node + 1) has started", start), as: node)
        try run(until: "every partition has an owner", every: 100) { cluster.isServed }
    }

    /// Starts a server of the log while messages are exchanged, and waits until it has all that the others have.
    func restart(_ server: NATSServerProcess) throws {
        nonisolated(unsafe) let started = server
        try inBackground("\(server.name) has started") { try started.start() }
        try run(until: "\(server.name) has caught up", every: 200) { cluster.isHealthy(server) }
    }

    /// Exchanges messages while another thread does something.
    @discardableResult
    private func inBackground<Value>(
        _ what: String, _ work: @escaping @Sendable () throws -> Value
    ) throws -> Value {
        let box = Box<Value>()
        Thread.detachNewThread { box.set(Result { try work() }) }
        var result: Result<Value, any Error>?
        try run(until: what) {
            result = box.get()
            return result != nil
        }
        guard let result else { throw HarnessFailure(what) }
        return try result.get()
    }

    /// A result that one thread leaves for another one.
    private final class Box<Value>: @unchecked Sendable {
        private let lock = NSLock()
        private var result: Result<Value, any Error>?

        func set(_ result: Result<Value, any Error>) { lock.withLock { self.result = result } }
        func get() -> Result<Value, any Error>? { lock.withLock { result } }
    }
}
