import Basics
import Delivery

/// The result of one event in the core.
struct CoreStep {
    var event: Event
    var partition: Int
    var now: Now
    var commands: ArraySlice<(ConnectionID, SessionCommand)>
    var mutations: ArraySlice<Mutation>
    var forwards: ArraySlice<Event>
    var loads: ArraySlice<StoreQuery>
    /// For the APNs gateway.
    var deliveries: ArraySlice<GatewayDelivery>
    /// For the history.
    var steps: ArraySlice<HistoryStep>
}

/// No client exceeds a rate, and none within its rate is refused.
///
/// Rates exist only in the memory of the process, and those of a device only while the device is in memory. A device that was
/// evicted may exceed its rate, so excess is an error only in worlds without eviction.
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
        var sequence: SequenceNumber
    }

    private let rates: Rates
    private let waitingUpstream: Int
    /// Whether no device is ever evicted.
    private let isExact: Bool
    private var short: ReferenceBuckets<DeviceID>
    private var long: ReferenceBuckets<DeviceID>
    private var sender: ReferenceBuckets<Share>
    private var collapsible: ReferenceBuckets<RegistrationName>
    private var deviceUpstream: ReferenceBuckets<DeviceID>
    private var senderUpstream: ReferenceBuckets<SenderID>
    private var topicChanges: ReferenceBuckets<Share>
    /// Devices and senders with cancellations or replacements, which count as messages at a time that no step shows: what is refused of them is not judged.
    private var cancelling: (devices: Set<DeviceID>, senders: Set<Share>) = ([], [])
    /// Unanswered token requests.
    private var asked: [Requester: SenderID] = [:]
    /// Unanswered submissions.
    private var submitted: [Requester: Submission] = [:]
    /// Upstream messages that their device's partition has not answered.
    private var received: [Requester: UpstreamSubmission] = [:]
    /// Messages with a collapse key that were counted.
    private var counted: Set<Given> = []
    /// Number of upstream messages that wait to be stored.
    private var waiting: [Upstream: Int] = [:]
    private var categories: [RegistrationName: [UInt8]] = [:]

    /// Creates the checker of a new process.
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
            if case .session(let requester) = submission.replyTo { submitted[requester] = submission }
            if submission.content.replaces != nil, let author = submission.sender {
                cancelling.devices.insert(submission.target.device)
                cancelling.senders.insert(Share(partition: step.partition, sender: author))
            }
        case .device(let device, .cancel(let request)):
            if let author = request.sender {
                cancelling.devices.insert(device)
                cancelling.senders.insert(Share(partition: step.partition, sender: author))
            }
        case .device(_, .upstreamReceived(let upstream)): received[upstream.requester] = upstream
        case .device(let device, .upstreamAnswered(let number, _)):
            let name = RegistrationName(device: device, number: number)
            if let category = categories[name] {
                waiting[Upstream(device: name.device, category: category), default: 0] -= 1
            }
        case .sender(_, .upstreamResolved(let upstream, _)): checkResolved(upstream, step, world)
        case .device(_, .token(let request)): asked[request.requester] = request.sender
        case .partition(.tick)
        where step.loads.contains(where: { if case .messages = $0 { true } else { false } }):
            world.reached(.collapsibleReleased)
        default: break
        }
        for mutation in step.mutations {
            switch mutation {
            case .putMessage(let message) where message.kind == .message:
                if let sender = message.sender { accepted(message.device, sender, step, world) }
            case .putSubscription(let made): changed(made, step, world)
            // A registration whose removal fails returns with its full rate, like a new one.
            case .removeRegistration(let name): collapsible.forget(name)
            default: break
            }
        }
        for forward in step.forwards {
            switch forward {
            case .sender(_, .upstreamResolved(let upstream, let token)):
                received[upstream.requester] = nil
                passed(upstream, token.registration, step, world)
            case .sender(_, .groupUpstream(let group)):
                guard let name = group.author?.own.last, let upstream = received[group.requester]
                else { continue }
                passed(upstream, name, step, world)
            default: break
            }
        }
        for (connection, command) in step.commands { check(connection, command, step, world) }
    }

    /// Counts an upstream message that left the partition of its device.
    private mutating func passed(
        _ upstream: UpstreamSubmission, _ name: RegistrationName, _ step: CoreStep, _ world: World
    ) {
        categories[name] = upstream.category
        waiting[Upstream(device: upstream.device, category: upstream.category), default: 0] += 1
        if !deviceUpstream.consume(upstream.device, now: step.now.monotonic), isExact {
            world.fail("rates", "\(upstream.device.number) sent more than its rate")
        }
    }

    /// Counts a subscription. In worlds with a rate, app servers subscribe to topics that start with `x`, each a new one.
    private mutating func changed(_ made: Subscription, _ step: CoreStep, _ world: World) {
        guard made.topic.bytes.first == UInt8(ascii: "x") else { return }
        let share = Share(partition: step.partition, sender: made.sender)
        if !topicChanges.consume(share, now: step.now.monotonic) {
            world.fail("rates", "sender \(made.sender.number) changed more subscriptions than its rate")
        }
    }

    private mutating func check(
        _ connection: ConnectionID, _ command: SessionCommand, _ step: CoreStep, _ world: World
    ) {
        switch command {
        case .submission(let requestID, .accepted):
            let submission = submitted.removeValue(
                forKey: Requester(connection: connection, requestID: requestID))
            if let submission, let sender = submission.sender, submission.content.lifetimeSeconds <= 0,
                !submission.content.isDryRun
            {
                accepted(submission.target.device, sender, step, world)
                if !step.commands.contains(where: { if case .device(.deliver) = $0.1 { true } else { false } }
                ) {
                    world.reached(.nowOrNeverDropped)
                }
            }
        case .submission(let requestID, .refused(let refusal)):
            let submission = submitted.removeValue(
                forKey: Requester(connection: connection, requestID: requestID))
            if let submission { refused(submission, refusal, step, world) }
        case .device(.deliver(let delivery)) where delivery.isStored && delivery.message.collapseKey != nil:
            let message = delivery.message
            let name = RegistrationName(device: message.device, number: message.registration)
            let isNew = counted.insert(Given(device: message.device, sequence: message.sequence)).inserted
            if isNew, !collapsible.consume(name, now: step.now.monotonic), isExact {
                world.fail("rates", "an app was sent more messages with a collapse key than its rate")
            }
        case .reply(let requestID, .token), .reply(let requestID, .tokenRefused):
            let sender = asked.removeValue(forKey: Requester(connection: connection, requestID: requestID))
            guard let sender, case .reply(_, .tokenRefused(.rateExceeded)) = command else { break }
            world.reached(.topicChangeRefused)
            if topicChanges.allows(Share(partition: step.partition, sender: sender), now: step.now.monotonic)
            {
                world.fail("rates", "sender \(sender.number) was refused a subscription within its rate")
            }
        case .device(.upstreamRefused(let requestID, .tooMany)):
            let upstream = received.removeValue(
                forKey: Requester(connection: connection, requestID: requestID))
            if let upstream { refusedUpstream(upstream, step, world) }
        default: break
        }
    }

    private mutating func accepted(_ device: DeviceID, _ from: SenderID, _ step: CoreStep, _ world: World) {
        let isWithin = short.consume(device, now: step.now.monotonic)
        let isWithinLong = long.consume(device, now: step.now.monotonic)
        if !isWithin || !isWithinLong, isExact {
            world.fail("rates", "\(device.number) was sent more than its rate")
        }
        if !sender.consume(Share(partition: step.partition, sender: from), now: step.now.monotonic) {
            world.fail("rates", "sender \(from.number) sent more than its rate")
        }
    }

    private mutating func refused(
        _ submission: Submission, _ refusal: Refusal, _ step: CoreStep, _ world: World
    ) {
        let now = step.now.monotonic
        let device = submission.target.device
        switch refusal {
        case .deviceRateExceeded:
            world.reached(.deviceRateRefused)
            if short.allows(device, now: now), long.allows(device, now: now),
                !cancelling.devices.contains(device)
            {
                world.fail("rates", "a message to \(device.number) was refused within its rate")
            }
        case .senderRateExceeded:
            world.reached(.senderRateRefused)
            if let author = submission.sender {
                let share = Share(partition: step.partition, sender: author)
                guard !cancelling.senders.contains(share), sender.allows(share, now: now) else { break }
                world.fail("rates", "a message of sender \(author.number) was refused within its rate")
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
            world.reached(.deviceUpstreamRefused)
        } else if !isFull {
            world.fail("rates", "a message of \(upstream.device.number) was refused within its rate")
        }
    }

    /// Checks an upstream message at its sender's partition.
    private mutating func checkResolved(_ upstream: UpstreamSubmission, _ step: CoreStep, _ world: World) {
        let now = step.now.monotonic
        for case (_, .device(.upstreamRefused(_, let refusal))) in step.commands {
            switch refusal {
            case .invalidParameters: return
            case .tooMany:
                if senderUpstream.allows(upstream.sender, now: now) {
                    world.fail(
                        "rates", "a message to sender \(upstream.sender.number) was refused within its rate")
                }
                return world.reached(.senderUpstreamRefused)
            default: break
            }
        }
        if !senderUpstream.consume(upstream.sender, now: now) {
            world.fail("rates", "sender \(upstream.sender.number) received more than its rate")
        }
    }
}
