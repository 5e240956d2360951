import Basics
import Delivery
import Store

/// A message has one persistent id, and only a stored one has any.
struct IdentityChecker {
    func heard(_ number: Int, _ id: PersistentID?, _ truth: inout Truth, _ world: World) {
        guard let message = truth.downstream[number] else {
            return world.fail("identity", "a device heard m\(number), which nobody sent")
        }
        if message.draft.isDryRun { world.fail("identity", "m\(number) was to be tried only") }
        guard message.draft.lifetimeSeconds > 0 else {
            if id != nil || message.isHeard {
                world.fail("identity", "m\(number) is now or never, and came otherwise")
            }
            return
        }
        guard let id else { return world.fail("identity", "m\(number) came without its id") }
        if let known = message.persistentID, known != id {
            world.fail("identity", "m\(number) came as \(id.text) after \(known.text)")
        }
        truth.downstream[number]?.persistentID = id
    }
}

/// What comes on one connection comes in order.
struct OrderChecker {
    private var devices: [ObjectIdentifier: Sequence] = [:]
    private var offered: Set<Int> = []
    private var onLink: [Int: Set<UpstreamHandle>] = [:]
    private var newest: [ConnectionID: [DeviceID: Sequence]] = [:]

    mutating func device(_ id: PersistentID, _ port: ObjectIdentifier, _ world: World) {
        if let last = devices[port], last >= id.sequence {
            world.fail("order", "\(id.text) came on one connection after \(last.number)")
        }
        devices[port] = id.sequence
    }

    /// A connection is new; its address may have been another's.
    mutating func forget(_ port: ObjectIdentifier) { devices[port] = nil }

    mutating func appServer(_ number: Int, _ handle: UpstreamHandle, _ link: Int, _ world: World) {
        if !onLink[link, default: []].insert(handle).inserted, !world.clockWasSet {
            world.fail("order", "u\(number) was offered twice on one connection")
        }
    }

    /// The core hands a message to a connection; what it offered before comes again whenever a connection ends.
    mutating func offered(_ message: StoredUpstream, _ connection: ConnectionID, _ world: World) {
        // Now or never does not wait for what is being stored.
        guard message.kind == .message, message.lifetimeSeconds > 0,
            let number = Number.of(message.messageID),
            offered.insert(number).inserted
        else { return }
        if let last = newest[connection]?[message.from.device], last > message.sequence {
            world.fail("order", "u\(number) came after a later one of its device")
        }
        newest[connection, default: [:]][message.from.device] = message.sequence
    }
}

/// Nobody is given more than the window allows; what has ended meanwhile no longer counts for the server.
struct WindowChecker {
    func device(_ numbers: Set<Int>, _ truth: Truth, _ world: World) {
        let unacknowledged = numbers.count { number in
            guard let message = truth.downstream[number], message.draft.collapseKey == nil,
                !truth.unregistered.contains(message.draft.target)
            else { return false }
            return message.expiresAt ?? 0 > world.latestWall
        }
        let limit = world.settings.delivery.unacknowledgedPerDevice
        if unacknowledged > limit { world.fail("windows", "\(unacknowledged) unacknowledged at a device") }
    }

    func appServer(_ numbers: some Collection<Int>, _ truth: Truth, _ world: World) {
        let unsettled = Set(numbers).count { truth.upstream[$0]?.expiresAt ?? .max > world.latestWall }
        let limit = world.settings.delivery.pendingWindow
        if unsettled > limit { world.fail("windows", "\(unsettled) unanswered at an app server") }
    }
}

/// Every submission is answered once.
struct AnswerChecker {
    func answered(
        _ number: Int, _ refusal: Refusal?, isOutstanding: Bool, _ truth: inout Truth, _ world: World
    ) {
        guard let message = truth.downstream[number], isOutstanding else {
            return world.fail("answers", "m\(number) was answered, which nobody waits for")
        }
        truth.downstream[number]?.answers += 1
        truth.downstream[number]?.isAcknowledged = refusal == nil
        switch refusal {
        case nil, .unavailable, .draining: break
        case .notRegistered:
            if truth.registered.contains(message.draft.target),
                !truth.unregistered.contains(message.draft.target)
            {
                world.fail("answers", "m\(number) was refused for a registration that stands")
            }
        case .some(let refusal): world.fail("answers", "m\(number) was refused as \(refusal.word)")
        }
    }
}

/// Once nothing fails any more, everything gets where it can.
struct ProgressChecker {
    func finish(_ world: World) {
        let state = world.disk.state
        let truth = world.checkers.truth
        let audit = state.audit()
        if !audit.holds { world.fail("conservation", "at the end: \(audit)") }
        let reachable = Set(world.devices.compactMap { $0.identity?.device })
        var left: [String] = []
        state.forEachMessage { message in
            guard reachable.contains(message.device) else { return }
            let what = Number.of(message.messageID).map { "m\($0)" } ?? "a marker"
            left.append("\(what) still waits for \(message.device.number)")
        }
        for text in left.sorted().prefix(4) { world.fail("progress", text) }
        var waiting: [String] = []
        state.forEachUpstream { message in
            let text = String(decoding: message.messageID, as: UTF8.self)
            waiting.append(
                message.kind == .message ? "\(text) still waits" : "the receipt of \(text) still waits")
        }
        for text in waiting.sorted().prefix(4) { world.fail("progress", text) }
        if !world.devices.allSatisfy({ $0.isSettled }) { world.fail("progress", "a device is not settled") }
        for (number, message) in truth.downstream.sorted(by: { $0.key < $1.key }) where message.isCalm {
            if message.answers == 0 { world.fail("progress", "m\(number) was never answered") }
            if message.isAcknowledged, !message.isHeard, isOwed(message, truth) {
                world.fail("progress", "m\(number) never came")
            }
        }
        for (number, message) in truth.upstream.sorted(by: { $0.key < $1.key }) where message.isCalm {
            if !message.isConfirmed, !message.isRefused {
                world.fail("progress", "u\(number) was never confirmed")
            }
            if message.isConfirmed, !message.isHeard, message.draft.lifetimeSeconds >= 3_600 {
                world.fail("progress", "u\(number) never came")
            }
        }
    }

    private func isOwed(_ message: Truth.Downstream, _ truth: Truth) -> Bool {
        message.draft.lifetimeSeconds >= 3_600 && !message.draft.isDryRun && message.draft.collapseKey == nil
            && !truth.unregistered.contains(message.draft.target)
    }
}
