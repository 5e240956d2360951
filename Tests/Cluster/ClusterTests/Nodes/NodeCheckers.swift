import Basics
import Cluster
import ClusterLog
import Delivery

/// What must hold in every world of whole nodes.
struct NodeCheckers {
    /// A request of a client.
    struct Request {
        enum Outcome: Equatable {
            case open
            /// Done, or stored.
            case accepted
            case notRegistered
            /// Its sender is suspended.
            case suspended
            /// The owner could not be reached: it may still happen.
            case unavailable
            /// Its session has ended: it may still happen.
            case ended
        }

        var kind: WorldChange.Kind
        var device: UInt64
        var requester: Requester
        /// The partition that decides it.
        var partition: Int
        /// The partition that it reaches first.
        var door: Int
        /// The sender whose credentials a node has checked, or as which an app server has logged in there.
        var vouchedBy: SenderID?
        var isSession = false
        var asked: Int64
        var answered = Int64.max
        var outcome = Outcome.open
    }

    /// A change that the log has, of what is registered or let in.
    private struct Logged {
        var kind: WorldChange.Kind
        var request: UInt32
    }

    /// The longest that a request may take once there are no faults: its wait for an owner, and some ticks.
    static let calmMicroseconds = 1_000 * (Limits.ClusterHost.heldMilliseconds + 500)
    /// The longest that a request may take at all: also a request that waited for an owner at two nodes, and processes that stood still.
    static let longestMicroseconds =
        1_000 * (Limits.NodeProtocol.answerMilliseconds + Limits.ClusterHost.heldMilliseconds) + 5_000_000

    private(set) var found: [String] = []
    /// By number, which begins at 1.
    private(set) var all: [Request] = []
    /// The requests that have no answer.
    private(set) var openCount = 0
    private var byConnection: [ConnectionID: [UInt32]] = [:]
    /// Until where each log was applied, where it has the change of each request, and the changes of each device and sender, in order.
    private var logged = Array(repeating: LogPosition.start, count: NodeWorld.partitions)
    private var places: [LogPosition?] = []
    private var changes: [PartitionKey: [Logged]] = [:]
    /// When each node last took a partition, and last decided something of it.
    private var tookAt: [[Int64]] = Array(
        repeating: Array(repeating: 0, count: 3), count: NodeWorld.partitions)
    private var decidedAt: [[Int64]] = Array(
        repeating: Array(repeating: -1, count: 3), count: NodeWorld.partitions)
    private(set) var decisions = 0
    private(set) var takeovers = 0
    /// The requests whose messages to topics all partitions have.
    private(set) var copied: [UInt32] = []

    mutating func fail(_ text: String) { if found.count < 5 { found.append(text) } }

    func count(_ outcome: Request.Outcome) -> Int { all.count { $0.outcome == outcome } }

    subscript(number: UInt32) -> Request? {
        number > 0 && number <= all.count ? all[Int(number) - 1] : nil
    }

    // MARK: Leases

    mutating func took(_ partition: Int, _ node: WorldNode, _ world: NodeWorld) {
        tookAt[partition][node.index] = world.time
        takeovers += 1
    }

    /// A command leaves a node for another one.
    mutating func sends(
        _ command: SessionCommand, to connection: ConnectionID, _ node: WorldNode, _ world: NodeWorld
    ) {
        let partition: Int?
        switch command {
        case .submission(let request, _), .reply(let request, _), .device(.upstreamStored(let request)):
            partition = self[request]?.partition
        case .device(.loginAccepted), .appServer(.loginAccepted):
            partition = world.key(of: connection)?.partition(of: NodeWorld.partitions)
        default: partition = nil
        }
        guard let partition else { return }
        decides(command, partition, node, world)
    }

    /// A decision of a partition leaves a node: no other node decides any more.
    mutating func decides(_ command: SessionCommand, _ partition: Int, _ node: WorldNode, _ world: NodeWorld)
    {
        switch command {
        case .submission(_, .refused(.unavailable)), .reply(_, .registrationRefused),
            .device(.upstreamRefused), .appServer(.loginRefused(.unavailable)), .connection:
            return
        default: break
        }
        decisions += 1
        decidedAt[partition][node.index] = world.time
        for other in world.nodes where other !== node {
            guard decidedAt[partition][other.index] >= tookAt[partition][node.index] else { continue }
            fail(
                "leases: node \(other.index) decides on \(partition) after node \(node.index) took it, at \(world.time)"
            )
        }
    }

