public import Basics
public import Delivery

/// What a store can say when it fails. Nothing of a failed call may be relied on.
public struct StoreError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is.
    public enum Kind: String, Sendable {
        /// No room on the device.
        case full
        /// The device or file system failed.
        case inputOutput = "input_output"
        /// What was read is not what was written: a record, or a file of the engine.
        case corrupt
        /// What the engine needs to open or to write is not what it wrote: nobody can write until somebody repairs it.
        case damaged
        /// The log ends before what was on the disk: acknowledged messages are missing, and nobody has said that they may.
        case lost
        /// Another process holds the store.
        case locked
        /// It was written by a newer version.
        case newerFormat = "newer_format"
        /// It was written by an older version, in a layout that this one cannot read.
        case olderFormat = "older_format"
        /// Something else stands where a message was to be put: a fault of the server, such as a sequence that came twice.
        case occupied
        /// An invariant was broken before anything was written, or while a load was answered (`StoreInvariants`).
        case invariant
        /// An invariant was broken after a commit had been written. The store is opened again, and reads what is on the disk.
        case inconsistent

        /// Whether the failure concerns one batch, so that the others of the commit can be written without it.
        public var isOfOneBatch: Bool { self == .corrupt || self == .occupied || self == .invariant }
        /// Whether it is a broken invariant.
        public var isInvariant: Bool { self == .invariant || self == .inconsistent }
    }
    /// The kind.
    public var kind: Kind
    /// What the engine said, with the place.
    public var description: String
    /// What a broken invariant concerns: a device, a sender, a partition or a file. Empty for other failures.
    public var owner = ""

    /// A failure.
    public init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}

/// The conservation law as the store sees it, taken in one snapshot: the partitions' counts added up.
public struct StoreAudit: Sendable, Equatable {
    /// Counts of downstream messages since the store was made.
    public var downstream = MilestoneCounts()
    /// Downstream messages found in mailboxes, markers not counted.
    public var downstreamPending = 0
    /// Counts of upstream messages since the store was made.
    public var upstream = MilestoneCounts()
    /// Upstream messages found in mailboxes, receipts not counted.
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
    /// Messages to topics found that are under way.
    public var topicJobs = 0
    /// Records that could not be read: named, never deleted.
    public var unreadable: [String] = []

    /// Whether nothing is missing, nothing is too much and everything can be read.
    public var holds: Bool {
        downstream.expectedPending == downstreamPending && upstream.expectedPending == upstreamPending
            && unreadable.isEmpty
    }

    /// Nothing found.
    public init() {}
}

/// An installation as lists show it.
public struct ListedInstallation: Sendable, Equatable {
    /// Its record.
    public var record: InstallationRecord
    /// How many registrations it has.
    public var registrations: Int

    /// An installation with its registrations.
    public init(record: InstallationRecord, registrations: Int) {
        self.record = record
        self.registrations = registrations
    }
}

/// The store contract (design 5). `commit` is called by one thread at a time; the others by any thread, at any time.
///
/// - Mutations of one batch take effect in order; a batch is all or nothing.
/// - When `commit` returns, every batch marked durable is on disk, and loads that begin afterwards see all of them.
/// - A message that stands at its place already, with the same content, may be put again, as a retry does: nothing changes. Where
///   something else stands at the place, the commit fails (`occupied`) and nothing of it is done.
/// - Messages are counted by milestone together with the change itself (see `Mutation`), so that `audit` can check the law.
/// - A search for unseen devices that goes on from each answer's `next` meets every device that is there all the while, once;
///   a record that cannot be read is passed over.
/// - A load never returns a message that was removed by a batch whose commit had returned.
public protocol Store: AnyObject, Sendable {
    /// The number of partitions, which was chosen when the store was created. What a partition owns follows from its number and this.
    var partitions: Int { get }
    /// Applies batches in order, with at most one sync for all of them; outcomes in the same order.
    func commit(_ batches: [WriteBatch]) throws(StoreError) -> [CommitOutcome]
    /// Answers a question.
    func load(_ load: StoreQuery) throws(StoreError) -> StoreResult
    /// Answers several, each by itself and in order, as if they had been asked at the same moment.
    func load(_ loads: [StoreQuery]) -> [Result<StoreResult, StoreError>]
    /// All senders.
    func senders() throws(StoreError) -> [SenderRecord]
    /// Devices in order of their id, after one, at most so many.
    func devices(after: DeviceID?, limit: Int) throws(StoreError) -> [DeviceRecord]
    /// Installations in order of their ids, after one, up to `limit`; a record that cannot be read is passed over.
    func installations(after: [UInt8]?, limit: Int) throws(StoreError) -> [ListedInstallation]
    /// The topics that have subscribers, from a place on, with how many; so many subscriptions are looked at at most.
    func topics(from: TopicPlace?, examine: Int) throws(StoreError) -> TopicCounts
    /// A small secret or setting of the server itself; nil if it was never set.
    func setting(_ name: String) throws(StoreError) -> [UInt8]?
    /// Keeps a setting, durably.
    func setSetting(_ name: String, _ value: [UInt8]) throws(StoreError)
    /// About how many bytes the registry takes: devices, registrations, subscriptions, installations, groups and senders. Cheap: it
    /// reads no rows. It grows with what is put; it may shrink some time after a removal only, when the store has cleared up.
    func registryBytes() throws(StoreError) -> UInt64
    /// Has the room of what was removed from the registry given back: later, and beside everything else.
    func reclaimRegistry() throws(StoreError)
    /// Reads everything in one snapshot and checks the conservation law.
    func audit() throws(StoreError) -> StoreAudit
    /// Syncs what is still lazy and lets go of the files; the last call.
    func close() throws(StoreError)
}

extension Store {
    /// Nothing to do where what is removed takes no room.
    public func reclaimRegistry() {}

    public func load(_ loads: [StoreQuery]) -> [Result<StoreResult, StoreError>] {
        loads.map { question in Result { () throws(StoreError) in try load(question) } }
    }
}
