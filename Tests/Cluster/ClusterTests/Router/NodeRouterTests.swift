import Basics
import Cluster
import ClusterLog
import Delivery
import Testing

/// Who gets, holds, refuses or answers what comes to the thread of the cluster.
@Suite("the router of a node") struct NodeRouterTests {
    private static let partitions = 4
    private let one = NodeNumber(1)
    let two = NodeNumber(2)
    let three = NodeNumber(3)
    let start = Instant(nanoseconds: 1_000_000_000)
    private let device = DeviceID(7)
    var partition: Int { PartitionKey.device(device).partition(of: Self.partitions) }

    func router() -> NodeRouter { NodeRouter(node: one, partitions: Self.partitions, seed: 5) }

    private func requester(_ number: UInt32, node: UInt16 = 1) -> Requester {
        Requester(
            connection: ConnectionID(node: node, reactor: 0, slot: 0, generation: 1), requestID: number)
    }

    private func event(_ number: UInt32, node: UInt16 = 1) -> Event {
        .forgetDevice(device, requester(number, node: node))
    }

    /// Passes events to a router. Returns what it wants, in words.
    func pass(
        _ events: [NodeRouterEvent], to router: inout NodeRouter, after milliseconds: Int64 = 0
    ) -> [String] {
        var effects: [NodeRouterEffect] = []
        let now = start.advanced(milliseconds: milliseconds)
        for event in events { router.handle(event, now: now, effects: &effects) }
        return effects.compactMap(words)
    }

    private func words(_ effect: NodeRouterEffect) -> String? {
        func number(_ event: Event) -> String {
            if case .device(_, .forget(let requester)) = event { "\(requester.requestID)" } else { "other" }
        }
        return switch effect {
        case .serve: "serve"
        case .lost: "lost"
        case .leave(_, let number): "leave \(number)"
        case .moved: nil
        case .release(_, let successor): "release to \(successor.number)"
        case .resume: "resume"
        case .deliver(let event, _): "deliver \(number(event))"
        case .passFence: "pass fence"
        case .send(let event, let owner, let mayWait):
            "send \(number(event)) to \(owner.number)\(mayWait ? ", may wait" : "")"
        case .command(.reply(let number, .registrationRefused), _): "refuse \(number)"
        case .command: "command"
        case .sendCommand(.connection(.close), _, let node): "close at \(node.number)"
        case .sendCommand(_, _, let node): "command to \(node.number)"
        case .closeSessions: "close sessions"
        case .submit(_, let origin, _): "submit \(origin == .here(1) ? "own" : "of another")"
        case .store: "store"
        case .sendChange(_, _, let owner): "change to \(owner.number)"
        case .sendOutcome(_, let position, let node):
            "outcome \(position?.number ?? 0) to \(node.number)"
        case .returnChange(_, let node): "return to \(node.number)"
        case .changed(_, let isWritten): isWritten ? "written" : "failed"
        case .unreached(let count, let reason): "\(count) \(reason)"
        }
    }

    @Test("an event goes to the owner, here or elsewhere, and waits without one or without a link, in order")
    func ways() {
        var router = router()
        let none = pass([.event(event(1)), .owner(partition: partition, two), .event(event(2))], to: &router)
        #expect(none.isEmpty && router.heldCount == 2)
        let linked = pass([.linked(two), .event(event(3))], to: &router)
        #expect(linked == ["send 1 to 2", "send 2 to 2", "send 3 to 2"])
        #expect(router.heldCount == 0 && router.openCount == 3)
        var owner = self.router()
        let served = pass(
            [
                .event(event(1)), .received(event(2, node: 2)), .took(partition: partition),
                .event(event(3)),
            ], to: &owner)
        #expect(served == ["serve", "deliver 1", "deliver 2", "deliver 3"])
    }

    @Test("an answer to a node without a link goes by way of another one, and other commands do not")
    func relays() {
        let answer = SessionCommand.device(.upstreamStored(requestID: 5))
        let connection = requester(5, node: 3).connection
        var owner = router()
        let commands: [NodeRouterEvent] = [
            .linked(two),
            .commands([(connection, answer), (connection, .connection(.drain))], validUntil: .distantFuture),
        ]
        #expect(pass(commands, to: &owner) == ["command to 2"])
        var relay = NodeRouter(node: two, partitions: Self.partitions, seed: 5)
        let received = NodeRouterEvent.receivedCommand(answer, to: connection, from: one)
        #expect(pass([.linked(one), received], to: &relay).isEmpty, "no link leads on")
        #expect(pass([.linked(three), received], to: &relay) == ["command to 3"])
        // It was sent by two ways: the session gets it once.
        var last = NodeRouter(node: three, partitions: Self.partitions, seed: 5)
        let request = NodeRouterEvent.event(upstream(5, node: 3))
        let sent = pass([.linked(two), .owner(partition: partition, two), request], to: &last)
        #expect(sent == ["send other to 2"])
        let twice = NodeRouterEvent.receivedCommand(answer, to: connection, from: two)
        #expect(pass([twice, twice], to: &last) == ["command"] && last.openCount == 0)
    }

