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
}

/// How long messages waited for their acknowledgements after a fault: the longest of all devices.
struct ClusterPauses {
    var fault: ClusterFault
    var downstream: Int64
    var upstream: Int64
    /// The same after what was killed has started again.
    var whenBack: Int64
}

extension ClusterWorld {
    /// Breaks something under load, waits until all devices are served, and starts again what was killed.
    func cycle(_ fault: ClusterFault, least: Int = 20) throws -> ClusterPauses {
        try runUntilAllAnswer()
        let before = acknowledged
        try run(until: "\(least) messages are acknowledged") { acknowledged >= before + least }
        try run(milliseconds: Int.random(in: 20...300, using: &random))
        let victim = try self.victim()
        let server = cluster.servers[Int.random(in: 0..<3, using: &random)]
        resetPauses()
        switch fault {
        case .ccsd: try cluster.end(victim)
        case .stop: try cluster.node(victim).signal(SIGSTOP)
        case .nats: server.kill()
        case .both:
            server.kill()
            try cluster.end(victim)
        case .net: try cluster.network?.cut(victim)
        }
        if fault == .stop {
            try run(milliseconds: 4_000)
            try cluster.node(victim).signal(SIGCONT)
        }
        if fault == .net {
            try run(milliseconds: 5_000)
            try cluster.network?.heal(victim)
        }
        try runUntilAllAnswer()
        var pauses = ClusterPauses(
            fault: fault, downstream: longest(\.down), upstream: longest(\.up), whenBack: 0)
        resetPauses()
        if fault == .nats || fault == .both { try restart(server) }
        if fault == .ccsd || fault == .both { try restart(victim) }
        try runUntilAllAnswer()
        pauses.whenBack = max(longest(\.down), longest(\.up))
        return pauses
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
        for device in devices {
            device.down.reset(now)
            device.up.reset(now)
        }
    }

    private func longest(_ meter: (ClusterDevice) -> PauseMeter) -> Int64 {
        devices.map { meter($0).longest }.max() ?? 0
    }

    /// Starts a node while messages are exchanged, and waits until all partitions have an owner.
    func restart(_ node: Int) throws {
        let start = try cluster.starter(node)
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
