import Basics
import ClusterLog
import ClusterLogSupport
import NATSServerSupport
import Transport

@testable import NATSClient

/// A node of tests that owns or follows the log of partition 0, and applies what is valid.
final class LogNode {
    static let log = LogKey(cluster: 1, partition: 0)

    let test: TestClient
    private(set) var owner: LogOwner?
    private var follower = LogReader()
    /// The contents that this node has applied, in order.
    private(set) var applied: [String] = []
    /// The contents that were confirmed to this node as their owner.
    private(set) var confirmed: [String] = []
    private var contents: [FrameName: String] = [:]
    private var read: [UInt8] = []
    private(set) var failures: [JetStreamFailure] = []

    init(_ settings: NATSSettings) throws {
        test = try TestClient(settings)
        test.onEvent = { [unowned self] in self.handle($0) }
    }

    var reader: LogReader { owner?.reader ?? follower }
    var isOwner: Bool { owner?.state == .owning }

    /// Follows the log from where this node is.
    func follow() throws {
        follower = reader
        owner = nil
        try test.jetStream.follow(0, after: follower.position)
    }

    /// Claims the partition from where this node is.
    func claim() throws {
        try test.jetStream.stopFollowing(0)
        var effects: [OwnerEffect] = []
        owner = LogOwner(
            claim: Claim(SecureRandom.number()), after: reader, in: Self.log, now: .read(), effects: &effects)
        if try !test.jetStream.isConnected { owner?.handle(.disconnected, now: .read(), effects: &effects) }
        perform(effects)
    }

    func make(_ content: String) {
        var effects: [OwnerEffect] = []
        let name = owner?.make(Array(content.utf8).raw, now: .read(), effects: &effects)
        if let name { contents[name] = content }
        perform(effects)
    }

    /// Runs a turn of the reactor.
    func turn() {
        test.reactor.turn(waitMilliseconds: 1)
        if let tick = owner?.nextTick, tick <= Now.read().monotonic { handle(.tick) }
    }

    private func handle(_ event: OwnerEvent) {
        var effects: [OwnerEffect] = []
        owner?.handle(event, now: .read(), effects: &effects)
        perform(effects)
    }

    private func handle(_ event: JetStreamEvent) {
        _ = test.takeEvents()
        switch event {
        case .followed(0, let position, let record) where owner == nil:
            let verdict = follower.read(FrameHeader.read(record.raw, in: Self.log), at: position)
            if case .applies = verdict { apply(record) }
        case .disconnected: handle(.disconnected)
        case .connected: handle(.connected)
        case .record(_, _, let record): read = record
        case .refused(_, _, let failure), .readFailed(_, _, let failure), .followFailed(_, let failure):
            failures.append(failure)
        default: break
        }
        if let (_, event) = event.ownerEvent(in: { _ in Self.log }) { handle(event) }
    }

    private func apply(_ record: [UInt8]) {
        // A frame without entries renews the lease of its owner.
        guard record.count > FrameHeader.length else { return }
        applied.append(String(decoding: record.dropFirst(FrameHeader.length), as: UTF8.self))
    }

    private func perform(_ effects: [OwnerEffect]) {
        guard let client = test.client else { return }
        for effect in effects {
            switch effect {
            case .append(let name):
                if let frame = owner?.frame(name) { client.append(frame, name, to: 0) }
            case .read(let position): client.read(position, of: 0)
            case .apply: apply(read)
            case .confirmed(let name, _):
                guard let content = contents.removeValue(forKey: name) else { continue }
                applied.append(content)
                confirmed.append(content)
            case .took, .lost, .missing, .shortened, .halted: break
            }
        }
    }
}