    private func upstream(_ number: UInt32, node: UInt16) -> Event {
        .upstreamReceived(
            UpstreamSubmission(
                requester: requester(number, node: node), device: device, sender: SenderID(9),
                isFCMDomain: false, category: [], messageID: [], persistentID: [], lifetimeSeconds: 60,
                body: []))
    }

    @Test("an event of another node waits at a partition that leaves, and goes on to its next owner")
    func leaving() {
        var router = router()
        let events: [NodeRouterEvent] = [
            .linked(two), .linked(three), .took(partition: partition), .owner(partition: partition, one),
            .leaves(partition: partition, to: three), .received(event(1, node: 2)),
        ]
        #expect(pass(events, to: &router) == ["serve", "leave 1"] && router.heldCount == 1)
        #expect(pass([.left(partition: partition, 1)], to: &router) == ["release to 3"])
        #expect(pass([.lost(partition: partition)], to: &router) == ["lost", "leave 2"])
        let late: [NodeRouterEvent] = [
            .left(partition: partition, 2), .lost(partition: partition), .resumed(partition: partition),
            .leaves(partition: partition, to: three),
        ]
        #expect(pass(late, to: &router).isEmpty && router.standing(of: partition) == .away)
        #expect(pass([.owner(partition: partition, three)], to: &router) == ["send 1 to 3"])
        var resumed = self.router()
        _ = pass(events, to: &resumed)
        #expect(pass([.resumed(partition: partition)], to: &resumed) == ["resume", "serve", "deliver 1"])
        #expect(pass([.left(partition: partition, 1)], to: &resumed).isEmpty)
        #expect(pass([.leaves(partition: partition, to: two)], to: &resumed) == ["leave 2"])
        #expect(pass([.left(partition: partition, 1)], to: &resumed).isEmpty, "they have left it before")
        #expect(pass([.left(partition: partition, 2)], to: &resumed) == ["release to 2"])
    }

    @Test("a handover is done once another node owns the partition")
    func moved() {
        var router = router()
        var effects: [NodeRouterEffect] = []
        for owner in [one, nil, two, two, nil] {
            router.handle(.owner(partition: partition, owner), now: start, effects: &effects)
        }
        let moved = effects.compactMap { if case .moved(partition, let owner) = $0 { owner } else { nil } }
        #expect(moved == [two])
    }

    @Test(
        "an event that a node sends to one that is not the owner goes on with the next tick, and holds none up"
    )
    func misdirected() {
        var router = router()
        let events: [NodeRouterEvent] = [
            .linked(two), .linked(three), .owner(partition: partition, three),
            .received(event(1, node: 2)), .event(event(2)),
        ]
        #expect(pass(events, to: &router).isEmpty && router.heldCount == 2)
        #expect(pass([.tick], to: &router, after: 100) == ["send 1 to 3", "send 2 to 3"])
        #expect(pass([.event(event(3))], to: &router, after: 100) == ["send 3 to 3"])
    }

    @Test(
        "a login waits at the node of its session alone: elsewhere the end of the session could arrive before it"
    )
    func loginsElsewhere() {
        func login(_ node: UInt16) -> Event {
            .deviceLogin(
                DeviceLogin(
                    connection: requester(1, node: node).connection, device: device,
                    token: SecretDigest(bytes: [1]), received: []))
        }
        var router = router()
        let events: [NodeRouterEvent] = [
            .linked(two), .linked(three), .received(login(2)), .owner(partition: partition, three),
            .received(login(2)), .event(login(2)),
        ]
        let refused = ["1 noOwner", "command to 2"]
        #expect(pass(events, to: &router) == refused + refused + refused && router.heldCount == 0)
        var owner = self.router()
        let served = pass(
            [.linked(two), .took(partition: partition), .received(login(2))], to: &owner)
        #expect(served == ["serve", "deliver other"] && owner.sessionCount == 1)
        let lost = pass([.lost(partition: partition)], to: &owner)
        #expect(lost == ["lost", "leave 1", "close at 2"] && owner.sessionCount == 0)
        var own = self.router()
        #expect(pass([.event(login(1))], to: &own).isEmpty && own.heldCount == 1)
        #expect(pass([.linked(two), .owner(partition: partition, two)], to: &own) == ["send other to 2"])
    }

