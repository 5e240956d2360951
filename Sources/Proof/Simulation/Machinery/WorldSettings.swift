import Basics
import Delivery
import Wire

/// The properties of the world of a seed: drawn first, so that each world is extreme in its own way.
public struct WorldSettings: Sendable {
    /// The layer between the clients and the core.
    public enum Kind: String, CaseIterable, Sendable {
        /// None: clients send events.
        case core
        /// The sessions of both protocols, and bytes.
        case sessions
    }

    /// The layer between the clients and the core.
    var kind: Kind
    var partitions = 1
    var reactors = 1
    var delivery = DeliverySettings()
    var senders = 1
    var connectionsPerSender = 1
    var devices = 1
    var registrationsPerDevice = 1
    var downstreamMessages = 40
    var upstreamMessages = 20
    /// Duration of the storm of faults, in nanoseconds.
    var stormNanoseconds: Int64 = 60_000_000_000
    var faults = Faults()
    var rates = Rates()
    var canary: Canary?
    /// Number of topics.
    var topics: Int64 = 0
    /// Whether app servers create device groups.
    var makesGroups = false
    /// SCRAM mechanisms that are offered.
    var scram = Features.SCRAMOffer.none
    /// Whether XEP-0198 is offered.
    var managesStreams = false
    /// Number of apps whose Apple tokens are imported by app servers.
    var importedApps = 0
    /// Whether devices send to the groups of app servers.
    var sendsUpToGroups = false
    /// Number of subscriptions that app servers make or end.
    var topicChanges = 0
    /// Whether they also name tokens that have been replaced.
    var subscribesOldTokens = false
    /// Whether a machine may restart with its clock behind.
    var rebootsIntoPast = false
    /// Whether a connection may be lost in the middle of a piece of data.
    var cutsWithin = false
    /// Whether apps reuse IDs of upstream messages, with other content and to other senders.
    var reusesIDs = false
    /// Whether topic messages have collapse keys.
    var collapsesTopics = false
    /// Number of further topic messages: now or never, to conditions, or many at once.
    var topicSends = 0
    /// Whether iOS apps subscribe to topics, and Apple gets their messages.
    var hasAppleTopics = false
    /// Whether more topic messages are sent than may be live.
    var discardsTopics = false

    /// Whether no device is evicted while the process lives.
    var forgetsNoDevice: Bool { delivery.idleDevicesInMemory >= 20 && faults.failedLoads == 0 }

    /// Whether devices expire that are disconnected for less than the storm lasts.
    var expiresDevices: Bool { delivery.deviceExpirySeconds < 1_000 }

