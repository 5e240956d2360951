import Basics
import Cluster
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
        var asked: Int64
        var answered = Int64.max
        var outcome = Outcome.open
    }

    /// What keeps its order.
    private struct Sequence: Hashable {
        var device: UInt64
        var connection: ConnectionID
    }

    /// The longest that a request may take once there are no faults: its wait for an owner, and some ticks.
    static let calmMicroseconds = 1_000 * (Limits.ClusterHost.heldMilliseconds + 500)
    /// The longest that a request may take at all: also a request that waited for an owner at two nodes, and processes that stood still.
    static let longestMicroseconds =
        1_000 * (Limits.NodeProtocol.answerMilliseconds + Limits.ClusterHost.heldMilliseconds) + 5_000_000

    private(set) var found: [String] = []
    private(set) var all: [UInt32: Request] = [:]
    /// The requests that have no answer.
    private(set) var openCount = 0
    private var byConnection: [ConnectionID: [UInt32]] = [:]
    /// The registrations and removals of each device.
    private var changes: [UInt64: [UInt32]] = [:]
    /// When each node last took a partition, and last decided something of it.
    private var tookAt: [[Int64]] = Array(
        repeating: Array(repeating: 0, count: 3), count: NodeWorld.partitions)
    private var decidedAt: [[Int64]] = Array(
        repeating: Array(repeating: -1, count: 3), count: NodeWorld.partitions)
    private(set) var decisions = 0
    private(set) var takeovers = 0
    /// How many subscribers have the message to a topic, by its request, once all have answered.
    private(set) var reachedSubscribers: [UInt32: Int] = [:]

    mutating func fail(_ text: String) { if found.count < 5 { found.append(text) } }

    func count(_ outcome: Request.Outcome) -> Int { all.values.count { $0.outcome == outcome } }

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
            partition = all[request]?.partition
        case .device(.loginAccepted):
            partition = world.device(of: connection).map {
                PartitionKey.device(DeviceID($0)).partition(of: NodeWorld.partitions)
            }
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
            .device(.upstreamRefused), .connection:
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

    // MARK: Answers

    mutating func asked(
        _ kind: WorldChange.Kind, _ device: UInt64, _ requester: Requester, of partition: Int, _ time: Int64
    ) {
        openCount += 1
        all[requester.requestID] = Request(
            kind: kind, device: device, requester: requester, partition: partition, asked: time)
        byConnection[requester.connection, default: []].append(requester.requestID)
        if kind == .register || kind == .unregister {
            changes[device, default: []].append(requester.requestID)
        }
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
        guard var request = all[number] else { return fail("answers: \(number) was never asked") }
        guard request.outcome == .open else {
            return fail("answers: request \(number) has two: \(request.outcome), \(outcome)")
        }
        (request.outcome, request.answered) = (outcome, world.time)
        openCount -= 1
        all[number] = request
        let span = world.time - request.asked
        let isCalm = request.asked > NodeWorld.settledMicroseconds
        if span > (isCalm ? Self.calmMicroseconds : Self.longestMicroseconds) {
            fail("waits: request \(number) of \(request.asked) took \(span) us")
        }
        if isCalm, outcome == .unavailable {
            fail("progress: request \(number) of \(request.asked) is refused")
        }
        if request.kind == .message { checkRegistration(request) }
    }

    mutating func ended(_ connection: ConnectionID, _ time: Int64) {
        for number in byConnection[connection] ?? [] where all[number]?.outcome == .open {
            openCount -= 1
            all[number]?.outcome = .ended
            all[number]?.answered = time
        }
        byConnection[connection] = nil
    }

    /// An answer to a message depends on whether its device is registered: a change that was acknowledged before it was asked must show, unless a
    /// later one may undo it.
    private mutating func checkRegistration(_ request: Request) {
        let isRegistered: Bool
        switch request.outcome {
        case .accepted: isRegistered = true
        case .notRegistered: isRegistered = false
        default: return
        }
        let changes = (changes[request.device] ?? []).compactMap { all[$0] }.filter {
            $0.asked < request.answered
        }
        let contrary = changes.filter {
            $0.outcome == .accepted && ($0.kind == .register) != isRegistered
                && $0.answered < request.asked
        }
        guard let last = contrary.max(by: { $0.answered < $1.answered }) else {
            // Before any change, no device is registered.
            let canBe = !isRegistered || changes.contains { $0.kind == .register }
            if !canBe { fail("answers: device \(request.device) was never registered") }
            return
        }
        let mayUndo = changes.contains { change in
            guard (change.kind == .register) == isRegistered else { return false }
            // One that is not answered, or has failed, may happen at any time.
            return change.outcome != .accepted || change.answered > last.asked
        }
        guard !mayUndo else { return }
        fail(
            "answers: request \(request.requester.requestID) is \(request.outcome), but \(last.kind) of \(last.asked) was acknowledged at \(last.answered), asked \(request.asked)"
        )
    }

    // MARK: The end

    /// Whether nothing waits for anything.
    func isQuiet(_ world: NodeWorld) -> Bool {
        openCount == 0
            && world.nodes.allSatisfy { node in
                node.router.heldCount + node.router.openCount == 0
                    && node.cores.allSatisfy { $0.map(\.isQuiet) ?? true }
            }
    }

    mutating func finish(_ world: NodeWorld) {
        let open = all.values.filter { $0.outcome == .open }
        if let first = open.min(by: { $0.asked < $1.asked }) {
            fail("waits: \(open.count) requests have no answer, the first of \(first.asked): \(first)")
        }
        checkStores(world)
        checkTopics(world)
        for node in world.nodes {
            let router = node.router
            if router.heldCount > 0 || router.openCount > 0 {
                fail("counts: node \(node.index) holds \(router.heldCount), waits for \(router.openCount)")
            }
            for case let core? in node.cores where !core.isQuiet {
                fail("counts: partition \(core.partition) of node \(node.index) waits: \(core.elsewhere)")
            }
        }
        checkSessions(world)
    }

    /// Looks at a partition after its turn.
    mutating func look(at core: WorldCore) {
        if core.elsewhere.strays > 0 {
            fail(
                "answers: partition \(core.partition) gets \(core.elsewhere.strays) for which it does not wait"
            )
        }
        for (request, reached) in core.elsewhere.done { reachedSubscribers[request] = reached }
        core.elsewhere.done = []
    }

    private mutating func checkTopics(_ world: NodeWorld) {
        var devices: [UInt32: Set<UInt64>] = [:]
        for hosted in world.nodes.first?.replicas ?? [] {
            for message in hosted.store.messages where message.kind == .topic {
                devices[message.request, default: []].insert(message.device)
            }
        }
        for (request, reached) in reachedSubscribers where devices[request]?.count ?? 0 < reached {
            fail(
                "stores: topic message \(request) reached \(reached), and \(devices[request]?.count ?? 0) have it"
            )
        }
    }

    private mutating func checkStores(_ world: NodeWorld) {
        for partition in 0..<NodeWorld.partitions {
            let stores = world.nodes.map(\.replicas[partition].store)
            for store in stores where store.messages != stores[0].messages {
                fail("stores: \(partition) differs: \(stores.map(\.messages.count))")
            }
            var last: [Sequence: UInt32] = [:]
            var seen: Set<UInt32> = []
            // A message to a topic is sent again to those that have it if another subscriber has not.
            for message in stores[0].messages where message.kind != .topic {
                if !seen.insert(message.request).inserted {
                    fail("order: \(message.request) is stored twice")
                }
                // An upstream message may be passed on by another owner of its device than the one before it.
                guard message.kind == .message, all[message.request]?.outcome == .accepted else { continue }
                let sequence = Sequence(device: message.device, connection: message.connection)
                if let before = last[sequence], before > message.request {
                    fail("order: \(message.request) is stored after \(before) of \(sequence)")
                }
                last[sequence] = message.request
            }
            let lost = all.values.filter {
                ($0.kind == .message || $0.kind == .upstream) && $0.outcome == .accepted
                    && $0.partition == partition && !seen.contains($0.requester.requestID)
            }
            if !lost.isEmpty { fail("stores: \(lost.count) accepted messages are lost") }
        }
    }

    /// Each session that is let in is known to the owner of its partition, and the owner has no others.
    private mutating func checkSessions(_ world: NodeWorld) {
        var remote = Array(repeating: 0, count: world.nodes.count)
        for partition in 0..<NodeWorld.partitions {
            guard
                let owner = world.nodes.first(where: {
                    $0.router.standing(of: partition) == .serving
                }), let core = owner.cores[partition]
            else {
                fail("progress: partition \(partition) is not served")
                continue
            }
            for node in world.nodes {
                for connection in node.connections {
                    guard case .loggedIn(let device) = connection.login,
                        PartitionKey.device(DeviceID(device)).partition(of: NodeWorld.partitions)
                            == partition
                    else { continue }
                    if node !== owner { remote[owner.index] += 1 }
                    if core.sessions[device] != connection.id(node) {
                        fail("sessions: device \(device) at node \(node.index) is unknown to its owner")
                    }
                }
            }
            for (device, session) in core.sessions
            where !world.nodes.contains(where: { node in
                node.connections.contains { $0.id(node) == session }
            }) {
                fail("sessions: \(session) of device \(device) has ended")
            }
        }
        for node in world.nodes where node.router.sessionCount > remote[node.index] {
            fail(
                "counts: node \(node.index) has \(node.router.sessionCount) sessions, not \(remote[node.index])"
            )
        }
        for node in world.nodes {
            for connection in node.connections {
                if case .asked = connection.login {
                    fail("waits: a login of node \(node.index) has no answer")
                }
            }
        }
    }
}
