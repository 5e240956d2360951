import Basics
import ClusterLog
import ClusterLogSupport

/// What owners do to the log, and what comes back.
extension LogWorld {
    /// Feeds an event to the owner of a node: while the node is paused, later and in order. What was meant for an earlier process is
    /// dropped.
    func feed(_ event: OwnerEvent, _ node: Int, _ process: Int) {
        guard nodes[node].process == process else { return }
        nodes[node].inbox.append(event)
        if nodes[node].inbox.count == 1 { resume(node, process) }
    }

    private func resume(_ node: Int, _ process: Int) {
        guard nodes[node].process == process else { return }
        let pause = nodes[node].pausedUntil - time
        guard pause <= 0 else { return after(pause) { $0.resume(node, process) } }
        let events = nodes[node].inbox
        nodes[node].inbox = []
        for event in events { handle(event, node) }
    }

    private func handle(_ event: OwnerEvent, _ node: Int) {
        guard nodes[node].owner != nil else { return }
        var event = event
        if let tamper {
            guard let changed = tamper(event, nodes[node], log) else { return }
            event = changed
        }
        var effects: [OwnerEffect] = []
        nodes[node].owner?.handle(event, now: now(), effects: &effects)
        tamperEffects?(&effects, nodes[node])
        perform(effects, node)
    }

    func perform(_ effects: [OwnerEffect], _ node: Int) {
        for effect in effects { perform(effect, node) }
    }

    private func perform(_ effect: OwnerEffect, _ node: Int) {
        guard let owner = nodes[node].owner else { return }
        switch effect {
        case .append(let name):
            checkers.mustHold(
                owner.unconfirmed <= Limits.ClusterLog.unconfirmedFrames, "bounds: \(owner.unconfirmed)")
            guard let frame = owner.frame(name) else {
                return checkers.mustHold(false, "frames: \(name) is gone")
            }
            // Frames without entries are made by the owner's rule itself.
            if frame.count == FrameHeader.length {
                nodes[node].renewed = max(nodes[node].renewed, name.number)
            }
            append(tamperFrame?(frame, nodes[node]) ?? frame, name, node)
        case .read(let position): read(position, node)
        case .apply(let position):
            let bytes = log.records[Int(position.number) - 1]
            guard case .frame(let header) = FrameHeader.read(bytes: bytes, in: key) else { return }
            apply(bytes, header, position, node)
        case .took(let term):
            marks += 1
            checkers.took(term.epoch, by: node)
        case .confirmed(let name, let position):
            let isRenewal = !nodes[node].contents.keys.contains(name)
            if isRenewal {
                checkers.mustHold(name.number <= nodes[node].renewed, "confirmed: \(name) was never made")
            }
            let content = nodes[node].contents.removeValue(forKey: name) ?? 0
            let commit = Applied(position: position.number, epoch: owner.term.epoch.number, content: content)
            nodes[node].applied.append(commit)
            checkers.confirmed(commit, by: node)
            if !isFaulty, !isRenewal { calmConfirmed += 1 }
        case .lost: nodes[node].drop()
        case .missing(let position):
            checkers.mustHold(false, "missing: records before \(position.number)")
            nodes[node].drop()
        case .shortened(let position):
            checkers.mustHold(false, "shortened: to \(position.number)")
            nodes[node].drop()
        case .halted(let reason):
            checkers.mustHold(false, "halted: \(reason)")
            nodes[node].drop()
        }
    }

    private func isCut(_ node: Int) -> Bool { nodes[node].cutUntil > time }

    private func append(_ frame: [UInt8], _ name: FrameName, _ node: Int) {
        guard !isCut(node) else { return }
        let process = nodes[node].process
        // Between the log and its writer, answers are lost that arrive during a cut.
        func answer(_ event: OwnerEvent, _ delay: Int64) {
            after(delay) { world in
                if !world.isCut(node) { world.feed(event, node, process) }
            }
        }
        switch log.fate(of: node, at: time, isFaulty: isFaulty, &random) {
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

    private func read(_ position: LogPosition, _ node: Int) {
        guard !isCut(node) else { return }
        let process = nodes[node].process
        after(Int64.random(in: 100...2_000, using: &random)) { world in
            let reading = world.log.read(position, at: world.time, isFaulty: world.isFaulty, &world.random)
            let event: OwnerEvent =
                switch reading {
                case .record(let bytes, let position):
                    .record(FrameHeader.read(bytes: bytes, in: world.key), at: position)
                case .end(let position): .end(position)
                case .failed, .removed: .readFailed
                }
            world.after(Int64.random(in: 100...2_000, using: &world.random)) { world in
                if !world.isCut(node) { world.feed(event, node, process) }
            }
        }
    }

    /// Ten times a second, what goes wrong is drawn.
    func trouble() {
        guard isFaulty else { return }
        let node = Int.random(in: nodes.indices, using: &random)
        let span = Int64.random(in: 200_000...5_000_000, using: &random)
        if chance(settings.claims) { claim(node) }
        if chance(settings.doubleClaims) {
            claim(node)
            claim((node + 1) % nodes.count)
        }
        if chance(settings.kills) {
            nodes[node].kill()
            tamperStart?(&nodes[node])
        }
        if chance(settings.pauses) { nodes[node].pausedUntil = max(nodes[node].pausedUntil, time + span) }
        if chance(settings.cuts) { cut(node, span) }
        if chance(settings.elections) {
            log.electionUntil = time + Int64.random(in: 4_000_000...9_000_000, using: &random)
        }
        if chance(settings.refusedReads) { log.unreadUntil = time + span }
        if settings.strangers > 0, chance(settings.strangers) { intrude() }
        if chance(20) { nodes[Int.random(in: nodes.indices, using: &random)].flush() }
        after(100_000) { $0.trouble() }
    }

    /// Nothing passes between a node and the log for a while; some connections notice.
    private func cut(_ node: Int, _ span: Int64) {
        nodes[node].cutUntil = max(nodes[node].cutUntil, time + span)
        let process = nodes[node].process
        guard chance(50) else { return }
        after(Int64.random(in: 0...600_000, using: &random)) { $0.feed(.disconnected, node, process) }
        after(span + 700_000) { $0.feed(.connected, node, process) }
    }
}
