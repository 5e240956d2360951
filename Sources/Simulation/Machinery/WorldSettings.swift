import Basics
import Delivery

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
    var canary: Canary?

    /// The settings of a seed.
    init(kind: Kind, random: inout SeededRandom, canary: Canary?) {
        self.kind = kind
        self.canary = canary
        partitions = Int.random(in: 1...2, using: &random)
        senders = Int.random(in: 1...2, using: &random)
        connectionsPerSender = Int.random(in: 1...3, using: &random)
        devices = Int.random(in: 1...5, using: &random)
        registrationsPerDevice = Int.random(in: 1...2, using: &random)
        downstreamMessages = Int.random(in: 5...120, using: &random)
        upstreamMessages = Int.random(in: 0...60, using: &random)
        stormNanoseconds = Int64.random(in: 5...180, using: &random) * 1_000_000_000
        delivery.pendingWindow = Int.random(in: 1...6, using: &random)
        delivery.mailboxPage = Int.random(in: 2...12, using: &random)
        delivery.storedMessages = [3, 10, 100][Int.random(in: 0...2, using: &random)]
        delivery.collapseKeys = Int.random(in: 1...4, using: &random)
        delivery.idleDevicesInMemory = Int.random(in: 0...4, using: &random)
        delivery.unacknowledgedPerDevice = [4, 20, 1_000][Int.random(in: 0...2, using: &random)]
        delivery.eventsWaitingForDevice = [3, 1_000][Int.random(in: 0...1, using: &random)]
        delivery.waitingUpstream = [2, 20][Int.random(in: 0...1, using: &random)]
        faults = Faults(random: &random)
    }
}
