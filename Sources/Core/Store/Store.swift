public import Basics
public import Delivery

/// A failure of the store. After a failed write its outcome is unknown until the store has been read again.
public struct StoreError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure.
    public enum Kind: String, Sendable {
        /// There is no space left on the device.
        case full
        /// The device or file system failed.
        case inputOutput = "input_output"
        /// A record or a file of the engine is not what was written.
        case corrupt
        /// The engine cannot open or write its files because they are damaged. Writes fail until the store is repaired.
        case damaged
        /// The journal ends before the last synced commit: acknowledged messages are missing, and no operator has accepted that.
        case lost
        /// Another process has the store open.
        case locked
        /// A newer version wrote the store.
        case newerFormat = "newer_format"
        /// An older version wrote the store, in a layout that this version cannot read.
        case olderFormat = "older_format"
        /// A message was put under a key that another message has: a fault of the server, such as a sequence used twice.
        case occupied
        /// An invariant was broken before anything was written, or while a load was answered (`StoreInvariants`).
        case invariant
        /// An invariant was broken after a commit had been written. The store is reopened and reads what is on the disk.
        case inconsistent

        /// Whether the failure concerns one batch, so that the others of the commit can be written without it.
        public var isOfOneBatch: Bool { self == .corrupt || self == .occupied || self == .invariant }
        /// Whether it is a broken invariant.
        public var isInvariant: Bool { self == .invariant || self == .inconsistent }
    }
    /// The kind of failure.
    public var kind: Kind
    /// The text of the failure, with the record or file that it concerns.
    public var description: String
    /// What a broken invariant concerns: a device, a sender, a partition or a file. Empty for other failures.
    public var owner = ""
    /// The table file whose block cannot be read (`StoreDamage`). Empty for other failures.
    public var table = ""

    /// Creates a failure.
    public init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}

/// The conservation law of messages in one snapshot: the summed counts of all partitions, and the records found.
public struct StoreAudit: Sendable, Equatable {
    /// Counts of downstream messages since the store was created.
    public var downstream = MilestoneCounts()
    /// Downstream messages found in mailboxes, without markers.
    public var downstreamPending = 0
    /// Counts of upstream messages since the store was created.
    public var upstream = MilestoneCounts()
    /// Upstream messages found in mailboxes, without receipts.
    public var upstreamPending = 0
    /// Devices, registrations and senders found.
    public var devices = 0
    public var registrations = 0
    public var senders = 0
    /// Firebase installations found.
    public var installations = 0
    /// Device groups found.
    public var groups = 0
    /// Subscriptions to topics found.
    public var subscriptions = 0
    /// Topic messages found that not all partitions have.
    public var topicJobs = 0
    /// Records that could not be read: named, never deleted.
    public var unreadable: [String] = []
    /// The tables with blocks that cannot be read, so that their rows are not counted.
    public var damaged: [StoreDamage] = []

    /// Whether the counts match the messages found and every record can be read.
    public var holds: Bool {
        downstream.expectedPending == downstreamPending && upstream.expectedPending == upstreamPending
            && unreadable.isEmpty && damaged.isEmpty
    }

    /// Creates an audit with all counts at zero.
    public init() {}
}

/// An installation in a list.
public struct ListedInstallation: Sendable, Equatable {
    /// The record of the installation.
    public var record: InstallationRecord
    /// Number of its registrations.
    public var registrations: Int

    /// Creates an entry of a list.
    public init(record: InstallationRecord, registrations: Int) {
        self.record = record
        self.registrations = registrations
    }
}

