import Basics
import Delivery
import Store

/// A message has one persistent id, and only a stored one has any.
struct IdentityChecker {
    /// A marker tells of as many messages as were discarded.
    func heardMarker(_ heard: HeardMessage, _ truth: Truth, _ world: World) {
        world.met(.markerHeard)
        guard let id = heard.id, let count = truth.markers[id], count == heard.deleted else {
            return world.fail("identity", "a device heard of \(heard.deleted ?? -1) discarded messages")
        }
    }

    func heard(_ number: Int, _ heard: HeardMessage, _ truth: Truth, _ world: World) {
        let id = heard.id
        guard let message = truth.downstream[number] else {
            return world.fail("identity", "a device heard m\(number), which nobody sent")
        }
        if message.draft.isDryRun { world.fail("identity", "m\(number) was to be tried only") }
        if heard.from != Array("\(message.sender.number)".utf8) {
            world.fail("identity", "m\(number) came from another sender")
        }
        if truth.tokens.app(of: message.draft.target)?.audience.first != message.sender {
            world.met(.sharedTokenDelivered)
        }
        guard message.draft.lifetimeSeconds > 0 else {
            if id != nil || (message.isHeard && message.submissions == 1) {
                world.fail("identity", "m\(number) is now or never, and came otherwise")
            }
            return world.met(.passedDown)
        }
        guard let id else { return world.fail("identity", "m\(number) came without its id") }
        if message.persistentIDs.contains(id) { world.met(.redelivered) }
        truth.downstream[number]?.persistentIDs.insert(id)
        if (truth.downstream[number]?.persistentIDs.count ?? 0) > message.puts {
            world.fail("identity", "m\(number) came under another id")
        }
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
        if !onLink[link, default: []].insert(handle).inserted, !world.clockWasSet,
            !world.clock.wasNeverSet
        {
            world.fail("order", "u\(number) was offered twice on one connection")
        }
    }

    /// The core hands a message to a connection; what it offered before comes again whenever a connection ends.
    mutating func offered(_ message: StoredUpstream, _ connection: ConnectionID, _ world: World) {
        // Now or never does not wait for what is being stored.
        guard message.kind == .message, message.lifetimeSeconds > 0,
            let number = message.draftNumber,
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
                !truth.mayBeGone(message.registration ?? message.draft.target)
            else { return false }
            return message.expiresAt ?? 0 > world.latestWall
        }
        let limit = world.settings.delivery.unacknowledgedPerDevice
        if unacknowledged > limit { world.fail("windows", "\(unacknowledged) unacknowledged at a device") }
    }

    func appServer(_ numbers: some Collection<Int>, _ truth: Truth, _ world: World) {
        let unsettled = Set(numbers).count { number in
            guard let message = truth.upstream[number] else { return true }
            // An answer names an ID alone: of several messages that have it, the server may take it for another one's.
            return message.expiresAt ?? .max > world.latestWall
                && !truth.sharedIDs.contains(message.draft.messageID)
        }
        let limit = world.settings.delivery.pendingWindow
        if unsettled > limit { world.fail("windows", "\(unsettled) unanswered at an app server") }
    }
}

/// What an app server hears about a submission.
enum Answer {
    case acknowledged(canonical: RegistrationName?)
    case refused(Refusal)
}

/// Every submission is answered once, and refused only for a reason that is true.
struct AnswerChecker {
    func answered(
        _ number: Int, _ answer: Answer, isOutstanding: Bool, _ link: AppServerClient.Link,
        _ truth: Truth, _ world: World
    ) {
        guard let message = truth.downstream[number], isOutstanding else {
            return world.fail("answers", "m\(number) was answered, which nobody waits for")
        }
        truth.downstream[number]?.answers += 1
        guard case .refused(let refusal) = answer else {
            truth.downstream[number]?.isAcknowledged = true
            return
        }
        switch refusal {
        case .unavailable: break
        // Sent again on a connection that it had been answered on.
        case .repeatedMessageID where message.submissions > 1: break
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
            return world.fail("answers", "u\(number) was refused, which nobody sent")
        }
        let draft = message.draft
        switch refusal {
        case .expired where draft.lifetimeSeconds == 0: world.met(.missedUp)
        case .expired:
            let end = message.sentAt + Int64(draft.lifetimeSeconds) * 1_000
            if end > world.latestWall, !world.clockWasSet {
                world.fail("answers", "u\(number) has time left, and was refused as expired")
            }
        case .invalidParameters:
            let app = message.device.map { AppName(device: $0, category: draft.category) }
            let tokens = app.flatMap { truth.tokens.apps[$0] }?.tokens ?? []
            if tokens.contains(where: { $0.confirmedAt != nil }),
                !tokens.contains(where: { truth.unregistered.contains($0.name) })
            {
                world.fail("answers", "u\(number) was refused, though its app is registered")
            }
        case .tooMany: break
        // Now or never is not tried again.
        case .unavailable where draft.lifetimeSeconds == 0: break
        case .tooLarge, .unavailable:
            world.fail("answers", "u\(number) was refused as \(refusal.rawValue)")
        }
    }
}

extension Rates {
    /// Whether what one device is sent has a bound.
    var isLimitedPerDevice: Bool { deviceShort.isLimited || deviceLong.isLimited }
}
