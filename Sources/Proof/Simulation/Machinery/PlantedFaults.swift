extension WorldSettings {
    /// Planted faults that checkers must detect.
    public enum Canary: String, CaseIterable, Sendable {
        /// The disk reports a sync that it has not done.
        case answersBeforeSync
        /// A message is lost between the core and a device's connection.
        case dropsDelivery
        /// The acknowledgement of a submission is lost.
        case dropsAnswer
        /// A message is sent to a device with another persistent ID.
        case changesPersistentID
        /// Two messages to one device are swapped.
        case swapsDeliveries
        /// A removal reaches the disk twice, with different reasons.
        case losesMutation
        /// An upstream message is confirmed that never reached the disk.
        case losesUpstream
        /// The same upstream message is sent repeatedly.
        case floodsAppServer
        /// The core gets no event when an app server disconnects.
        case losesDisconnect
        /// Messages to a device are not counted.
        case ignoresDeviceRate
        /// Messages of a sender are not counted.
        case ignoresSenderRate
        /// Messages with a collapse key are not counted.
        case ignoresCollapsibleRate
        /// Messages of a device are not counted.
        case ignoresDeviceUpstreamRate
        /// Messages to a sender are not counted.
        case ignoresSenderUpstreamRate
        /// Rates refill more slowly than configured.
        case refusesTooEarly
        /// More messages wait for an absent device than allowed.
        case ignoresCaps
        /// A message names another sender than its own.
        case changesSender
        /// The answer omits the canonical token.
        case hidesCanonical
        /// A replaced token is refused at once.
        case endsReplacedToken
        /// A message of a sender without access is acknowledged.
        case acceptsStranger
        /// Now-or-never messages to devices are never delivered.
        case dropsNowOrNever
        /// A device that was asked to reconnect gets no now-or-never messages after its next login.
        case forgetsReconnected
        /// Now-or-never messages to app servers are never delivered.
        case dropsNowOrNeverUpstream
        /// A marker counts one message too many.
        case miscountsDiscarded
        /// Duplicates from a device are not recognized.
        case forgetsRepeats
        /// A device's acknowledgement includes other messages.
        case acknowledgesTooMuch
        /// An app server's acknowledgement includes other messages.
        case acknowledgesTooMuchUpstream
        /// The core is given expired messages long before their time.
        case expiresEarly
        /// The core gets no event when a connection is drained.
        case losesDrain
        /// The core gets no event when an app server is congested.
        case losesCongestion
        /// The core gets no event when a device is idle.
        case losesIdleness
        /// A drained connection ends without outstanding answers.
        case endsWithoutAnswers
        /// The earlier connection of a device stays open.
        case keepsReplaced
        /// A wrong key is accepted.
        case acceptsWrongKey
        /// Topic messages that not all partitions have are not found after a crash.
        case forgetsTopicMessages
        /// A partition that could not store topic messages counts as having them.
        case countsLostCopies
        /// Topic messages are passed on in the wrong order.
        case reversesTopics
        /// Which topic messages a partition has is not found after a crash.
        case forgetsTopicMarks
        /// A partition counts as having topic messages of the next minutes.
        case advancesTopicMarks
        /// A partition's topic messages are not found after a crash.
        case forgetsTopicLog
        /// Which topic messages a device has been sent is not found.
        case forgetsTopicPosition
        /// It is not stored with a subscription.
        case losesPositionOfChange
        /// It is stored without the messages.
        case movesPositionAlone
        /// The first subscription of a device is not found.
        case leavesOutSubscriber
        /// A now-or-never topic message never reaches a partition.
        case dropsTopicsNow
        /// It reaches a partition repeatedly.
        case repeatsTopicsNow
        /// It reaches a partition seconds later.
        case delaysTopicsNow
        /// It takes devices that are read then past the messages that are being added to the log.
        case passesOverTopics
        /// A condition becomes its first topic.
        case widensConditions
        /// A condition becomes its opposite.
        case invertsConditions
        /// Topic messages expire at once.
        case shortensTopics
        /// Topic messages expire a day too late.
        case prolongsTopics
        /// Topic messages have no collapse key.
        case losesTopicKeys
        /// Topic messages are sent in the name of the sender.
        case hidesTopic
        /// A topic message never reaches the log of a partition on disk, which counts as having it.
        case losesTopicEntries
        /// A topic message that has left the log is still found.
        case losesTopicEnds
        /// Which topic messages a partition has never reaches the disk.
        case losesTopicMarks
        /// The topic messages of a log are found in the wrong order.
        case reversesTopicLog
        /// The pairs of topic messages stay on disk.
        case losesTopicBodyEnds
        /// What has become of topic messages never reaches the disk.
        case losesTopicProgress
        /// What stands for discarded topic messages is not found.
        case forgetsTopicDiscards
        /// Half of the notices of discarded topic messages never reach the disk.
        case losesTopicNotices
        /// The end of a subscription never reaches the disk.
        case keepsSubscription
        /// A search for iOS apps omits the last one of a page.
        case leavesOutAppleApp
        /// A search for iOS apps ends after the first page.
        case endsAppleSearch
        /// The subscriptions of iOS apps are not found.
        case losesAppleList
        /// A message that Apple has accepted does not reach the app.
        case losesAppleDelivery
        /// A message reaches an iOS app twice.
        case repeatsAppleDelivery
        /// The pairs of topic messages are not found.
        case losesBodies
        /// The pairs of requests to many never reach the disk.
        case losesSharedBodies
        /// The removals of cancelled messages never reach the disk.
        case losesCancellation
        /// An app server cancels the message of another one.
        case cancelsForStrangers
        /// The removals of replaced messages never reach the disk.
        case losesReplacedEnds
        /// Messages that replace others never reach the disk.
        case losesReplacements
        /// Messages that should replace others are sent beside them.
        case forgetsReplaced
        /// A message is acknowledged that should replace one that was sent.
        case replacesSent
        /// No message is found by an ID.
        case findsNothing
        /// An app server replaces the message of another one.
        case replacesForStrangers
        /// The history has ends of messages before they are on disk.
        case recordsDecisions
        /// The history has messages as delivered as soon as they are sent.
        case recordsUnacknowledged
        /// Messages that were to be sent later are sent at once, after their device has been read again.
        case forgetsSchedule
        /// No message is found to be due.
        case losesDue
        /// The schedule never reaches the disk.
        case losesSchedule
        /// Messages stay on the schedule.
        case losesScheduleEnds
        /// The report of an expired upstream message never reaches the disk.
        case losesReport
        /// A subscription is confirmed that never reached the disk.
        case losesSubscription
        /// The answer to a group message counts one member too many.
        case miscountsGroup
        /// An unacknowledged receipt counts as received at once.
        case agesReceiptsEarly
        /// Devices expire in a quarter of the time.
        case expiresDevicesEarly
        /// No stream is kept when its connection is lost.
        case losesStream
        /// Outstanding answers of a stream are dropped when its connection is lost.
        case forgetsAnswers
        /// Half of the device logins in a login storm are never answered.
        case losesLogins
        /// Half of the app server logins in a login storm are never answered.
        case losesAppServerLogins
        /// A crash leaves the first half of a batch on disk.
        case tearsBatches
        /// A process assigns sequence numbers from its clock alone, regardless of earlier processes.
        case forgetsSequenceWatermark
        /// A group is read without one of its members.
        case losesGroupMember
        /// A group message of an app that is not a member is confirmed.
        case acceptsGroupStranger
        /// No registration is found by an Apple token or an installation.
        case hidesInstallations
        /// Subscriptions by app servers are not counted.
        case ignoresTopicRate
        /// A clock in doubt is believed after a second.
        case believesClock
        /// A jump of the clock is believed at once.
        case believesJump
        /// A registration of an app that was removed gets the name of the removed one.
        case reusesRegistrations
    }

    /// Returns whether a canary can be detected in a kind of world: without sessions no client waits for answers before an end, or
    /// for a congested peer.
    public static func has(_ canary: Canary, in kind: Kind) -> Bool {
        // A session ends a connection whose login takes too long, which looks the same as a slow network.
        if kind == .sessions { return canary != .losesAppServerLogins }
        // Not one in hundreds of worlds of the core shows the last one.
        return ![.endsWithoutAnswers, .losesStream, .forgetsAnswers, .losesCongestion, .passesOverTopics]
            .contains(canary)
    }
}
