import Basics
import Delivery
import Synchronization
import Transport

/// Makes the partitions that a node takes: as at a start of the process, they have nothing in memory.
final class PartitionFactory: Sendable {
    private struct Changing {
        var settings: DeliverySettings
        var directory: SenderDirectory
    }

    private let partitions: Int
    private let hashKey = (SecureRandom.number(), SecureRandom.number())
    private let lease: SequenceLease
    private let clock: ClockStatus
    private let changing: Mutex<Changing>

    init(
        partitions: Int, settings: DeliverySettings, directory: SenderDirectory, lease: SequenceLease,
        clock: ClockStatus = ClockStatus()
    ) {
        self.partitions = partitions
        self.clock = clock
        self.lease = lease
        changing = Mutex(Changing(settings: settings, directory: directory))
    }

    /// Makes a partition with the current settings and senders, and the count of its `BatchOrder`.
    func make(_ partition: Int, failuresSeen: UInt64 = 0) -> Partition {
        var (settings, directory) = changing.withLock { ($0.settings, $0.directory) }
        settings.sequenceWatermark = max(settings.sequenceWatermark, lease.current)
        var core = Partition(
            partition: partition, of: partitions, seed: SecureRandom.number(), hashKey: hashKey,
            settings: settings, failuresSeen: failuresSeen)
        core.handle(.senders(directory), now: clock.serverTime(.read()))
        core.effects = Effects()
        return core
    }

    /// Uses other senders for later partitions.
    func use(_ directory: SenderDirectory) { changing.withLock { $0.directory = directory } }

    /// Uses other settings for later partitions.
    func use(_ running: RunningSettings) { changing.withLock { $0.settings.running = running } }
}
