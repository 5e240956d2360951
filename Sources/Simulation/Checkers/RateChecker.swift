import Basics
import Delivery

/// What the core did about one event.
struct CoreStep {
    var event: Event
    var partition: Int
    var now: Now
    var commands: ArraySlice<(ConnectionID, SessionCommand)>
    var mutations: ArraySlice<Mutation>
    var forwards: ArraySlice<Event>
    var loads: ArraySlice<Load>
}

/// Nobody may do more often than the rates say, and nobody is refused who may.
///
/// Rates live in the memory of the process, and those of a device only as long as it is in memory: a device that was
/// forgotten may do more, so too many are a fault only in worlds that forget none.
struct RateChecker {
    private struct Upstream: Hashable {
        var device: DeviceID
        var category: [UInt8]
    }

    private struct Share: Hashable {
        var partition: Int
        var sender: SenderID
    }

    private struct Given: Hashable {
        var device: DeviceID
        var sequence: Sequence
    }

    private let rates: Rates
    private let waitingUpstream: Int
    /// Whether no device is ever forgotten.
    private let isExact: Bool
    private var short: ReferenceBuckets<DeviceID>
    private var long: ReferenceBuckets<DeviceID>
    private var sender: ReferenceBuckets<Share>
    private var collapsible: ReferenceBuckets<RegistrationName>
    private var deviceUpstream: ReferenceBuckets<DeviceID>
    private var senderUpstream: ReferenceBuckets<SenderID>
    private var topicChanges: ReferenceBuckets<Share>
    /// Questions about tokens that are not answered.
    private var asked: [Origin: SenderID] = [:]
    /// Submissions that are not answered.
    private var submitted: [Origin: Submission] = [:]
    /// Upstream messages that their device's partition has not answered.
    private var received: [Origin: UpstreamSubmission] = [:]
    /// Messages with collapse key that have been counted.
    private var counted: Set<Given> = []
    /// Upstream messages on their way to the store.
    private var waiting: [Upstream: Int] = [:]
    private var categories: [RegistrationName: [UInt8]] = [:]

    /// For a process that begins.
    init(_ settings: WorldSettings) {
        rates = settings.rates
        waitingUpstream = settings.delivery.waitingUpstream
        isExact = settings.forgetsNoDevice
        short = ReferenceBuckets(rates.deviceShort)
        long = ReferenceBuckets(rates.deviceLong)
        sender = ReferenceBuckets(rates.share(rates.sender, of: settings.partitions))
        collapsible = ReferenceBuckets(rates.collapsible)
        deviceUpstream = ReferenceBuckets(rates.deviceUpstream)
        senderUpstream = ReferenceBuckets(rates.senderUpstream)
        topicChanges = ReferenceBuckets(rates.share(rates.topicChanges, of: settings.partitions))
    }

    mutating func check(_ step: CoreStep, _ world: World) {
        switch step.event {
        case .device(_, .submitted(let submission)):
            if case .session(let origin) = submission.replyTo { submitted[origin] = submission }
        case .device(_, .upstreamReceived(let upstream)): received[upstream.origin] = upstream
        case .device(let device, .upstreamAnswered(let number)):
            let name = RegistrationName(device: device, number: number)
            if let category = categories[name] {
                waiting[Upstream(device: name.device, category: category), default: 0] -= 1
            }
        case .sender(_, .upstreamResolved(let upstream, _)): checkResolved(upstream, step, world)
        case .device(_, .token(let request)): asked[request.origin] = request.sender
        case .partition(.tick)
        where step.loads.contains(where: { if case .messages = $0 { true } else { false } }):
            world.met(.collapsibleReleased)
        default: break
        }
        for mutation in step.mutations {
            switch mutation {
            case .putMessage(let message) where message.kind == .message:
                if let sender = message.sender { accepted(message.device, sender, step, world) }
            case .putSubscription(let made): changed(made, step, world)
            // One whose removal fails comes back with all of its rate, like one that was never there.
            case .removeRegistration(let name): collapsible.forget(name)
            default: break
            }
        }
        for forward in step.forwards {
            switch forward {
            case .sender(_, .upstreamResolved(let upstream, let name)):
                received[upstream.origin] = nil
                passed(upstream, name, step, world)
            case .sender(_, .groupUpstream(let group)):
                guard let name = group.author?.own.last, let upstream = received[group.origin]
                else { continue }
                passed(upstream, name, step, world)
            default: break
            }
        }
        for (connection, command) in step.commands { check(connection, command, step, world) }
    }

    /// An upstream message has left the partition of its device.
    private mutating func passed(
        _ upstream: UpstreamSubmission, _ name: RegistrationName, _ step: CoreStep, _ world: World
    ) {
        categories[name] = upstream.category
        waiting[Upstream(device: upstream.device, category: upstream.category), default: 0] += 1
        if !deviceUpstream.take(upstream.device, now: step.now.monotonic), isExact {
            world.fail("rates", "\(upstream.device.number) sent more than it may")
        }
    }

