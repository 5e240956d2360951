import Basics
import Delivery
import Store

/// A message has one persistent ID, and only a stored one has any.
struct IdentityChecker {
    /// Checks that a marker counts the discarded messages.
    func deliveredMarker(_ delivered: DeliveredMessage, _ truth: Truth, _ world: World) {
        world.reached(.markerReceived)
        guard let id = delivered.id, let count = truth.markers[id], count == delivered.deleted else {
            return world.fail(
                "identity", "a device got a wrong marker of \(delivered.deleted ?? -1) discarded messages")
        }
    }

    func delivered(_ number: Int, _ delivered: DeliveredMessage, _ truth: Truth, _ world: World) {
        let id = delivered.id
        guard let message = truth.downstream[number] else {
            return world.fail("identity", "a device received m\(number), which was not sent")
        }
        if message.draft.isDryRun {
            world.fail("identity", "m\(number) was delivered although it was a dry run")
        }
        if delivered.from != Array("\(message.sender.number)".utf8) {
            world.fail("identity", "m\(number) was received from another sender")
        }
        if truth.tokens.app(of: message.target)?.audience.first != message.sender {
            world.reached(.sharedTokenDelivered)
        }
        guard message.draft.lifetimeSeconds > 0 else {
            if id != nil || (message.isDelivered && message.submissions == 1) {
                world.fail("identity", "m\(number) is now-or-never, but was delivered late or twice")
            }
            return world.reached(.nowOrNeverSent)
        }
        guard let id else {
            return world.fail("identity", "m\(number) was received without its persistent ID")
        }
        if message.persistentIDs.contains(id) { world.reached(.redelivered) }
        truth.downstream[number]?.persistentIDs.insert(id)
        if (truth.downstream[number]?.persistentIDs.count ?? 0) > message.puts {
            world.fail("identity", "m\(number) was received under another persistent ID")
        }
    }
}

/// Messages arrive in order on each connection.
struct OrderChecker {
    private var devices: [ObjectIdentifier: SequenceNumber] = [:]
    private var offered: Set<Int> = []
    private var onLink: [Int: Set<UpstreamHandle>] = [:]
    private var newest: [ConnectionID: [DeviceID: SequenceNumber]] = [:]

    mutating func device(_ id: PersistentID, _ port: ObjectIdentifier, _ world: World) {
        if let last = devices[port], last >= id.sequence {
            world.fail("order", "\(id.text) was received on one connection after \(last.number)")
        }
        devices[port] = id.sequence
    }

    /// Forgets a closed connection: a new one may have the same address.
    mutating func forget(_ port: ObjectIdentifier) { devices[port] = nil }

    mutating func appServer(_ number: Int, _ handle: UpstreamHandle, _ link: Int, _ world: World) {
        if !onLink[link, default: []].insert(handle).inserted, !world.clockWasSet,
            !world.clock.wasNeverSet
        {
            world.fail("order", "u\(number) was sent twice on one connection")
        }
    }

    /// Checks the order in which the core first sends messages to a connection; they are sent again when a connection ends.
    mutating func offered(_ message: StoredUpstream, _ connection: ConnectionID, _ world: World) {
        // A now-or-never message does not wait for messages being stored.
        guard message.kind == .message, message.lifetimeSeconds > 0,
            let number = message.draftNumber,
            offered.insert(number).inserted
        else { return }
        if let last = newest[connection]?[message.from.device], last > message.sequence {
            world.fail("order", "u\(number) was sent after a later one of its device")
        }
        newest[connection, default: [:]][message.from.device] = message.sequence
    }
}

/// No client has more unanswered messages than its window; messages that have ended meanwhile do not count for the server.
struct WindowChecker {
    /// Messages that the core has removed since it last sent them, for whatever reason: a copy of a message that was submitted again
    /// may expire before the others, and one that was received on an earlier connection may be sent while it is being removed.
    private var removed: Set<EndingChecker.Key> = []

    mutating func check(_ step: CoreStep) {
        for case (_, .device(.deliver(let delivery))) in step.commands {
            let message = delivery.message
            removed.remove(EndingChecker.Key(owner: message.device.number, sequence: message.sequence))
        }
        // Afterwards: a message that is sent may be replaced in the same step, one that is removed is not sent any more.
        for case .removeMessage(let device, let sequence, _, _) in step.mutations {
            removed.insert(EndingChecker.Key(owner: device.number, sequence: sequence))
        }
    }

    func device(_ device: DeviceID, _ messages: some Collection<PersistentID>, _ world: World) {
        let unacknowledged = messages.count {
            !removed.contains(EndingChecker.Key(owner: device.number, sequence: $0.sequence))
        }
        let limit = world.settings.delivery.unacknowledgedPerDevice
        if unacknowledged > limit { world.fail("windows", "\(unacknowledged) unacknowledged at a device") }
    }

    func appServer(_ numbers: some Collection<Int>, _ truth: Truth, _ world: World) {
        let unanswered = Set(numbers).count { number in
            guard let message = truth.upstream[number] else { return true }
            // An answer names only an ID: the server may attribute it to another message with the same ID, or to another copy of this one,
            // which a jump of the clock by a day makes.
            return message.expiresAt ?? .max > world.latestWall && !message.isAnsweredTwice
                && !truth.sharedIDs.contains(message.draft.messageID)
        }
        let limit = world.settings.delivery.pendingWindow
        if unanswered > limit { world.fail("windows", "\(unanswered) unanswered at an app server") }
    }
}