    // MARK: Logs

    /// A store that is behind is not given more.
    mutating func followed(_ hosted: WorldReplica) {
        hosted.excess = hosted.frames.count > Limits.ClusterHost.unappliedFrames ? hosted.excess + 1 : 0
        if hosted.excess > 1 { fail("stores: \(hosted.frames.count) frames of \(hosted.partition) wait") }
    }

    /// A node has applied the changes of a frame: all nodes apply the same ones.
    mutating func counts(
        _ changes: some Sequence<WorldChange>, at position: LogPosition, of partition: Int, _ time: Int64
    ) {
        guard position > logged[partition] else { return }
        logged[partition] = position
        for change in changes {
            let number = Int(change.request) - 1
            // All partitions have a message to a topic.
            if places[number] != nil, change.kind != .topic { fail("order: \(change) is in the log twice") }
            places[number] = position
            let key: PartitionKey
            switch change.kind {
            case .register, .unregister: key = .device(DeviceID(change.device))
            case .allow, .suspend: key = .sender(SenderID(change.device))
            case .message, .upstream, .topic, .signIn, .nowOrNever: continue
            }
            self.changes[key, default: []].append(Logged(kind: change.kind, request: change.request))
        }
    }

    // MARK: Answers

    mutating func asked(
        _ kind: WorldChange.Kind, _ device: UInt64, _ requester: Requester, of partition: Int, _ time: Int64,
        through door: Int? = nil, vouchedBy sender: SenderID? = nil, isSession: Bool = false
    ) {
        precondition(requester.requestID == all.count + 1, "requests are numbered in order")
        openCount += 1
        all.append(
            Request(
                kind: kind, device: device, requester: requester, partition: partition,
                door: door ?? partition, vouchedBy: sender, isSession: isSession, asked: time))
        places.append(nil)
        byConnection[requester.connection, default: []].append(requester.requestID)
    }

    mutating func answered(_ request: UInt32, _ reply: SubmissionReply, _ world: NodeWorld) {
        switch reply {
        case .accepted: answered(request, .accepted, world)
        case .refused(.notRegistered): answered(request, .notRegistered, world)
        default: answered(request, .unavailable, world)
        }
    }

    mutating func answered(_ request: UInt32, _ reply: RequestReply, _ world: NodeWorld) {
        if case .unregistered = reply {
            answered(request, .accepted, world)
        } else {
            answered(request, .unavailable, world)
        }
    }

    mutating func answered(_ number: UInt32, _ outcome: Request.Outcome, _ world: NodeWorld) {
        guard var request = self[number] else { return fail("answers: \(number) was never asked") }
        guard request.outcome == .open else {
            return fail("answers: request \(number) has two: \(request.outcome), \(outcome)")
        }
        (request.outcome, request.answered) = (outcome, world.time)
        openCount -= 1
        all[Int(number) - 1] = request
        checkWait(request, number)
        if outcome == .accepted, places[Int(number) - 1] == nil, request.kind != .topic,
            request.kind.isLogged
        {
            fail("stores: request \(number) is accepted, and the log does not have it")
        }
        checkState(request)
    }

    mutating func ended(_ connection: ConnectionID, _ time: Int64) {
        for number in byConnection[connection] ?? [] where self[number]?.outcome == .open {
            openCount -= 1
            all[Int(number) - 1].outcome = .ended
            all[Int(number) - 1].answered = time
        }
        byConnection[connection] = nil
    }

    private mutating func checkWait(_ request: Request, _ number: UInt32) {
        let span = request.answered - request.asked
        let isCalm = request.asked > NodeWorld.settledMicroseconds
        if span > (isCalm ? Self.calmMicroseconds : Self.longestMicroseconds) {
            fail("waits: request \(number) of \(request.asked) took \(span) us")
        }
        // Its node does not wait for a tick that shows that its store is too far behind.
        if isCalm, request.kind.isOperators, span >= 1_000 * Limits.ClusterHost.heldMilliseconds {
            fail("progress: change \(number) of \(request.asked) took \(span) us")
        }
        // A login is refused at a node that its partition has just left, for another one that joined. That a sender is suspended does not count
        // at a node without the latest news of its partition, as at a handover: it is refused at once.
        let isOfSuspended = request.vouchedBy != nil && span == 0
        if isCalm, request.outcome == .unavailable, request.kind != .signIn, !isOfSuspended,
            !isOfChanged(request), !isFenced(request, span)
        {
            fail("progress: \(request.kind) \(number) of \(request.asked) is refused")
        }
    }