/// The store contract. One thread at a time calls `commit`; any thread may call the other methods at any time.
///
/// - Mutations of one batch take effect in order; a batch is all or nothing.
/// - When `commit` returns, every durable batch is on the disk, and loads that start afterwards see all batches.
/// - A message may be put again under the same key with the same content, as a retry does: nothing changes. If the key has another
///   message, the commit fails (`occupied`) and changes nothing.
/// - A batch or a load that breaks an invariant fails (`invariant`), and changes nothing.
/// - The counts of milestones are written together with the change itself (see `Mutation`), so that `audit` can check the law.
/// - A search for unseen devices that continues from the `next` of each answer finds every device once that exists throughout the
///   search. A record that cannot be read is skipped.
/// - A load never returns a message that was removed by a commit that had returned before.
public protocol Store: AnyObject, Sendable {
    /// Number of partitions, fixed when the store was created. What a partition owns follows from its number and this count.
    var partitions: Int { get }
    /// Applies batches in order, with at most one sync for all of them. Returns the outcomes in the same order.
    func commit(_ batches: [WriteBatch]) throws(StoreError) -> [CommitOutcome]
    /// Returns the answer to a load.
    func load(_ load: StoreQuery) throws(StoreError) -> StoreResult
    /// Returns the answers to several loads from one snapshot, in order. Each succeeds or fails by itself.
    func load(_ loads: [StoreQuery]) -> [Result<StoreResult, StoreError>]
    /// Returns all senders.
    func senders() throws(StoreError) -> [SenderRecord]
    /// Returns up to `limit` devices after one, in order of their IDs.
    func devices(after: DeviceID?, limit: Int) throws(StoreError) -> [DeviceRecord]
    /// Returns up to `limit` installations after one, in order of their IDs. A record that cannot be read is skipped.
    func installations(after: [UInt8]?, limit: Int) throws(StoreError) -> [ListedInstallation]
    /// Returns up to `limit` groups after one, in order of their senders and numbers. A record that cannot be read is skipped.
    func groups(after: GroupName?, limit: Int) throws(StoreError) -> [GroupRecord]
    /// Returns topics with their numbers of subscribers, from a position on. Reads up to `examine` subscriptions.
    func topics(from: SubscriberPosition?, examine: Int) throws(StoreError) -> TopicCounts
    /// Returns the tokens of up to `limit` subscribers of a topic, from a position in it on, in order of their registrations. One whose
    /// registration cannot be read is left out.
    func subscribers(from: SubscriberPosition, limit: Int) throws(StoreError) -> [TokenName]
    /// Returns up to `limit` entries of a sender's feedback list after a position, in the order of `FeedbackPosition`.
    func feedback(
        of sender: SenderID, after: FeedbackPosition, limit: Int
    ) throws(StoreError) -> [APNsFeedback]
    /// Returns a small secret or setting of the server itself. Returns `nil` if it was never set.
    func setting(_ name: String) throws(StoreError) -> [UInt8]?
    /// Stores a setting durably.
    func setSetting(_ name: String, _ value: [UInt8]) throws(StoreError)
    /// Returns the approximate size of the registry in bytes: devices, registrations, subscriptions, installations, groups and
    /// senders. Cheap: it reads no rows. The size grows with each put. After a removal it shrinks once the store has compacted.
    func registryBytes() throws(StoreError) -> UInt64
    /// Requests that the space of removed registry rows is reclaimed, in the background.
    func reclaimRegistry() throws(StoreError)
    /// Returns sizes and the number of waiting messages. Cheap: it reads no rows.
    func figures() throws(StoreError) -> StoreFigures
    /// Counts devices and registrations after a device, in the order of their IDs. Reads some `examine` rows.
    func census(after: DeviceID?, examine: Int) throws(StoreError) -> RegistryCensus
    /// Returns how much of the replicated log of each partition is applied; `nil` for a partition without one.
    func logProgress() throws(StoreError) -> [LogProgress?]
    /// The syncs since the store was opened. Read by the committing thread, after a commit.
    var syncTimes: SyncTimes { get }
    /// The tables with blocks that cannot be read, as far as is known. The state survives restarts.
    var damage: [StoreDamage] { get }
    /// Has a closure called for each table that is found to be damaged, on any thread.
    func whenDamaged(_ act: @escaping @Sendable (StoreDamage) -> Void)
    /// Returns the table files of the store.
    func tables() throws(StoreError) -> [StoreTable]
    /// Reads all blocks of a table from the disk. Throws `corrupt` for the first that cannot be read, and the store is damaged.
    func verify(_ table: StoreTable) throws(StoreError)
    /// Reads everything in one snapshot and checks the conservation law.
    func audit() throws(StoreError) -> StoreAudit
    /// Syncs the commits that were not durable and closes the files. No call may follow.
    func close() throws(StoreError)
}
