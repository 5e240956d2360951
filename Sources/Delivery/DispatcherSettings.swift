import Basics

/// What an operator changes while the server runs.
extension Dispatcher {
    /// Takes other bounds: what has been used of the old ones counts towards the new ones, and what only waited for the old
    /// ones goes on.
    mutating func settingsChanged(
        _ changed: RunningSettings, _ now: Now, _ effects: inout Effects
    ) {
        let old = settings.rates
        settings.running = changed
        let rates = changed.rates
        let time = now.monotonic
        messageBuckets.change(to: rates.sender.share(of: partitions), now: time)
        topicBuckets.change(to: rates.topicChanges.share(of: partitions), now: time)
        for entry in devices.all {
            entry.buckets.change(from: old, to: rates, time)
            for at in entry.registrations.indices {
                entry.registrations[at].bucket.change(
                    from: old.collapsible, to: rates.collapsible, now: time)
            }
        }
        // Those that still may not go on wait for their new time.
        releaseHeld(dueBy: .distantFuture, now, &effects)
        for entry in senders.all {
            entry.bucket.change(from: old.senderUpstream, to: rates.senderUpstream, now: time)
            pump(entry, now, &effects)
        }
    }
}
