import Basics

/// A rule of the protocols that the workload must reach: one that it never reaches is not checked at all.
public enum Rule: String, CaseIterable, Sendable, CustomStringConvertible {
    // Downstream (ccs-xmpp 5.4, 6).
    /// A message too many for a device: DEVICE_MESSAGE_RATE_EXCEEDED.
    case deviceRateRefused
    /// A message too many of a sender.
    case senderRateRefused
    /// Messages with collapse key held until their app may have one more, then let go.
    case collapsibleReleased
    /// A message of the second sender of a registration was delivered.
    case sharedTokenDelivered
    /// A token of another sender was refused.
    case strangerRefused
    /// An answer named the token that replaced the one sent to.
    case canonicalAnswered
    /// A token was refused that had been replaced too long ago or too often.
    case replacedTokenRefused
    /// A token of an app that is gone was refused.
    case unregisteredRefused
    /// A message that was to be tried only.
    case dryRunAnswered
    /// Now or never: now.
    case passedDown
    /// Now or never: never.
    case missedDown
    /// A message was over its time before its device came.
    case expiredDown
    /// A newer message with the same collapse key took the place of one.
    case collapsed
    /// A fifth collapse key pushed the oldest out.
    case collapseKeyDiscarded
    /// The marker of discarded messages reached its device.
    case markerHeard
    /// A message came again with the same persistent id.
    case redelivered
    /// A receipt reached its sender.
    case receiptHeard
    /// A message was sent again after a refusal that may pass.
    case retried

    // Messages to many (http 5, 6).
    /// A device subscribed an app to a topic.
    case topicSubscribed
    /// A message to a topic reached a subscriber.
    case topicDelivered
    /// A message to a topic that a crash had interrupted was gone on with.
    case topicResumed
    /// A device group was made.
    case groupMade
    /// A message to a group reached a member.
    case groupDelivered
    /// One answer for all members.
    case groupAnswered
    /// A member was gone, and the answer said so.
    case groupMemberGone

    /// An app server made or ended a subscription.
    case topicChanged
    /// An app server made too many.
    case topicChangeRefused
    /// A message of a device to a group reached a member.
    case groupUpstreamDelivered
    /// A device sent to a group that it is not in.
    case groupStrangerRefused

    // Apps that Apple reaches (http 7.4, mcs-device 5.6).
    /// An app server imported a token of Apple's.
    case tokenImported
    /// An import found the registration that the app had made itself.
    case importFoundOwn
    /// An app registered by its installation.
    case installationRegistered

    // Upstream (ccs-xmpp 4, mcs-device 4).
    /// A message too many of a device.
    case deviceUpstreamRefused
    /// A message too many to a sender.
    case senderUpstreamRefused
    /// What a device repeated was dropped.
    case duplicateDropped
    /// What a device repeated was confirmed once more.
    case duplicateConfirmed
    /// Now or never, and an app server was there.
    case passedUp
    /// Now or never, and none was there: the device hears so.
    case missedUp
    /// Its time was over before an app server answered it.
    case expiredUp
    /// A device heard that no app server took a message in time.
    case returnHeard
    /// An app used an ID again.
    case idReused
    /// An app server declined a message.
    case upstreamNacked
    /// An app server acknowledged a message twice.
    case upstreamAckRepeated
    /// An app server acknowledged what it had never been sent.
    case upstreamAckUnknown

    // Connections.
    /// An app server was told that its connection is about to end.
    case drainAnnounced
    /// A whole sender was drained.
    case senderDrained
    /// All app servers were drained.
    case allDrained
    /// A connection that ended as planned had given all answers.
    case plannedEndAnswered
    /// A login without showing the key (SCRAM-SHA-256).
    case provenLogin
    /// The same, bound to its connection (-PLUS).
    case boundLogin
    /// A stream went on after its connection was lost (XEP-0198).
    case streamResumed
    /// There was no such stream to go on with.
    case streamNotResumed
    /// An answer came again on the stream that went on.
    case answerResent
    /// A message without answer was sent again on the stream that went on.
    case messageResent
    /// A wrong key was refused.
    case wrongKeyRefused
    /// A device logged in while its earlier connection was open, which was closed.
    case connectionReplaced
    /// A device acknowledged twice.
    case deviceAckRepeated
    /// A device acknowledged what another one was sent.
    case deviceAckForeign
    /// All connected at once.
    case loginStorm
    /// A device that had been away for too long was forgotten.
    case deviceExpired
    /// A receipt that nobody acknowledged was taken as received.
    case receiptAged
    /// A device went idle.
    case deviceIdle
    /// A message came that waits while its device is idle.
    case delayedDelivered
    /// A device named at login what it had received.
    case receivedNamed

    // The machine's clock.
    /// It was months ahead.
    case clockAhead
    /// It was behind.
    case clockBehind
    /// A process began, or went on, with a clock that was never set.
    case clockNeverSet
    /// Something was written while it was wrong.
    case wroteInDoubt
    /// It was set right.
    case clockRighted
    /// A device confirmed one in doubt that was right.
    case clockConfirmed

    /// The words of a report.
    public var description: String {
        rawValue.reduce(into: "") { text, character in
            if character.isUppercase { text += " " }
            text += character.lowercased()
        }
    }
}

/// How often each rule was reached.
public struct RuleTally: Sendable, Equatable, CustomStringConvertible {
    private var counts = ReachTally<Rule>()
    /// Messages submitted, up and down, with those sent again.
    public internal(set) var messages = 0
    /// Crashes, lost connections, failed reads and writes, clocks set, drains, storms.
    public internal(set) var faults = 0

    /// None was.
    public init() {}

    /// How often one was.
    public subscript(rule: Rule) -> Int { counts[rule] }

    /// One was.
    mutating func note(_ rule: Rule) { counts.note(rule) }

    /// Adds what was reached elsewhere.
    public mutating func add(_ other: RuleTally) {
        counts.add(other.counts)
        messages += other.messages
        faults += other.faults
    }

    /// Rules that were reached less than `floor` times, or than their own floor.
    public func missing(below floor: Int = 1, _ floors: [Rule: Int] = [:]) -> [Rule] {
        counts.missing(below: floor, floors)
    }

    /// All rules with their counts.
    public var description: String { Rule.allCases.map { "\($0) \(self[$0])" }.joined(separator: ", ") }
}
