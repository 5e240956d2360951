public import Basics
import ClusterLog

/// Claims, and the batches of the owner.
extension Replica {
    /// Adds an encoded batch, and returns its number. Returns `nil` if the partition is not owned or too much waits.
    public mutating func submit(
        _ batch: borrowing RawSpan, now: Now, effects: inout [ReplicaEffect]
    ) -> UInt64? {
        guard isOwning, waiting.count < Limits.ClusterLog.waitingBytes else { return nil }
        waiting.append(word: UInt64(batch.byteCount))
        waiting.append(batch)
        ends.append(waiting.count)
        let number = nextSubmission
        nextSubmission += 1
        makeFrames(now, &effects)
        return number
    }

    /// Appends the mark of a claim.
    mutating func begin(_ claim: Claim, _ now: Now, _ effects: inout [ReplicaEffect]) {
        role = .claiming
        lookedSince = nil
        var made: [OwnerEffect] = []
        let owner = LogOwner(
            claim: claim, after: following, in: log, version: writes, now: now, effects: &made)
        ownMark = owner.unconfirmedFrames.first?.1 ?? []
        self.owner = owner
        perform(made, reading: [], now, &effects)
        effects.append(.changed)
    }

    mutating func release(to node: NodeNumber, _ effects: inout [ReplicaEffect]) {
        guard case .owning = role else { return }
        role = .releasing(to: node, .waiting)
        owner?.renews = false
        surrenderIfIdle(&effects)
        effects.append(.changed)
    }

    /// Once nothing is without an outcome, no further decision may leave this node.
    mutating func surrenderIfIdle(_ effects: inout [ReplicaEffect]) {
        guard case .releasing(let node, .waiting) = role, isIdle else { return }
        surrenders += 1
        role = .releasing(to: node, .asked(surrenders))
        effects.append(.surrender(surrenders))
    }

    /// Goes on as the owner. What it has surrendered does not come back: the successor may count on it.
    mutating func resume(_ now: Instant, _ effects: inout [ReplicaEffect]) {
        guard case .releasing = role else { return }
        role = .owning
        leaseFrom = now
        owner?.renews = true
        effects.append(.changed)
    }

    /// Passes an event to the owner's rule, if there is a claim or an ownership.
    mutating func own(
        _ event: OwnerEvent, reading record: [UInt8] = [], _ now: Now, _ effects: inout [ReplicaEffect]
    ) {
        guard owner != nil else { return }
        var made: [OwnerEffect] = []
        owner?.handle(event, now: now, effects: &made)
        perform(made, reading: record, now, &effects)
        makeFrames(now, &effects)
        surrenderIfIdle(&effects)
    }

    private mutating func perform(
        _ made: [OwnerEffect], reading record: [UInt8], _ now: Now, _ effects: inout [ReplicaEffect]
    ) {
        for effect in made {
            switch effect {
            case .append(let name):
                noteRenewal(name)
                effects.append(.append(name))
            case .read(let position): effects.append(.read(position))
            case .apply(let position):
                guard case .frame(let header) = header(record) else {
                    return halt(.inconsistent(at: position), &effects)
                }
                note(foreign: position, now.monotonic)
                kept.add(KeptRecord(header, record, at: position))
                apply(record, header, position, &effects)
            case .took:
                keepMark(ownMark, at: owner?.mark)
                role = .entering
                parts = []
                enterIfApplied(now.monotonic, &effects)
            case .confirmed(let name, let position): confirmed(name, position, &effects)
            case .lost:
                // The mark of another term: what is incomplete stays so.
                parts = []
                foreign = owner.map { ($0.reader.position, now.monotonic) }
                keepMark(record, at: owner?.reader.position)
                giveUp(&effects)
            case .missing(let position): absent(before: position, .lost, &effects)
            case .shortened(let position):
                effects.append(.shortened(to: position))
                beginRepair(unconfirmed: owner?.unconfirmedFrames ?? [], now, &effects)
            case .halted(let reason): halt(reason, &effects)
            }
        }
    }

    /// Serves once the store has everything that was written before, and the owner before decides nothing more.
    mutating func enterIfApplied(_ now: Instant, _ effects: inout [ReplicaEffect]) {
        guard case .entering = role, applied >= passed, entry <= now, let term = owner?.term else { return }
        role = .owning
        effects.append(contentsOf: [.took(term), .changed])
    }

    /// Another owner has written up to a position: by that it may have a lease, unless it has surrendered it there.
    mutating func note(foreign position: LogPosition, _ now: Instant) {
        if position > surrendered { foreign = (position, now) }
    }

