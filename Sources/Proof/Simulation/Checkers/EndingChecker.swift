import Basics
import Delivery
import Store

/// Each stored message ends once, for a valid reason.
struct EndingChecker {
    struct Key: Hashable {
        var owner: UInt64
        var sequence: SequenceNumber
    }

    private struct Collapse: Hashable {
        var device: DeviceID
        var registration: RegistrationNumber
        var key: [UInt8]?
    }

    private(set) var messages: [Key: StoredMessage] = [:]
    /// The newest message that was put with each collapse key.
    private var newest: [Collapse: SequenceNumber] = [:]
    private var upstream: [Key: StoredUpstream] = [:]
    /// Messages on the schedule.
    private(set) var scheduled: Set<Key> = []
    /// The collapse keys of scheduled messages so far: such a message replaces newer ones when it is due.
    private var late: Set<Collapse> = []
    /// Upstream messages whose report was put since the last crash, or survived it: only these end as expired.
    private var reported: Set<Key> = []
    /// Those of them whose report has not ended.
    private var waitingReports: Set<Key> = []

    /// Messages and upstream messages that were put and have not ended.
    var pending: (downstream: Int, upstream: Int) {
        (messages.values.count { $0.kind == .message }, upstream.values.count { $0.kind == .message })
    }

    mutating func rolledBack(to state: MemoryState) {
        messages = [:]
        upstream = [:]
        state.forEachMessage { messages[Key(owner: $0.device.number, sequence: $0.sequence)] = $0 }
        scheduled = Set(state.scheduled.map { Key(owner: $0.device.number, sequence: $0.sequence) })
        state.forEachUpstream { upstream[Key(owner: $0.sender.number, sequence: $0.sequence)] = $0 }
        // A message whose report is lost, or was acknowledged before the crash, is reported again.
        waitingReports = Set(messages.values.compactMap(\.reported))
        reported = waitingReports
    }

    mutating func didApply(
        _ batch: WriteBatch, _ outcome: CommitOutcome, _ truth: Truth,
        _ fanOuts: inout FanOutChecker, _ world: World
    ) {
        var ended: [(StoredMessage, Milestone)] = []
        var markers: Set<RegistrationName> = []
        /// Messages without a collapse key that are removed and have no marker yet.
        var unmarked: [RegistrationName: Int] = [:]
        for mutation in batch.mutations {
            switch mutation {
            case .putMessage(let message):
                put(message, truth, &fanOuts, world)
                if case .discardedMarker(let count) = message.kind {
                    markers.insert(message.name)
                    truth.markers[message.persistentID] = count
                    if message.delaysWhileIdle { truth.delayedMarkers.insert(message.persistentID) }
                    // What a failed commit should have put is counted but was never on disk.
                    let isExact = world.settings.faults.hasCommitsAll
                    let discarded = unmarked.removeValue(forKey: message.name)
                    if discarded == nil, world.settings.discardsTopics {
                        fanOuts.putMarker(message, of: count, truth, world)
                    } else if discarded != count, isExact {
                        world.fail(
                            "endings", "a marker counts \(count) messages, not those that were discarded")
                    }
                }
            case .removeMessage(let device, let sequence, _, let reason):
                let place = Key(owner: device.number, sequence: sequence)
                guard let message = messages.removeValue(forKey: place) else { continue }
                if scheduled.contains(place), reason == .replaced || reason == .discarded,
                    !mayBeReleased(message, world)
                {
                    world.fail("endings", "a scheduled message ended as \(reason.rawValue) before its time")
                }
                if let report = message.reported { waitingReports.remove(report) }
                ended.append((message, reason))
                if reason == .discarded, message.collapseKey == nil {
                    unmarked[message.name, default: 0] += message.represented
                }
            case .putSchedule(let entry):
                scheduled.insert(Key(owner: entry.device.number, sequence: entry.sequence))
                world.reached(.scheduled)
            case .removeSchedule(let device, let sequence, _):
                scheduled.remove(Key(owner: device.number, sequence: sequence))
            case .removeSharedBody(let name, let partition, _):
                checkPairs(of: name, partition, world)
            case .putUpstream(let message, let now):
                let isRepeated = outcome.duplicates.contains { $0 == (message.sender, message.sequence) }
                if isRepeated { world.reached(.duplicateDropped) } else { put(message, now, truth, world) }
            case .removeUpstream(let sender, let sequence, _, let reason):
                let place = Key(owner: sender.number, sequence: sequence)
                guard let message = upstream.removeValue(forKey: place) else { continue }
                check(message, reason, truth, world)
                if reason == .expired, message.kind == .message { returned(message, at: place, truth, world) }
            default: break
            }
        }
        for (message, reason) in ended { check(message, reason, markers, truth, fanOuts, world) }
    }

    /// Whether a message may have been released in a batch that failed: it waits from then on, and is on the schedule until it ends.
    private func mayBeReleased(_ message: StoredMessage, _ world: World) -> Bool {
        !world.settings.faults.hasCommitsAll
            && ((message.dueAt ?? .max) <= world.latestWall || world.clock.wasWrong)
    }

