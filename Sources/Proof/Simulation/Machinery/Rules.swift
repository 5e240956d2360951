import Basics

/// A rule of the protocols that the workload must reach: a rule that is never reached is not checked.
public enum Rule: String, CaseIterable, Sendable, CustomStringConvertible {
    // Downstream (ccs-xmpp 5.4, 6).
    /// A message exceeded a device's rate: DEVICE_MESSAGE_RATE_EXCEEDED.
    case deviceRateRefused
    /// A message exceeded a sender's rate.
    case senderRateRefused
    /// A throttled message with a collapse key was sent when its app's rate allowed it.
    case collapsibleReleased
    /// A message from the second sender of a registration was delivered.
    case sharedTokenDelivered
    /// A token of another sender was refused.
    case strangerRefused
    /// An answer contained the canonical token.
    case canonicalAnswered
    /// A token was refused that had been replaced too long ago or too often.
    case replacedTokenRefused
    /// A token of an unregistered app was refused.
    case unregisteredRefused
    /// A dry run was answered.
    case dryRunAnswered
    /// A now-or-never message was sent.
    case nowOrNeverSent
    /// A now-or-never message was dropped.
    case nowOrNeverDropped
    /// A device with too many unacknowledged messages was asked to reconnect.
    case reconnectAsked
    /// A message expired before its device connected.
    case expiredDown
    /// An operator or its sender cancelled a message, or was too late.
    case cancelled, cancelledByOwner, cancelledTooLate
    /// An app server tried to cancel the message of another one.
    case cancelledByNobody
    /// A message took the place of another one, was too late for that, or was to take the place of a stranger's.
    case replacedByID, replacedTooLate, replacedByNobody
    /// A scheduled message was stored, or sent when it was due.
    case scheduled, scheduledSent
    /// A newer message with the same collapse key replaced one.
    case collapsed
    /// A message was discarded because of a fifth collapse key.
    case collapseKeyDiscarded
    /// The marker of discarded messages reached its device.
    case markerReceived
    /// A message was delivered again with the same persistent ID.
    case redelivered
    /// A receipt reached its sender.
    case receiptReceived
    /// A message was submitted again after a retryable refusal.
    case retried

    // Topic and group messages (http 5, 6).
    /// A device subscribed an app to a topic.
    case topicSubscribed
    /// A topic message reached a subscriber.
    case topicDelivered
    /// A topic message that a crash had interrupted was resumed.
    case topicResumed
    /// A device got topic messages that it had missed.
    case topicCaughtUp
    /// Topic messages were passed on to a partition that had them.
    case topicRepeated
    /// A topic message ended in a log, since a newer one has its collapse key.
    case topicReplaced
    /// A now-or-never topic message reached a subscriber.
    case topicNowSent
    /// A message to a condition was stored for an app.
    case topicConditionMet
    /// Apple accepted a topic message for an iOS app.
    case topicForwarded
    /// Too many topic messages were discarded.
    case topicDiscarded
    /// An app got a marker of discarded topic messages.
    case topicMarkerPut
    /// A device group was created.
    case groupMade
    /// A group message reached a member.
    case groupDelivered
    /// A message of a request to many shared the pairs of others.
    case bodyShared
    /// A group message was answered for all members.
    case groupAnswered
    /// A member was unregistered, and the answer said so.
    case groupMemberGone

    /// An app server subscribed or unsubscribed an app.
    case topicChanged
    /// A subscription with a replaced token was made for the token that has replaced it.
    case topicChangeRedirected
    /// A subscription exceeded the rate of an app server.
    case topicChangeRefused
    /// A device's message to a group reached a member.
    case groupUpstreamDelivered
    /// A device that is not a member sent to a group.
    case groupStrangerRefused

    // Apps that are reached through Apple (http 7.4, mcs-device 5.6).
    /// An app server imported an Apple token.
    case tokenImported
    /// An import found the app's own registration.
    case importFoundOwn
    /// An app registered by its installation.
    case installationRegistered