    /// A subscription is made: where there is a rate, app servers make those whose topics begin with `x`, each a new one.
    private mutating func changed(_ made: Subscription, _ step: CoreStep, _ world: World) {
        guard made.topic.octets.first == UInt8(ascii: "x") else { return }
        let share = Share(partition: step.partition, sender: made.sender)
        if !topicChanges.take(share, now: step.now.monotonic) {
            world.fail("rates", "sender \(made.sender.number) changes more subscriptions than it may")
        }
    }

    private mutating func check(
        _ connection: ConnectionID, _ command: SessionCommand, _ step: CoreStep, _ world: World
    ) {
        switch command {
        case .submission(let ticket, .accepted):
            let submission = submitted.removeValue(forKey: Origin(connection: connection, ticket: ticket))
            if let submission, let sender = submission.sender, submission.content.lifetimeSeconds <= 0,
                !submission.content.isDryRun
            {
                accepted(submission.target.device, sender, step, world)
                if !step.commands.contains(where: { if case .device(.deliver) = $0.1 { true } else { false } }
                ) {
                    world.met(.missedDown)
                }
            }
        case .submission(let ticket, .refused(let refusal)):
            let submission = submitted.removeValue(forKey: Origin(connection: connection, ticket: ticket))
            if let submission { refused(submission, refusal, step, world) }
        case .device(.deliver(let delivery)) where delivery.isStored && delivery.message.collapseKey != nil:
            let message = delivery.message
            let name = RegistrationName(device: message.device, number: message.registration)
            let isNew = counted.insert(Given(device: message.device, sequence: message.sequence)).inserted
            if isNew, !collapsible.take(name, now: step.now.monotonic), isExact {
                world.fail("rates", "more with collapse key than an app may have")
            }
        case .reply(let ticket, .token), .reply(let ticket, .tokenRefused):
            let sender = asked.removeValue(forKey: Origin(connection: connection, ticket: ticket))
            guard let sender, case .reply(_, .tokenRefused(.rateExceeded)) = command else { break }
            world.met(.topicChangeRefused)
            if topicChanges.allows(Share(partition: step.partition, sender: sender), now: step.now.monotonic)
            {
                world.fail("rates", "sender \(sender.number) may change more, and that was refused")
            }
        case .device(.upstreamRefused(let ticket, .tooMany)):
            let upstream = received.removeValue(forKey: Origin(connection: connection, ticket: ticket))
            if let upstream { refusedUpstream(upstream, step, world) }
        default: break
        }
    }

    private mutating func accepted(_ device: DeviceID, _ from: SenderID, _ step: CoreStep, _ world: World) {
        let isWithin = short.take(device, now: step.now.monotonic)
        let isWithinLong = long.take(device, now: step.now.monotonic)
        if !isWithin || !isWithinLong, isExact {
            world.fail("rates", "\(device.number) is sent more than it may")
        }
        if !sender.take(Share(partition: step.partition, sender: from), now: step.now.monotonic) {
            world.fail("rates", "sender \(from.number) sends more than it may")
        }
    }

    private mutating func refused(
        _ submission: Submission, _ refusal: Refusal, _ step: CoreStep, _ world: World
    ) {
        let now = step.now.monotonic
        let device = submission.target.device
        switch refusal {
        case .deviceRateExceeded:
            world.met(.deviceRateRefused)
            if short.allows(device, now: now), long.allows(device, now: now) {
                world.fail("rates", "\(device.number) may be sent more, and that was refused")
            }
        case .senderRateExceeded:
            world.met(.senderRateRefused)
            if let author = submission.sender,
                sender.allows(Share(partition: step.partition, sender: author), now: now)
            {
                world.fail("rates", "sender \(author.number) may send more, and that was refused")
            }
        default: break
        }
    }

    private mutating func refusedUpstream(
        _ upstream: UpstreamSubmission, _ step: CoreStep, _ world: World
    ) {
        let isFull =
            waiting[Upstream(device: upstream.device, category: upstream.category), default: 0]
            >= waitingUpstream
        if !deviceUpstream.allows(upstream.device, now: step.now.monotonic) {
            world.met(.deviceUpstreamRefused)
        } else if !isFull {
            world.fail("rates", "\(upstream.device.number) may send more, and that was refused")
        }
    }

    /// At the sender's partition.
    private mutating func checkResolved(_ upstream: UpstreamSubmission, _ step: CoreStep, _ world: World) {
        let now = step.now.monotonic
        for case (_, .device(.upstreamRefused(_, let refusal))) in step.commands {
            switch refusal {
            case .invalidParameters: return
            case .tooMany:
                if senderUpstream.allows(upstream.sender, now: now) {
                    world.fail(
                        "rates", "sender \(upstream.sender.number) may hear more, and that was refused")
                }
                return world.met(.senderUpstreamRefused)
            default: break
            }
        }
        if !senderUpstream.take(upstream.sender, now: now) {
            world.fail("rates", "sender \(upstream.sender.number) hears more than it may")
        }
    }
}
