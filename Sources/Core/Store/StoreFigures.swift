public import Basics
import Delivery

/// Sizes of a store and the number of its waiting messages, for the metrics.
public struct StoreFigures: Sendable, Equatable {
    /// Downstream messages that are accepted and not at an end.
    public var waitingDownstream = 0
    /// Upstream messages that are accepted and not at an end.
    public var waitingUpstream = 0
    /// Bytes of all files, with those of the journal.
    public var bytes = 0
    /// Bytes of the journal's files.
    public var journalBytes = 0
    /// How often a record that cannot be read was skipped since the store was opened. The audit names these records.
    public var skippedRecords = 0

    /// Creates figures of 0.
    public init() {}

    /// Adds the waiting messages of partitions.
    public mutating func add(_ tallies: [Tally]) {
        for tally in tallies {
            waitingDownstream += tally.downstream.expectedPending
            waitingUpstream += tally.upstream.expectedPending
        }
    }
}

/// A part of the count of devices and registrations.
public struct RegistryCensus: Sendable, Equatable {
    /// Devices in this part.
    public var devices = 0
    /// Registrations in this part.
    public var registrations = 0
    /// The device after which the next part begins; `nil` after the last part.
    public var next: DeviceID?

    /// Creates an empty part.
    public init() {}
}

/// The syncs of a store since it was opened.
public struct SyncTimes: Sendable, Equatable {
    /// The number of syncs.
    public var count = 0
    /// The time that they took together, in nanoseconds.
    public var nanoseconds = 0

    /// Creates times of 0.
    public init() {}
}