    private mutating func keepMark(_ bytes: [UInt8], at position: LogPosition?) {
        guard let position, case .frame(let header) = FrameHeader.read(bytes.raw, in: log) else { return }
        kept.add(KeptRecord(header, bytes, at: position))
    }

    private mutating func confirmed(
        _ name: FrameName, _ position: LogPosition, _ effects: inout [ReplicaEffect]
    ) {
        guard let frame = ownFrames.first, frame.number == name.number, let term = owner?.term else {
            return halt(.inconsistent(at: position), &effects)
        }
        ownFrames.removeFirst()
        kept.add(KeptRecord(frame.header, frame.bytes, at: position))
        switch frame.content {
        // If the rest is stored after this node has given up, it completes the content.
        case .more(let part): parts.append(contentsOf: part)
        case .last(let batches):
            parts = []
            firstUnresolved = batches.upperBound
            pass(.own(batches), term, name.number, position, &effects)
        case .renewal:
            guard isRenewalNoted() else { return }
            pass(.own(firstUnresolved..<firstUnresolved), term, name.number, position, &effects)
        }
    }

    /// A frame that the owner's rule has made by itself renews the lease.
    private mutating func noteRenewal(_ name: FrameName) {
        guard name.number > ownFrames.last?.number ?? max(1, reader.number),
            let (header, bytes) = owner?.unconfirmedFrame(name)
        else { return }
        ownFrames.append(OwnFrame(number: name.number, content: .renewal, header: header, bytes: bytes))
    }

    /// Whether the store notes the position of a renewal: now and then, so that it need not be read again.
    mutating func isRenewalNoted() -> Bool {
        renewals += 1
        return renewals >= Limits.ClusterLog.notedRenewals && parts.isEmpty
    }

    /// Makes frames of what waits. While some frames are unconfirmed, more is gathered for the next one.
    private mutating func makeFrames(_ now: Now, _ effects: inout [ReplicaEffect]) {
        var made: [OwnerEffect] = []
        while let owner, owner.canMake, sending != nil || startSending(besides: owner.unconfirmed),
            let next = sending
        {
            let end = min(next.content.count, next.sent + FramePart.bytes)
            let isLast = end == next.content.count
            let part = Array(next.content[next.sent..<end])
            let entries = [isLast ? FramePart.last : FramePart.more] + part
            guard let name = self.owner?.make(entries.raw, now: now, effects: &made),
                let (header, bytes) = self.owner?.unconfirmedFrame(name)
            else { return }
            ownFrames.append(
                OwnFrame(
                    number: name.number, content: isLast ? .last(of: next.submissions) : .more(part),
                    header: header, bytes: bytes))
            if isLast { sending = nil } else { sending?.sent = end }
        }
        perform(made, reading: [], now, &effects)
    }

    /// Takes what waits as the content of the next frames.
    private mutating func startSending(besides unconfirmed: Int) -> Bool {
        let isDue =
            unconfirmed < Limits.ClusterLog.eagerFrames || waiting.count >= Limits.ClusterLog.gatheredBytes
        guard !ends.isEmpty, isDue else { return false }
        // All that fits into one frame, and at least one.
        let count = max(1, ends.firstIndex { $0 > FramePart.bytes } ?? ends.count)
        let bytes = ends[count - 1]
        let first = nextSubmission - UInt64(ends.count)
        sending = Sending(
            submissions: first..<first + UInt64(count),
            content: [UInt8](copying: waiting.bytes.extracting(0..<bytes)))
        waiting.removeFirst(bytes)
        ends.removeFirst(count)
        for index in ends.indices { ends[index] -= bytes }
        return true
    }

    /// Ends a claim or an ownership, and follows again.
    mutating func giveUp(_ effects: inout [ReplicaEffect]) {
        failAll(&effects)
        dropOwner()
        role = .following
        effects.append(.lost)
        if isConnected { follow(&effects) }
        effects.append(.changed)
    }

    /// Ends the use of the owner's rule, and goes on where it was in the log.
    mutating func dropOwner() {
        following = reader
        voids += owner?.voids ?? 0
        owner = nil
        ownMark = []
        repair = nil
        lookedSince = nil
    }

    /// Reports all batches without an outcome as failed: whether those in flight count, the readers learn.
    mutating func failAll(_ effects: inout [ReplicaEffect]) {
        waiting.removeAll()
        ends = []
        sending = nil
        ownFrames = []
        guard firstUnresolved < nextSubmission else { return }
        effects.append(.fail(firstUnresolved..<nextSubmission))
        firstUnresolved = nextSubmission
    }
}