    // Upstream (ccs-xmpp 4, mcs-device 4).
    /// A message exceeded a device's upstream rate.
    case deviceUpstreamRefused
    /// A message exceeded a sender's upstream rate.
    case senderUpstreamRefused
    /// A duplicate from a device was dropped.
    case duplicateDropped
    /// A duplicate from a device was confirmed again.
    case duplicateConfirmed
    /// A now-or-never message was sent to an app server.
    case upstreamNowOrNeverSent
    /// A now-or-never message was refused because no app server was connected.
    case upstreamNowOrNeverRefused
    /// A message expired before an app server acknowledged it.
    case expiredUp
    /// A device received the report of an expired message.
    case returnReceived
    /// An app reused an ID.
    case idReused
    /// An app server declined a message.
    case upstreamNacked
    /// An app server acknowledged a message twice.
    case upstreamAckRepeated
    /// An app server acknowledged a message that it was never sent.
    case upstreamAckUnknown

    // Connections.
    /// A drain was announced to an app server.
    case drainAnnounced
    /// All connections of a sender were drained.
    case senderDrained
    /// All app servers were drained.
    case allDrained
    /// All submissions were answered before a planned end.
    case plannedEndAnswered
    /// An app server logged in with SCRAM-SHA-256.
    case provenLogin
    /// An app server logged in with channel binding (-PLUS).
    case boundLogin
    /// A stream was resumed after its connection was lost (XEP-0198).
    case streamResumed
    /// A stream to resume did not exist.
    case streamNotResumed
    /// An answer was sent again on a resumed stream.
    case answerResent
    /// An unanswered message was submitted again on a resumed stream.
    case messageResent
    /// A wrong key was refused.
    case wrongKeyRefused
    /// A device logged in while its earlier connection was open, which was then closed.
    case connectionReplaced
    /// A device acknowledged twice.
    case deviceAckRepeated
    /// A device acknowledged a message of another device.
    case deviceAckForeign
    /// All clients connected at once.
    case loginStorm
    /// A device that had been disconnected for too long was removed.
    case deviceExpired
    /// An unacknowledged receipt counted as received.
    case receiptAged
    /// A device went idle.
    case deviceIdle
    /// A message that was delayed while its device was idle was delivered.
    case delayedDelivered
    /// A device listed received messages at login.
    case receivedNamed

    // The history.
    /// The end of a message by the store was recorded.
    case endRecorded
    /// The end of a topic message in the log of a partition was recorded.
    case topicEndRecorded
    /// The delivery of a message was recorded.
    case deliveryRecorded

    // The machine's clock.
    /// The clock was months ahead.
    case clockAhead
    /// The clock was behind.
    case clockBehind
    /// A process started or ran with a clock that was never set.
    case clockNeverSet
    /// The clock was wrong for some seconds while a process ran.
    case clockJumped
    /// A mutation was written while the clock was wrong.
    case wroteInDoubt
    /// The clock was set right.
    case clockRighted
    /// A device confirmed that a clock in doubt was right.
    case clockConfirmed

    /// The name in words, for reports.
    public var description: String {
        rawValue.reduce(into: "") { text, character in
            if character.isUppercase { text += " " }
            text += character.lowercased()
        }
    }
}

/// The number of times that each rule was reached.
public struct RuleTally: Sendable, Equatable, CustomStringConvertible {
    private var counts = ReachTally<Rule>()
    /// Messages submitted, downstream and upstream, including repetitions.
    public internal(set) var messages = 0
    /// Crashes, lost connections, failed reads and writes, clock changes, drains, login storms.
    public internal(set) var faults = 0

    /// Creates an empty tally.
    public init() {}

    /// The count of a rule.
    public subscript(rule: Rule) -> Int { counts[rule] }

    /// Counts a rule.
    mutating func count(_ rule: Rule) { counts.record(rule) }

    /// Adds the counts of another tally.
    public mutating func add(_ other: RuleTally) {
        counts.add(other.counts)
        messages += other.messages
        faults += other.faults
    }

    /// Returns the rules that were reached fewer times than `floor`, or than their own minimum.
    public func missing(below floor: Int = 1, _ floors: [Rule: Int] = [:]) -> [Rule] {
        counts.missing(below: floor, floors)
    }

    /// All rules with their counts.
    public var description: String { Rule.allCases.map { "\($0) \(self[$0])" }.joined(separator: ", ") }
}
