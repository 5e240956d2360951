import Basics
import Delivery
import Wire

/// What kind of world a seed makes: drawn first, so that each world is extreme in its own way.
package struct WorldSettings: Sendable {
    /// Faults that a canary world has, and that must be found.
    package enum Canary: String, CaseIterable, Sendable {
        /// The disk says that it has synced and has not.
        case answersBeforeSync
        /// A message to a device is lost between core and connection.
        case dropsDelivery
        /// An acknowledgement of a submission is lost.
        case dropsAnswer
        /// A message is handed to a device under another persistent id.
        case changesPersistentID
        /// Two messages to one device change places.
        case swapsDeliveries
        /// A removal reaches the disk twice under another reason.
        case losesMutation
        /// An upstream message is told to be stored that the disk never saw.
        case losesUpstream
        /// The same upstream message is offered over and over.
        case floodsAppServer
        /// The core is never told that an app server is gone.
        case losesFarewell
        /// Messages to a device are not counted.
        case ignoresDeviceRate
        /// Messages of a sender are not counted.
        case ignoresSenderRate
        /// Messages with collapse key are not counted.
        case ignoresCollapsibleRate
        /// Messages of a device are not counted.
        case ignoresDeviceUpstreamRate
        /// Messages to a sender are not counted.
        case ignoresSenderUpstreamRate
        /// Rates come back more slowly than they should.
        case refusesTooEarly
        /// More wait for a device that is away than may.
        case ignoresCaps
        /// A message comes from another sender than its own.
        case changesSender
        /// The answer keeps the newest token to itself.
        case hidesCanonical
        /// A token that was replaced is refused at once.
        case endsReplacedToken
        /// A stranger's message is acknowledged.
        case acceptsStranger
        /// Now or never is never.
        case dropsPassing
        /// The same upstream.
        case dropsPassingUpstream
        /// A marker tells of one message more.
        case miscountsDiscarded
        /// What a device repeats is not recognised.
        case forgetsRepeats
        /// A device's acknowledgement takes others with it.
        case settlesTooMuch
        /// An app server's acknowledgement takes others with it.
        case settlesTooMuchUpstream
        /// The core is told that a message is over its time long before.
        case expiresEarly
        /// The core is never told that a connection is being drained.
        case losesDrain
        /// The core is never told that an app server does not read.
        case losesCongestion
        /// The core never hears that a device is idle.
        case losesIdleness
        /// A connection that is to end ends without the answers that it owes.
        case endsWithoutAnswers
        /// An earlier connection of a device stays open.
        case keepsReplaced
        /// A wrong key will do.
        case acceptsWrongKey
        /// Messages to topics that a crash has interrupted are not gone on with.
        case forgetsTopicJobs
        /// What was done of such a message before is done again.
        case repeatsTopic
        /// The first of those that a message to a topic goes to is left out.
        case leavesOutSubscriber
        /// A subscription is told to be made that the disk never saw.
        case losesSubscription
        /// An answer for a group tells of one member more.
        case miscountsGroup
        /// A receipt that nobody acknowledges ages at once.
        case agesReceiptsEarly
        /// Devices expire in a quarter of the time.
        case expiresDevicesEarly
        /// Nothing is kept of a stream whose connection is lost.
        case losesStream
        /// The answers of a stream whose connection is lost are not kept.
        case forgetsAnswers
    }

    /// Whether a canary can be told in a kind of world: without sessions nobody waits for answers before an end, or for a
    /// reader.
    package static func has(_ canary: Canary, in kind: Kind) -> Bool {
        kind == .sessions
            || ![.endsWithoutAnswers, .losesStream, .forgetsAnswers, .losesCongestion].contains(canary)
    }

    /// What stands between the clients and the core.
    package enum Kind: String, CaseIterable, Sendable {
        /// Nothing: clients speak in events.
        case core
        /// The sessions of both protocols, and octets.
        case sessions
    }

    /// What stands between the clients and the core.
    var kind: Kind
    var partitions = 1
    var delivery = DeliverySettings()
    var senders = 1
    var connectionsPerSender = 1
    var devices = 1
    var registrationsPerDevice = 1
    var downstreamMessages = 40
    var upstreamMessages = 20
    /// Nanoseconds during which faults happen.
    var stormNanoseconds: Int64 = 60_000_000_000
    var faults = Faults()
    /// What may be done how often.
    var rates = Rates()
    var canary: Canary?
    /// How many topics there are.
    var topics: Int64 = 0
    /// Whether app servers make device groups.
    var makesGroups = false
    /// What is offered of SCRAM.
    var scram = Features.SCRAMOffer.none
    /// Whether XEP-0198 is offered.
    var managesStreams = false

    /// Whether no device is ever forgotten while the process lives.
    var forgetsNoDevice: Bool { delivery.idleDevicesInMemory >= 20 && faults.failedLoads == 0 }

    /// Whether devices expire that are away for less than the storm lasts.
    var expiresDevices: Bool { delivery.deviceExpirySeconds < 1_000 }

    /// The settings of a seed.
    init(kind: Kind, random: inout SeededRandom, canary: Canary?) {
        self.kind = kind
        self.canary = canary
        partitions = Int.random(in: 1...2, using: &random)
        senders = Int.random(in: 1...2, using: &random)
        connectionsPerSender = Int.random(in: 1...3, using: &random)
        devices = Int.random(in: 1...5, using: &random)
        registrationsPerDevice = Int.random(in: 1...2, using: &random)
        // Mostly few, since what goes wrong between two seldom needs a hundred.
        downstreamMessages = Int.random(
            in: 5...[30, 60, 120][Int.random(in: 0...2, using: &random)], using: &random)
        upstreamMessages = Int.random(
            in: 0...[15, 30, 60][Int.random(in: 0...2, using: &random)], using: &random)
        // Mostly short: as much happens in less time, and what takes long happens in the others.
        let longest: Int64 = [30, 60, 180][Int.random(in: 0...2, using: &random)]
        stormNanoseconds = Int64.random(in: 5...longest, using: &random) * 1_000_000_000
        delivery.pendingWindow = Int.random(in: 1...6, using: &random)
        delivery.mailboxPage = Int.random(in: 2...12, using: &random)
        delivery.storedMessages = [3, 10, 100][Int.random(in: 0...2, using: &random)]
        delivery.collapseKeys = Int.random(in: 1...4, using: &random)
        delivery.idleDevicesInMemory = Int.random(in: 0...4, using: &random)
        delivery.unacknowledgedPerDevice = [4, 20, 1_000][Int.random(in: 0...2, using: &random)]
        delivery.eventsWaitingForDevice = [3, 1_000][Int.random(in: 0...1, using: &random)]
        delivery.waitingUpstream = [2, 20][Int.random(in: 0...1, using: &random)]
        delivery.receiptSettleSeconds = [1, 5, 30][Int.random(in: 0...2, using: &random)]
        if Int.random(in: 0..<4, using: &random) == 0 {
            delivery.deviceExpirySeconds = Int.random(in: 8...40, using: &random)
        }
        faults = Faults(random: &random)
        if Bool.random(using: &random) { limitRates(&random) } else { sendToMany(&random) }
        let offers: [Features.SCRAMOffer] = [.none, .plain, .bound]
        scram = offers[Int.random(in: 0...2, using: &random)]
        managesStreams = Bool.random(using: &random)
    }

    /// Messages to many, where no rate leaves anybody out.
    private mutating func sendToMany(_ random: inout SeededRandom) {
        topics = Int64.random(in: 0...2, using: &random)
        makesGroups = Bool.random(using: &random)
    }

    /// Some rates are so low that the workload exceeds them; all come back within the calm.
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
