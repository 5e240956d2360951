import Basics

/// Settings that an operator changes while the server runs.
extension Partition {
    /// Applies other limits: usage under the old limits counts towards the new ones, and what waited only because of the old limits
    /// continues.
    mutating func change(to changed: RunningSettings) {
        let old = turn.settings.rates
        turn.settings.running = changed
        turn.messageBuckets.change(
            to: changed.rates.share(changed.rates.sender, of: turn.partitions), now: turn.now.monotonic)
        devices.ratesChanged(from: old, &turn)
        senders.ratesChanged(from: old, &turn)
    }

    mutating func replaceDirectory(_ directory: SenderDirectory) {
        turn.directory = directory
        turn.messageBuckets.retainSenders { directory[$0] != nil }
        devices.topicBuckets.retainSenders { directory[$0] != nil }
        senders.directoryChanged(&turn)
    }
}
