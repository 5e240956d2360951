import Basics
import Cluster
import Delivery

/// The operators of all nodes, who change senders, and requests by HTTP, whose credentials a node checks by what it has.
extension NodeWorld {
    private func partition(of sender: SenderID) -> Int {
        PartitionKey.sender(sender).partition(of: Self.partitions)
    }

    private static func record(_ sender: SenderID, isSuspended: Bool) -> SenderRecord {
        SenderRecord(
            sender: sender, label: "", keys: [ServerKey(digest: secret, createdAt: 0)], createdAt: 0,
            isSuspended: isSuspended)
    }

    // MARK: Changes

    /// An operator of a node changes a sender, and waits for the outcome for a while.
    func operate(_ kind: WorldChange.Kind, _ sender: SenderID, _ node: WorldNode) {
        requests += 1
        let number = requests
        let requester = Requester(connection: node.operators, requestID: number)
        checkers.asked(kind, sender.number, requester, of: partition(of: sender), time)
        node.changes[UInt64(number)] = true
        let batch = WriteBatch(
            batchNumber: UInt64(number),
            mutations: [.putSender(Self.record(sender, isSuspended: kind == .suspend))], isDurable: true)
        let change = ControlChange(batch, of: partition(of: sender))
        node.clusterInbox.jobs.append { $0.route(.change(change, UInt64(number)), node) }
        wakeCluster(node)
        let patience =
            isFaulty ? draw(500_000...10_000_000) : 1_000_000 * Int64(Limits.Operator.answerSeconds)
        after(patience, on: node) { world in
            guard node.changes[UInt64(number)] == true else { return }
            node.changes[UInt64(number)] = false
            world.checkers.answered(number, .unavailable, world)
        }
    }

    /// The batch of a control change.
    static func batch(_ change: ControlChange, _ origin: ChangeOrigin, by node: WorldNode) -> WorldBatch {
        let number = UInt32(change.batch.batchNumber)
        let changes = change.batch.mutations.compactMap { mutation -> WorldChange? in
            guard case .putSender(let record) = mutation else { return nil }
            return WorldChange(
                kind: record.isSuspended ? .suspend : .allow, device: record.sender.number,
                connection: node.operators, request: number)
        }
        return WorldBatch(number: 0, changes: changes, origin: origin)
    }

    /// A change has its outcome: the thread of its operator reads the senders, and answers, unless it has given up.
    func changed(_ number: ChangeOrigin.Number, isWritten: Bool, _ node: WorldNode) {
        guard let isAwaited = node.changes.removeValue(forKey: number) else {
            return checkers.fail("answers: change \(number) has two outcomes")
        }
        if isWritten { checkers.isWritten(UInt32(number), node, time) }
        guard isAwaited else { return }
        after(draw(10...2_000), on: node) { world in
            if isWritten { world.readSenders(node) }
            world.checkers.answered(UInt32(number), isWritten ? .accepted : .unavailable, world)
        }
    }

    /// Reads the senders from the store, and passes them to the partitions.
    func readSenders(_ node: WorldNode) {
        let directory = directory(of: node)
        node.directory = directory
        node.reactorInbox.jobs.append { node.turns.accept(.senders(directory), now: $0.now) }
        wakeReactor(node)
    }

    func directory(of node: WorldNode) -> SenderDirectory {
        SenderDirectory(
            Self.senders.map { sender in
                let store = node.replicas[partition(of: sender)].store
                return Self.record(sender, isSuspended: store.suspended.contains(sender.number))
            })
    }

    // MARK: Credentials that a node checks

    /// Publishes until when a node counts as having all that is confirmed.
    func publishKnowledge(_ node: WorldNode) {
        for hosted in node.replicas {
            let until = node.membership?.currentUntil(hosted.partition, leaseEnd: hosted.replica.leaseEnd)
            node.known[hosted.partition].extend(until: until ?? .distantPast, now: now.monotonic)
        }
    }

    private func isCurrent(_ sender: SenderID, _ node: WorldNode) -> Bool {
        canary == .neverVouches
            || node.known[partition(of: sender)].covers(from: now.monotonic, to: now.monotonic)
    }

    /// A request by HTTP, whose credentials the node checks by what it has of the sender, or one of an app server that has logged in.
    func acceptVouched(
        _ event: Event, of sender: SenderID, _ request: UInt32, isSession: Bool, _ node: WorldNode
    ) {
        let record = node.directory[sender]
        let known = node.known[partition(of: sender)]
        let isCurrent = isSession ? known.coversSessions(now.monotonic) : isCurrent(sender, node)
        let way = node.vouching.way(of: sender, record, isSession: isSession, isCurrent: isCurrent)
        if way == .refused || record?.isSuspended == true {
            let areCurrent = Self.senders.allSatisfy { self.isCurrent($0, node) }
            return checkers.answered(request, areCurrent ? .suspended : .unavailable, self)
        }
        guard way == .waits else { return accept(event, node) }
        let answer = node.vouching.keep(
            event, of: sender, record, isSession: isSession, now: now.monotonic)
        if let answer { perform(answer, node) }
    }

    /// Lets the requests go on whose sender is as it was.
    func vouch(_ node: WorldNode) {
        guard !node.vouching.isEmpty else { return }
        let outcomes = node.vouching.review(
            now: now.monotonic, isCurrent: { isCurrent($0, node) }, record: { node.directory[$0] })
        for outcome in outcomes {
            switch outcome {
            case .goesOn(let event): accept(event, node)
            case .refused(let answer): perform(answer, node)
            }
        }
    }

    private func perform(_ answer: UnreachedAnswer, _ node: WorldNode) {
        answer.forEach(
            command: { perform($1, $0, node, of: nil) }, event: { accept($0, node) })
    }
}
