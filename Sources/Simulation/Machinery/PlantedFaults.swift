extension WorldSettings {
    /// Faults that a canary world has, and that must be found.
    public enum Canary: String, CaseIterable, Sendable {
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
        /// Every other device that logs in while all do is never answered.
        case losesLogins
        /// The same of app servers.
        case losesAppServerLogins
        /// A crash leaves the first half of a batch on the disk.
        case tearsBatches
        /// A process numbers from its clock alone, whatever the one before has made.
        case forgetsSequenceFloor
        /// A group is read without one of its members.
        case losesGroupMember
        /// Whoever sends to a group that it is not in is told that it is done.
        case acceptsGroupStranger
        /// Nothing is found by what Apple gave an app, nor by its installation.
        case hidesInstallations
        /// Subscriptions that app servers make are not counted.
        case ignoresTopicRate
        /// A clock in doubt is believed after a second.
        case believesClock
    }

    /// Whether a canary can be told in a kind of world: without sessions nobody waits for answers before an end, or for a
    /// reader.
    public static func has(_ canary: Canary, in kind: Kind) -> Bool {
        // A session ends a connection whose login takes too long, and nobody can tell it from a slow network.
        if kind == .sessions { return canary != .losesAppServerLogins }
        return ![.endsWithoutAnswers, .losesStream, .forgetsAnswers, .losesCongestion].contains(canary)
    }
}
