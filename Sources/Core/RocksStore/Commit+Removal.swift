import Basics
import Delivery
import Store

/// The end of a message.
extension Commit {
    /// Removes the message at a place, which the key names. That there is none is part of the outcome: it had ended before.
    mutating func remove(
        _ place: MailboxPlace, _ key: MessageKey, _ requestedEnd: UnixMilliseconds, _ reason: Milestone,
        _ outcome: inout CommitOutcome, _ checks: inout BatchChecks
    ) throws(StoreError) {
        try checks.remove(place.owner, reason)
        if try !remove(key, requestedEnd, reason) { outcome.absent.append(place) }
    }
}