    /// Checks that no message is sent before its time, nor one whose cancellation was confirmed.
    func check(_ step: CoreStep, _ truth: Truth, _ world: World) {
        for case (_, .device(.deliver(let delivery))) in step.commands {
            guard let number = Number.of(delivery.message.messageID),
                let draft = truth.downstream[number]?.draft, draft.messageID == delivery.message.messageID,
                let sendAt = draft.sendAt
            else { continue }
            world.reached(.scheduledSent)
            // By a wrong clock that is believed it may be due before.
            if sendAt > world.latestWall, !world.clock.wasWrong {
                world.fail("endings", "m\(number) was sent before its time")
            }
        }
        guard !truth.cancelled.isEmpty else { return }
        for case (_, .device(.deliver(let delivery))) in step.commands
        where truth.cancelled.contains(delivery.message.persistentID) {
            world.fail("endings", "a cancelled message was sent")
        }
    }

    /// Checks that no mailbox of a partition needs pairs that are removed.
    private func checkPairs(of name: SharedBodyName, _ partition: Int, _ world: World) {
        let isNeeded = messages.values.contains { message in
            message.shared?.name == name && message.expiresAt > world.latestWall
                && PartitionKey.device(message.device).partition(of: world.settings.partitions) == partition
        }
        if isNeeded { world.fail("endings", "shared pairs ended before the last message") }
    }

    /// Checks that the store has the pairs that a message of a request to many shares.
    private func checkPairs(of message: StoredMessage, _ world: World) {
        guard case .request = message.shared?.name else { return }
        world.reached(.bodyShared)
        let before = SequenceNumber(message.sequence.number - 1)
        let load = StoreQuery.messages(message.device, after: before, limit: 1)
        guard case .messages(_, let page, _) = world.disk.state.load(load), let stored = page.first,
            stored.sequence == message.sequence, !stored.hasBody
        else { return }
        world.fail("endings", "a message was stored without the pairs that it shares")
    }

    private mutating func put(
        _ message: StoredMessage, _ truth: Truth, _ fanOuts: inout FanOutChecker, _ world: World
    ) {
        let place = Key(owner: message.device.number, sequence: message.sequence)
        if messages[place] != nil {
            world.fail("endings", "a message key was used twice: \(message.sequence.number)")
        }
        messages[place] = message
        checkPairs(of: message, world)
        if let place = message.reported { return put(message, reporting: place, truth, world) }
        guard message.kind == .message else { return }
        if message.dueAt != nil { late.insert(collapse(message)) }
        newest[collapse(message)] = max(newest[collapse(message)] ?? message.sequence, message.sequence)
        let number = Number.of(message.messageID)
        if let number, fanOuts.messages[number] != nil {
            return fanOuts.put(number, message, truth, world)
        }
        guard let number, let known = truth.downstream[number] else {
            return world.fail("endings", "an unknown message was stored")
        }
        if known.draft.lifetimeSeconds == 0 || known.draft.isDryRun {
            world.fail("endings", "m\(number) was stored but must not be")
        }
        if known.puts >= known.submissions { world.fail("endings", "m\(number) was stored too often") }
        let isOfApp =
            message.name == known.target
            || truth.tokens.newer(than: known.target).contains { $0.name == message.name }
        if !isOfApp { world.fail("endings", "m\(number) was stored for another app") }
        truth.downstream[number]?.puts += 1
        truth.downstream[number]?.registration = message.name
        truth.downstream[number]?.expiresAt = message.expiresAt
    }

    private mutating func put(
        _ message: StoredUpstream, _ now: UnixMilliseconds, _ truth: Truth, _ world: World
    ) {
        let place = Key(owner: message.sender.number, sequence: message.sequence)
        if upstream[place] != nil {
            world.fail("endings", "a message key was used twice: \(message.sequence.number)")
        }
        upstream[place] = message
        guard let number = message.draftNumber else { return }
        if message.kind == .message {
            truth.upstream[number]?.returnsOwed += 1
            // A duplicate that the store had forgotten may be put again: the message sent the first time still ends as it would
            // have.
            let earlier = truth.upstream[number]?.expiresAt ?? .max
            truth.upstream[number]?.expiresAt = min(earlier, message.expiresAt)
            if let before = truth.upstream[number]?.putAt,
                Upstreams.isRemembered(before, at: now)
            {
                world.fail("endings", "u\(number) was stored again within a day")
            }
            truth.upstream[number]?.putAt = now
        } else {
            truth.downstream[number]?.hasReceipt = true
        }
    }

