import Basics
import Cluster
import ClusterLog
import ClusterLogSupport

/// What replicas do to the log and their stores, and what comes back.
extension ReplicaWorld {
    /// Feeds an event to a node: while it is paused, later and in order.
    func feed(_ event: ReplicaEvent, _ node: Node, _ process: Int) {
        guard node.process == process else { return }
        node.inbox.append(event)
        if node.inbox.count == 1 { resume(node, process) }
    }

    private func resume(_ node: Node, _ process: Int) {
        guard node.process == process else { return }
        let pause = node.pausedUntil - time
        guard pause <= 0 else { return after(pause) { $0.resume(node, process) } }
        let events = node.inbox
        node.inbox = []
        for event in events {
            var effects: [ReplicaEffect] = []
            node.replica.handle(event, now: now, effects: &effects)
            perform(effects, node)
            copyIfBehind(node)
        }
    }

    func perform(_ effects: [ReplicaEffect], _ node: Node) {
        for effect in effects {
            guard let effect = tamper?(effect, node) ?? (tamper == nil ? effect : nil) else { continue }
            perform(effect, node)
        }
    }

    private func perform(_ effect: ReplicaEffect, _ node: Node) {
        switch effect {
        case .append(let name):
            guard let frame = node.replica.frame(name) else { return fail("frames: \(name) is gone") }
            append(frame, name, node)
        case .read(let position): read(position, node)
        case .follow(let position): node.follows = position
        case .stopFollowing: node.follows = nil
        // Its stores are fast.
        case .pauseFollowing, .resumeFollowing: break
        case .apply(let frame):
            node.frames.append(frame)
            if node.frames.count == 1 { applyLater(node) }
        case .fail(let range):
            for number in range {
                guard let batch = node.open.removeValue(forKey: number) else {
                    fail("outcomes: batch \(number) has two")
                    continue
                }
                failed.insert(batch)
            }
        case .took:
            if node.replica.lag > 0 || !node.frames.isEmpty {
                fail("serving: node \(node.number) has not applied everything")
            }
            node.isServing = true
            node.tookAt = time
            node.hasSurrendered = false
        case .lost: node.isServing = false
        case .surrender(let number):
            // Events that are under way are decided still.
            let process = node.process
            after(draw(0...5_000)) { world in
                guard node.process == process else { return }
                node.hasSurrendered = true
                world.feed(.surrendered(number), node, process)
            }
        case .changed, .absent, .examine: break
        case .appendRecord(let bytes): append(bytes, FrameName(claim: Claim(0), number: 0), node)
        case .shortened: break
        case .repaired: repairs += 1
        case .halted(let reason): fail("halted: \(reason)")
        }
    }

    // MARK: Store

    private func applyLater(_ node: Node) {
        let process = node.process
        after(draw(10...5_000)) { world in
            guard node.process == process, let frame = node.frames.first else { return }
            world.apply(frame, node, process)
        }
    }

    private func apply(_ frame: AppliedFrame, _ node: Node, _ process: Int) {
        // A process that dies between two batches of a frame.
        let dies = isFaulty && !losesRecords && chance(1)
        var batches: [UInt64]
        switch frame.content {
        case .own(let range):
            batches = range.compactMap { node.open.removeValue(forKey: $0) }
            if batches.count != range.count { fail("outcomes: a batch of \(range) has two") }
            for batch in batches where !dies {
                succeeded.insert(batch)
                acknowledged.append(batch)
                if time > Self.faultMicroseconds + 8_000_000 { calm += 1 }
            }
        case .foreign(let content): batches = Self.batches(in: content)
        }
        if dies { batches.removeLast((batches.count + 1) / 2) }
        for (index, batch) in batches.enumerated() where UInt64(index) >= skips(frame) {
            node.store.applied.append(batch)
            node.store.batches = UInt64(index) + 1
        }
        guard !dies else { return restart(node, losesUnsynced: false) }
        node.store.reader = LogReader(term: frame.term, number: frame.number, position: frame.position)
        node.store.batches = 0
        node.frames.removeFirst()
        if !node.frames.isEmpty { applyLater(node) }
        feed(.applied(frame.position), node, process)
    }

    static func batches(in content: [UInt8]) -> [UInt64] {
        (AppliedFrame.batches(in: content) ?? []).map { content.raw.word(at: $0.lowerBound) }
    }

    // MARK: Log

    private func isCut(_ node: Node) -> Bool { node.cutUntil > time }

    private func append(_ frame: [UInt8], _ name: FrameName, _ node: Node) {
        guard !isCut(node) else { return }
        let process = node.process
        func answer(_ event: ReplicaEvent, _ delay: Int64) {
            after(delay) { world in if !world.isCut(node) { world.feed(event, node, process) } }
        }
        switch log.fate(of: node.number, at: time, isFaulty: isFaulty, &random) {
        case .lost: break
        case .refused(let delay): answer(.refused(name), delay)
        case .stored(let delay, let answerDelay):
            after(delay) { world in
                let position = world.log.store(frame, &world.random)
                guard let answerDelay else { return }
                world.after(answerDelay) { world in
                    if !world.isCut(node) { world.feed(.stored(name, at: position), node, process) }
                }
            }
        }
    }

    private func read(_ position: LogPosition, _ node: Node) {
        guard !isCut(node) else { return }
        let process = node.process
        after(draw(100...2_000)) { world in
            if world.isBlind, position > world.log.end, position <= node.replica.reader.position {
                return world.feed(.record([1], at: position), node, process)
            }
            let event: ReplicaEvent =
                switch world.log.read(position, at: world.time, isFaulty: world.isFaulty, &world.random) {
                case .record(let bytes, let position): .record(bytes, at: position)
                case .end(let position): .end(position)
                case .removed(let first): .removed(first: first)
                case .failed: .readFailed
                }
            world.after(world.draw(100...2_000)) { world in
                if !world.isCut(node) { world.feed(event, node, process) }
            }
        }
    }

    func follow(_ node: Node) {
        if !isCut(node) {
            for _ in 0..<16 {
                guard let position = node.follows else { break }
                let reading = log.read(
                    position.next, at: time, isFaulty: isFaulty, ofLeader: false, &random)
                if case .removed(let first) = reading {
                    node.follows = nil
                    feed(.removed(first: first), node, node.process)
                }
                guard case .record(let bytes, let found) = reading else { break }
                node.follows = found
                feed(.followed(bytes, at: found), node, node.process)
            }
        }
        after(draw(1_000...40_000)) { $0.follow(node) }
    }
}