    /// Whether a request has waited behind events for an owner before that have had no answer, until they were given up: their session has
    /// ended, or the partition has moved twice in a moment, so that they wait for each other.
    private func isFenced(_ request: Request, _ span: Int64) -> Bool {
        let fence = 1_000 * Limits.ClusterLog.leaseWaitMilliseconds
        let moved = [request.partition, request.door].map { tookAt[$0].max() ?? 0 }
        return span >= fence && moved.contains { request.answered - $0 < fence + 200_000 }
    }

    /// Whether the sender of a request was changed while the request waited until its node was up to date, or shortly before.
    private func isOfChanged(_ request: Request) -> Bool {
        guard let sender = request.vouchedBy else { return false }
        return changes[.sender(sender), default: []].contains {
            let change = all[Int($0.request) - 1]
            return change.asked <= request.answered
                && change.answered >= request.asked - Int64(Self.known)
        }
    }

    /// Answers depend on whether a device is registered, and whether a sender is let in.
    private mutating func checkState(_ request: Request) {
        let device = PartitionKey.device(DeviceID(request.device))
        switch (request.kind, request.outcome) {
        case (.message, .accepted), (.nowOrNever, .accepted): check(request, of: device, is: .register)
        case (.message, .notRegistered), (.nowOrNever, .notRegistered):
            check(request, of: device, is: .unregister)
        case (.signIn, .accepted): check(request, of: .sender(SenderID(request.device)), is: .allow)
        case (.signIn, .suspended): check(request, of: .sender(SenderID(request.device)), is: .suspend)
        default: break
        }
        guard let sender = request.vouchedBy else { return }
        switch request.outcome {
        // It was let in.
        case .accepted, .notRegistered:
            let late = request.isSession ? 1_000 * Limits.ClusterHost.sessionMilliseconds : 0
            check(request, of: .sender(sender), is: .allow, within: Self.known + late)
        case .suspended: check(request, of: .sender(sender), is: .suspend, within: Self.known)
        case .open, .unavailable, .ended: break
        }
    }

    /// What a node may not know yet of the senders.
    private static let known = 1_000 * Limits.ClusterLog.leaseMilliseconds

    /// An answer that shows a state agrees with a change that the log has: the last one that was acknowledged some time before the request was
    /// made, or a later one.
    private mutating func check(
        _ request: Request, of object: PartitionKey, is state: WorldChange.Kind, within span: Int64 = 0
    ) {
        for change in (changes[object] ?? []).reversed() {
            if change.kind == state { return }
            let source = all[Int(change.request) - 1]
            guard source.outcome == .accepted, source.answered + span < request.asked else { continue }
            return fail(
                "answers: request \(request.requester.requestID) of \(object), asked at \(request.asked), is \(request.outcome) at \(request.answered), but \(source.kind) was acknowledged at \(source.answered)"
            )
        }
        // Before any change, no device is registered, and all senders are let in.
        guard state != .unregister, state != .allow else { return }
        fail(
            "answers: request \(request.requester.requestID) of \(object) is \(request.outcome), but never was"
        )
    }

    /// A node has the outcome of a change: the log has it, and the node has applied it, unless that has taken long.
    mutating func isWritten(_ number: UInt32, _ node: WorldNode, _ time: Int64) {
        guard let request = self[number], let place = places[Int(number) - 1] else {
            return fail("answers: change \(number) is not in the log")
        }
        let isLate = time - request.asked >= 1_000 * Limits.ClusterHost.heldMilliseconds
        if !isLate, place > node.replicas[request.partition].store.reader.position {
            fail("answers: node \(node.index) has not applied change \(number)")
        }
    }

    /// Looks at a partition after its turn; what its messages to topics have reached counts while it is owned by a lease.
    mutating func look(at core: WorldCore, counts: Bool) {
        if core.elsewhere.strays > 0 {
            fail(
                "answers: partition \(core.partition) gets \(core.elsewhere.strays) for which it does not wait"
            )
        }
        if counts { copied += core.elsewhere.done }
        core.elsewhere.done = []
    }
}