    private func check(
        _ message: StoredMessage, _ reason: Milestone, _ markers: Set<RegistrationName>, _ truth: Truth,
        _ fanOuts: FanOutChecker, _ world: World
    ) {
        guard message.kind == .message, let number = Number.of(message.messageID) else { return }
        let name = message.name
        if fanOuts.messages[number] != nil {
            let isTrue =
                switch reason {
                case .replaced: message.collapseKey != nil && isReplaced(message)
                case .discarded: mayBeDiscarded(message, markers, world)
                case .forwarded: world.apple.accepted.contains(message.persistentID)
                default: fanOuts.isTrue(number, message, reason, truth, world)
                }
            if !isTrue {
                world.fail("endings", "m\(number) ended as \(reason.rawValue), which is wrong")
            }
            return
        }
        guard let known = truth.downstream[number] else { return }
        let isTrue =
            switch reason {
            case .delivered:
                known.isDelivered && known.isReported && !truth.cancelled.contains(message.persistentID)
                    && (!known.draft.wantsReceipt || mayLackReceipt(known, name, truth, world))
            case .expired: message.expiresAt <= world.latestWall
            case .replaced: isReplaced(message)
            case .discarded: mayBeDiscarded(message, markers, world)
            case .forwarded: world.apple.accepted.contains(message.persistentID)
            case .removed:
                truth.mayBeGone(name) || !truth.registered.contains(name)
                    || truth.cancelling.contains(message.messageID)
                    || world.checkers.replacements.replaced[message.persistentID] != nil
            default: false
            }
        switch reason {
        case .expired: world.reached(.expiredDown)
        case .replaced: world.reached(.collapsed)
        case .discarded where message.collapseKey != nil: world.reached(.collapseKeyDiscarded)
        case .discarded: truth.downstream[number]?.isMarked = isTrue
        default: break
        }
        if !isTrue { world.fail("endings", "m\(number) ended as \(reason.rawValue), which is wrong") }
    }

    /// Returns whether a message may end without a receipt: it has expired, or its registration may be removed.
    private func mayLackReceipt(
        _ message: Truth.Downstream, _ name: RegistrationName, _ truth: Truth, _ world: World
    ) -> Bool {
        message.hasReceipt || (message.expiresAt ?? 0) <= world.latestWall
            || truth.mayBeGone(name)
    }

    private func mayBeDiscarded(
        _ message: StoredMessage, _ markers: Set<RegistrationName>, _ world: World
    ) -> Bool {
        message.collapseKey != nil || markers.contains(message.name)
            || world.apple.refused.contains(message.persistentID)
    }

    private func isReplaced(_ message: StoredMessage) -> Bool {
        late.contains(collapse(message)) || newest[collapse(message)].map { $0 > message.sequence } ?? false
    }

    private func collapse(_ message: StoredMessage) -> Collapse {
        Collapse(device: message.device, registration: message.registration, key: message.collapseKey)
    }

    /// Checks that a report is of an expired message that has not ended, and that no other report of it waits.
    private mutating func put(_ report: StoredMessage, reporting place: Key, _ truth: Truth, _ world: World) {
        let words = String(decoding: report.messageID, as: UTF8.self)
        guard let message = upstream[place], message.kind == .message else {
            return world.fail("endings", "\(words) was reported, which is not stored")
        }
        if message.expiresAt > world.latestWall {
            world.fail("endings", "\(words) was reported before it expired")
        }
        if report.name != message.from || report.messageID != message.messageID {
            world.fail("endings", "\(words) was returned to another device or app")
        }
        if !waitingReports.insert(place).inserted {
            world.fail("endings", "\(words) was reported again while its report waits")
        }
        reported.insert(place)
        truth.reports[report.device, default: []].insert(report.messageID)
    }

    /// Checks that a message expires once, and without a report only if its app may be unregistered.
    private func returned(_ message: StoredUpstream, at place: Key, _ truth: Truth, _ world: World) {
        guard let number = message.draftNumber else { return }
        if truth.upstream[number]?.returnsOwed == 0 { world.fail("endings", "u\(number) expired twice") }
        truth.upstream[number]?.returnsOwed -= 1
        if !reported.contains(place), !truth.mayBeGone(message.from) {
            world.fail("endings", "u\(number) expired without a report")
        }
    }

    private func check(_ message: StoredUpstream, _ reason: Milestone, _ truth: Truth, _ world: World) {
        guard message.kind == .message, let number = message.draftNumber else { return }
        let isTrue =
            switch reason {
            case .delivered:
                // An answer names only an ID, which another message may share.
                truth.upstream[number]?.isDelivered == true
                    && (truth.upstream[number]?.isAnswered == true
                        || truth.sharedIDs.contains(message.messageID))
            case .expired: message.expiresAt <= world.latestWall
            default: false
            }
        if reason == .expired { world.reached(.expiredUp) }
        if !isTrue { world.fail("endings", "u\(number) ended as \(reason.rawValue), which is wrong") }
    }
}

extension StoredMessage {
    /// The registration that the message waits for.
    var name: RegistrationName { RegistrationName(device: device, number: registration) }

    /// The key of the upstream message whose end it reports. `nil` if it is no report.
    fileprivate var reported: EndingChecker.Key? {
        guard case .sendError(let sequence) = kind, let sender else { return nil }
        return EndingChecker.Key(owner: sender.number, sequence: sequence)
    }

    /// The number of messages that it stands for.
    var represented: Int {
        switch kind {
        case .message: 1
        case .discardedMarker(let count): count
        case .sendError: 0
        }
    }
}
