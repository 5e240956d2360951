import Basics

/// What an operator changes while the server runs.
extension Dispatcher {
    /// Takes other bounds: what has been used of the old ones counts towards the new ones, and what only waited for the old
    /// ones goes on.
    mutating func settingsChanged(
        _ changed: RunningSettings, _ now: Now, _ effects: inout Effects
    ) {
        let old = (rates: settings.rates, share: senderRate)
        settings.running = changed
        let rates = changed.rates
        senderRate = rates.sender.share(of: partitions)
        let time = now.monotonic
        for sender in senderBuckets.keys {
            senderBuckets[sender]?.change(from: old.share, to: senderRate, now: time)
        }
        if !senderRate.isLimited { senderBuckets = [:] }
        for entry in devices.all {
            entry.buckets.change(from: old.rates, to: rates, time)
            for at in entry.registrations.indices {
                entry.registrations[at].bucket.change(
                    from: old.rates.collapsible, to: rates.collapsible, now: time)
            }
        }
        // Those that still may not go on wait for their new time.
        releaseHeld(dueBy: .distantFuture, now, &effects)
        for entry in senders.all {
            entry.bucket.change(from: old.rates.senderUpstream, to: rates.senderUpstream, now: time)
            pump(entry, now, &effects)
        }
    }
}