/// The answer to a submission, as an app server sees it.
enum Answer {
    case acknowledged(canonical: RegistrationName?)
    case refused(Refusal)
}

/// Every submission is answered once, and refused only for a valid reason.
struct AnswerChecker {
    func answered(
        _ number: Int, _ answer: Answer, isOutstanding: Bool, _ link: AppServerClient.Link,
        _ truth: Truth, _ world: World
    ) {
        guard let message = truth.downstream[number], isOutstanding else {
            return world.fail("answers", "m\(number) was answered but is not outstanding")
        }
        truth.downstream[number]?.answers += 1
        guard case .refused(let refusal) = answer else {
            truth.downstream[number]?.isAcknowledged = true
            return
        }
        switch refusal {
        case .unavailable: break
        // Submitted again on a connection on which it had been answered.
        case .repeatedMessageID where message.submissions > 1: break
        // By a clock that is wrong its time may be months ahead.
        case .conflict(field: "send_at", _) where message.draft.sendAt != nil && world.wasInDoubt: break
        case .messageSent where message.draft.replaces != nil:
            world.checkers.replacements.refusedAsSent(number, message, world)
        case .unknownMessage where message.draft.replaces != nil:
            world.checkers.replacements.refusedAsUnknown(number, message, truth, world)
        case .deviceRateExceeded where world.settings.rates.isLimitedPerDevice: break
        case .senderRateExceeded where world.settings.rates.sender.isLimited: break
        case .draining where link.isDrained || link.owed.contains(number) || link.again.contains(number):
            break
        case .notRegistered, .senderMismatch:
            let isStranger = refusal == .senderMismatch
            world.checkers.tokens.refused(message, number, isStranger: isStranger, truth, world)
        default: world.fail("answers", "m\(number) was refused as \(refusal.word)")
        }
    }

    func upstreamRefused(_ number: Int, _ refusal: UpstreamRefusal, _ truth: Truth, _ world: World) {
        guard let message = truth.upstream[number] else {
            return world.fail("answers", "u\(number) was refused, but was not sent")
        }
        let draft = message.draft
        switch refusal {
        case .expired where draft.lifetimeSeconds == 0: world.reached(.upstreamNowOrNeverRefused)
        case .expired:
            let end = message.sentAt + Int64(draft.lifetimeSeconds) * 1_000
            if end > world.latestWall, !world.clockWasSet {
                world.fail("answers", "u\(number) was refused as expired before its time")
            }
        case .invalidParameters:
            let app = message.device.map { AppName(device: $0, category: draft.category) }
            let tokens = app.flatMap { truth.tokens.apps[$0] }?.tokens ?? []
            if tokens.contains(where: { $0.confirmedAt != nil }),
                !tokens.contains(where: { truth.unregistered.contains($0.name) })
            {
                world.fail("answers", "u\(number) was refused although its app is registered")
            }
        case .tooMany: break
        // A now-or-never message is not sent again.
        case .unavailable where draft.lifetimeSeconds == 0: break
        case .tooLarge, .unavailable:
            world.fail("answers", "u\(number) was refused as \(refusal.rawValue)")
        }
    }
}

/// Every accepted message has ended once or is pending, by the store's own counts and by those of the checkers.
struct ConservationChecker {
    func check(_ state: MemoryState, _ when: String, _ world: World) {
        let audit = state.audit()
        if !audit.holds { world.fail("conservation", "\(when): \(audit)") }
        let pending = world.checkers.endings.pending
        if audit.downstreamPending != pending.downstream || audit.upstreamPending != pending.upstream {
            world.fail("conservation", "\(when): \(audit), but \(pending) are pending")
        }
    }
}

/// Every login is answered, even when many come at once, unless its connection or the process ends first.
struct LoginChecker {
    /// Maximum time to answer: two slow commits, one in progress and one queued, before and after the device is read again, plus
    /// the network. A session closes by itself at that time.
    static let deviceNanoseconds: Int64 = 9_500_000_000
    /// The same for an app server, whose login has several steps, and whose session may pause reading in between.
    static let appServerNanoseconds: Int64 = 30_000_000_000

    /// Fails if a device's login to the current process is too old to be unanswered.
    func unanswered(_ device: Int, since start: Int64, process: Int, _ world: World) {
        guard process == world.boots, world.server != nil,
            world.clock.nanoseconds - start >= Self.deviceNanoseconds
        else { return }
        world.fail("logins", "device \(device) was never answered")
    }

    /// Fails if an app server's login to the current process is unanswered, unless its connection ends.
    func unanswered(_ link: AppServerClient.Link, process: Int, _ world: World) {
        guard process == world.boots, world.server != nil, !link.isReady, !link.isCut, !link.isDrained,
            !link.isClosing
        else { return }
        world.fail("logins", "connection \(link.number) of an app server was never answered")
    }
}

extension Rates {
    /// Whether messages to one device are rate limited.
    var isLimitedPerDevice: Bool { deviceShort.isLimited || deviceLong.isLimited }
}