    @Test("after a change of the owner, events wait for what the one before owes, until its lease is over")
    func fences() {
        let moved: [NodeRouterEvent] = [
            .linked(two), .linked(three), .owner(partition: partition, two), .event(event(1)),
            .owner(partition: partition, three), .event(event(2)),
        ]
        let answer = NodeRouterEvent.receivedCommand(
            .reply(requestID: 1, .unregistered), to: requester(1).connection, from: two)
        var answered = router()
        #expect(pass(moved, to: &answered) == ["send 1 to 2", "close sessions"])
        // The owner before may have let in sessions meanwhile.
        #expect(pass([answer], to: &answered) == ["command", "close sessions", "send 2 to 3"])
        var silent = router()
        _ = pass(moved, to: &silent)
        let limit = Limits.ClusterLog.leaseWaitMilliseconds
        #expect(pass([.tick], to: &silent, after: limit - 1).isEmpty)
        #expect(
            pass([.tick], to: &silent, after: limit)
                == ["1 noAnswer", "refuse 1", "close sessions", "send 2 to 3"])
        #expect(pass([answer], to: &silent, after: limit).isEmpty)
    }

    @Test("an event that comes back from the owner before goes on ahead of later ones")
    func back() {
        var router = router()
        let events: [NodeRouterEvent] = [
            .linked(two), .linked(three), .owner(partition: partition, two), .event(event(1)),
            .owner(partition: partition, nil), .event(event(2)), .received(event(1)),
        ]
        #expect(pass(events, to: &router) == ["send 1 to 2", "close sessions"] && router.heldCount == 2)
        #expect(pass([.owner(partition: partition, three)], to: &router) == ["send 1 to 3", "send 2 to 3"])
    }

    @Test(
        "what a node has passed on and comes back goes ahead of later events of its node, and never behind them"
    )
    func passedOn() {
        let away: [NodeRouterEvent] = [
            .linked(two), .linked(three), .received(event(1, node: 2)),
            .owner(partition: partition, three),
        ]
        let back = NodeRouterEvent.received(event(1, node: 2))
        let later = NodeRouterEvent.received(event(2, node: 2))
        let serves = NodeRouterEvent.took(partition: partition)
        var waiting = router()
        #expect(pass(away, to: &waiting) == ["send 1 to 3"])
        #expect(pass([.owner(partition: partition, nil), later, back], to: &waiting) == ["close sessions"])
        #expect(pass([serves], to: &waiting) == ["serve", "deliver 1", "deliver 2"])
        // The node of the session has not noticed the owner in between.
        var serving = router()
        _ = pass(away, to: &serving)
        #expect(pass([serves, back, later], to: &serving) == ["serve", "deliver 1", "deliver 2"])
        var overtaken = router()
        _ = pass(away, to: &overtaken)
        let others = NodeRouterEvent.received(event(3, node: 3))
        #expect(
            pass([serves, others, later, back], to: &overtaken)
                == ["serve", "deliver 3", "deliver 2", "1 noOwner", "command to 2"])
        #expect(pass([later, back], to: &overtaken) == ["deliver 2", "deliver 1"], "it is refused once")
        // Its node has given it up.
        var expired = router()
        _ = pass(away, to: &expired)
        #expect(pass([serves, later], to: &expired) == ["serve", "deliver 2"])
        #expect(
            pass([.tick, back], to: &expired, after: Limits.NodeProtocol.answerMilliseconds) == ["deliver 1"])
    }

    @Test("an event that names a partition which the cluster does not have is dropped")
    func partitions() {
        var router = router()
        _ = pass((0..<Self.partitions).map { .took(partition: $0) }, to: &router)
        for (partition, source) in [(3, 3), (3, 4), (4, 3)] {
            let words = pass([.received(.topicLog(partition, .published([], from: source)))], to: &router)
            #expect(words == (max(partition, source) == 3 ? ["deliver other"] : []))
        }
    }

    @Test("a held event is answered at the end of its wait, which another owner does not prolong")
    func held() {
        var router = router()
        _ = pass([.event(event(1))], to: &router)
        let limit = Limits.ClusterHost.heldMilliseconds
        _ = pass([.owner(partition: partition, two)], to: &router, after: 3_000)
        #expect(pass([.tick], to: &router, after: limit - 1).isEmpty)
        #expect(pass([.tick], to: &router, after: limit) == ["1 noOwner", "refuse 1"])
        #expect(router.heldCount == 0 && pass([.tick], to: &router, after: 2 * limit).isEmpty)
    }

    @Test("all nodes are notified of the end of a session, and the one that has let it in ends it")
    func ended() {
        var (owner, other) = (router(), NodeRouter(node: two, partitions: Self.partitions, seed: 5))
        let connection = requester(1, node: 2).connection
        let login = DeviceLogin(
            connection: connection, device: device, token: SecretDigest(bytes: [1]), received: [])
        let received = NodeRouterEvent.received(.deviceLogin(login))
        #expect(
            pass([.linked(two), .took(partition: partition), received], to: &owner)
                == ["serve", "deliver other"])
        #expect(owner.sessionCount == 1)
        #expect(
            pass([.linked(one), .linked(three), .ended(connection)], to: &other)
                == ["close at 1", "close at 3"])
        let report = NodeRouterEvent.receivedCommand(
            .connection(.close(.peerClosed)), to: connection, from: two)
        #expect(pass([report], to: &owner) == ["deliver other"] && owner.sessionCount == 0)
        #expect(pass([report], to: &owner).isEmpty, "others do not have it")
    }

    @Test("a request is answered once: by its owner, by the loss of the link, or because it was not sent")
    func answers() {
        var router = router()
        let events: [NodeRouterEvent] = [.linked(two), .owner(partition: partition, two), .event(event(1))]
        _ = pass(events + [.event(event(2)), .event(event(3))], to: &router)
        let reply = SessionCommand.reply(requestID: 1, .unregistered)
        let answered = NodeRouterEvent.receivedCommand(reply, to: requester(1).connection, from: two)
        #expect(pass([answered, answered], to: &router) == ["command"])
        #expect(pass([.unsent(event(2))], to: &router) == ["1 notSent", "refuse 2"])
        #expect(
            pass([.unlinked(two)], to: &router) == ["close sessions", "1 linkLost", "refuse 3"])
        #expect(router.openCount == 0)
        let late = NodeRouterEvent.receivedCommand(
            .reply(requestID: 3, .unregistered), to: requester(3).connection, from: two)
        #expect(pass([late], to: &router).isEmpty)
    }

    @Test("a handover does not wait for the login of a session that has ended")
    func endedLogins() {
        var router = router()
        let session = requester(1).connection
        let login = Event.deviceLogin(
            DeviceLogin(connection: session, device: device, token: SecretDigest(bytes: [1]), received: []))
        let began: [NodeRouterEvent] = [
            .linked(two), .linked(three), .owner(partition: partition, two), .event(login),
        ]
        #expect(pass(began, to: &router) == ["send other to 2"] && router.openCount == 1)
        var waiting = router
        let moved: [NodeRouterEvent] = [.owner(partition: partition, three), .event(event(2))]
        #expect(pass([.ended(session)] + moved, to: &router).last == "send 2 to 3")
        #expect(pass(moved, to: &waiting).last == "close sessions" && waiting.heldCount == 1)
        // The session ends while events wait for the answer.
        #expect(pass([.ended(session)], to: &waiting).contains("send 2 to 3") && waiting.heldCount == 0)
    }

    @Test("a handover does not wait for what is owed to a partition that has left this node")
    func leftPartitions() {
        let other = (partition + 1) % Self.partitions
        let copy = NodeRouterEvent.event(.topicLog(other, .published([], from: partition)))
        let began: [NodeRouterEvent] = [
            .linked(two), .took(partition: partition), .owner(partition: partition, one),
            .owner(partition: other, two), copy,
        ]
        let ends: [[NodeRouterEvent]] = [
            [.lost(partition: partition)],
            [.leaves(partition: partition, to: two), .left(partition: partition, 1)],
        ]
        for end in ends {
            var router = router()
            #expect(pass(began, to: &router).last == "send other to 2" && router.openCount == 1)
            _ = pass(end, to: &router)
            #expect(router.openCount == 0)
        }
        var away = router()
        #expect(pass(began + ends[0] + [copy], to: &away).last == "send other to 2")
        #expect(away.openCount == 0, "what the partition has still sent is not waited for")
    }

    @Test("what went to a node by way of another one is given up once there is a link to it again")
    func newLinks() {
        var router = router()
        let event = upstream(1, node: 1)
        guard case .device(_, .upstreamReceived(let submission)) = event else { return }
        let onward = PartitionKey.sender(submission.sender).partition(of: Self.partitions)
        #expect(onward != partition)
        let began: [NodeRouterEvent] = [
            .linked(two), .owner(partition: partition, two), .owner(partition: onward, three), .event(event),
        ]
        #expect(pass(began, to: &router) == ["send other to 2"] && router.openCount == 1)
        #expect(pass([.linked(three)], to: &router) == ["1 linkLost", "command"] && router.openCount == 0)
    }

    @Test("commands that leave after the end of the lease by which they were decided end their sessions")
    func late() {
        var router = router()
        _ = pass([.linked(two)], to: &router)
        let commands = [1, 2].map {
            (requester(1, node: 2).connection, SessionCommand.reply(requestID: $0, .unregistered))
        }
        #expect(
            pass([.commands(commands, validUntil: start.advanced(milliseconds: 1))], to: &router)
                == ["command to 2", "command to 2"])
        #expect(pass([.commands(commands, validUntil: start)], to: &router) == ["close at 2"])
    }
}