    /// Draws the settings of a seed; `isEarly` omits what was added after seeds of both kinds had been recorded.
    init(kind: Kind, isEarly: Bool, random: inout SeededRandom, canary: Canary?) {
        self.kind = kind
        self.canary = canary
        partitions = Int.random(in: 1...2, using: &random)
        reactors = partitions
        senders = Int.random(in: 1...2, using: &random)
        connectionsPerSender = Int.random(in: 1...3, using: &random)
        devices = Int.random(in: 1...5, using: &random)
        registrationsPerDevice = Int.random(in: 1...2, using: &random)
        // Usually few, since what goes wrong between two clients seldom needs a hundred.
        downstreamMessages = Int.random(
            in: 5...[30, 60, 120][Int.random(in: 0...2, using: &random)], using: &random)
        upstreamMessages = Int.random(
            in: 0...[15, 30, 60][Int.random(in: 0...2, using: &random)], using: &random)
        // Usually short: as much happens in less time, and the others cover what takes long.
        let longest: Int64 = [30, 60, 180][Int.random(in: 0...2, using: &random)]
        stormNanoseconds = Int64.random(in: 5...longest, using: &random) * 1_000_000_000
        delivery.pendingWindow = Int.random(in: 1...6, using: &random)
        delivery.mailboxPage = Int.random(in: 2...12, using: &random)
        (delivery.unsharedMessages, delivery.leastSharedBytes) = (1, 1)
        delivery.storedMessages = [3, 10, 100][Int.random(in: 0...2, using: &random)]
        delivery.collapseKeys = Int.random(in: 1...4, using: &random)
        delivery.idleDevicesInMemory = Int.random(in: 0...4, using: &random)
        // Setting the clock by weeks would end the first day of devices that have just checked in.
        delivery.unusedDeviceSeconds = 0
        delivery.unacknowledgedPerDevice = [4, 20, 1_000][Int.random(in: 0...2, using: &random)]
        delivery.eventsWaitingForDevice = [3, 1_000][Int.random(in: 0...1, using: &random)]
        delivery.waitingUpstream = [2, 20][Int.random(in: 0...1, using: &random)]
        delivery.receiptAckSeconds = [1, 5, 30][Int.random(in: 0...2, using: &random)]
        if Int.random(in: 0..<4, using: &random) == 0 {
            delivery.deviceExpirySeconds = Int.random(in: 8...40, using: &random)
        }
        faults = Faults(random: &random)
        // A clock that was set by weeks is believed before the world ends.
        if faults.setsClock { delivery.clockGraceSeconds = 5 }
        if Bool.random(using: &random) { limitRates(&random) } else { sendToMany(&random) }
        let offers: [Features.SCRAMOffer] = [.none, .plain, .bound]
        scram = offers[Int.random(in: 0...2, using: &random)]
        managesStreams = Bool.random(using: &random)
        if !isEarly { drawLater(&random) }
    }

    /// Draws what early worlds do not have.
    private mutating func drawLater(_ random: inout SeededRandom) {
        // Usually few, since each partition searches the store; several on each reactor, and reactors without any.
        partitions = [1, 2, 2, 3, 4, 5, 8][Int.random(in: 0...6, using: &random)]
        reactors = Int.random(in: 1...3, using: &random)
        // Where no device is to be evicted, there are more of them now.
        if delivery.idleDevicesInMemory >= 20 { delivery.idleDevicesInMemory = 100 }
        importedApps = max(0, Int.random(in: -3...3, using: &random))
        sendsUpToGroups = makesGroups
        rebootsIntoPast = faults.setsClock && faults.secondsBetweenCrashes > 0
        cutsWithin = true
        reusesIDs = true
        collapsesTopics = true
        guard topics > 0 else { return }
        faults.lostCopies = [0, 0, 10, 50][Int.random(in: 0...3, using: &random)]
        topicChanges = Int.random(in: 0...20, using: &random)
        guard Bool.random(using: &random) else { return }
        let burst = Int.random(in: 1...4, using: &random)
        rates.topicChanges = Rate(burst, perSeconds: burst * Int.random(in: 1...10, using: &random))
        delivery.rates = rates
    }

    /// Draws topic and group messages, for worlds where no rate leaves out a recipient.
    private mutating func sendToMany(_ random: inout SeededRandom) {
        topics = Int64.random(in: 0...2, using: &random)
        makesGroups = Bool.random(using: &random)
    }

    /// Draws rates that the workload exceeds; all refill within the calm.
    private mutating func limitRates(_ random: inout SeededRandom) {
        func rate(_ bursts: ClosedRange<Int>, _ secondsEach: ClosedRange<Int>) -> Rate {
            guard Bool.random(using: &random) else { return .unlimited }
            let burst = Int.random(in: bursts, using: &random)
            return Rate(burst, perSeconds: burst * Int.random(in: secondsEach, using: &random))
        }
        rates.deviceShort = rate(2...10, 1...3)
        rates.deviceLong = rate(10...30, 1...4)
        rates.sender = rate(4...30, 1...2)
        rates.collapsible = rate(1...4, 1...4)
        rates.deviceUpstream = rate(2...6, 1...3)
        rates.senderUpstream = rate(4...12, 1...2)
        delivery.rates = rates
        if Int.random(in: 0..<4, using: &random) > 0 { delivery.idleDevicesInMemory = 20 }
        if Int.random(in: 0..<4, using: &random) > 0 { faults.failedLoads = 0 }
    }
}
