public import Basics
public import Delivery
public import Store

/// Writes batches as the entries of a frame, one after another. Its storage is reused for the next frame.
public struct BatchWriter: ~Copyable {
    private var writer = NodeWriter()
    /// The version of the format.
    public let version: UInt8
    /// The most bytes of the entries.
    public let limit: Int
    private let partitions: Int
    /// The number of batches.
    public private(set) var count = 0

    /// Creates a writer for a store with a number of partitions, of a version that all members of the cluster read.
    public init(
        partitions: Int, version: UInt8 = NodeProtocol.newestVersion,
        limit: Int = Limits.NodeProtocol.entriesBytes
    ) {
        precondition(NodeProtocol.versions.contains(version), "this build does not write that version")
        self.version = version
        self.limit = limit
        self.partitions = partitions
        writer.buffer.append(byte: version)
    }

    /// The entries.
    public var bytes: RawSpan {
        @_lifetime(borrow self)
        get { writer.buffer.bytes }
    }

    /// Appends a batch. Returns `false`, and leaves the entries as they were, if they would exceed the limit: the batch belongs
    /// into the next frame. One that does not fit into an empty frame fits into none.
    ///
    /// Throws `StoreError` if no store could take the batch: were it in the log, it would stop every node.
    public mutating func append(_ batch: borrowing WriteBatch) throws(StoreError) -> Bool {
        guard count < Limits.NodeProtocol.batchesPerFrame,
            batch.mutations.count <= Limits.NodeProtocol.mutationsPerBatch
        else { return false }
        var checks = try BatchChecks(batch, among: partitions)
        let mutations = batch.mutations.span
        for index in mutations.indices { try checks.check(mutations[index]) }
        guard writer.append(upTo: limit, { (writer) throws(Fault) in try writer.write(batch) }) else {
            return false
        }
        count += 1
        return true
    }

    /// Removes all batches and keeps the storage.
    public mutating func removeAll() {
        writer.buffer.truncate(to: 1)
        count = 0
    }
}

/// What a batch has beside its number and mutations.
private struct BatchFlags: OptionSet {
    let rawValue: UInt8
    static let durable = BatchFlags(rawValue: 1)
    static let partition = BatchFlags(rawValue: 2)
    static let newestSequence = BatchFlags(rawValue: 4)
    static let all: BatchFlags = [.durable, .partition, .newestSequence]
}

extension NodeWriter {
    /// Writes a batch: not as other values, since it is only borrowed and its messages are not copied.
    mutating func write(_ batch: borrowing WriteBatch) throws(Fault) {
        var flags: BatchFlags = []
        if batch.isDurable { flags.insert(.durable) }
        if batch.partition != nil { flags.insert(.partition) }
        if batch.newestSequence != nil { flags.insert(.newestSequence) }
        buffer.append(byte: flags.rawValue)
        number(batch.batchNumber)
        if let partition = batch.partition { try put(PartitionNumber(partition)) }
        if let newest = batch.newestSequence { number(newest.number) }
        number(UInt64(batch.mutations.count))
        // Borrowed, since an iterator copies each mutation.
        let mutations = batch.mutations.span
        for index in mutations.indices { try write(mutations[index]) }
    }
}

extension NodeReader {
    mutating func batch() throws(Fault) -> WriteBatch {
        let flags = BatchFlags(rawValue: try byte())
        guard BatchFlags.all.isSuperset(of: flags) else { throw .value(of: "flags of a batch") }
        let number = try varint()
        let partition = flags.contains(.partition) ? try self.partition() : nil
        let newest = flags.contains(.newestSequence) ? try get() as SequenceNumber : nil
        let count = try count("mutations", upTo: Limits.NodeProtocol.mutationsPerBatch, least: 2)
        var mutations: [Mutation] = []
        mutations.reserveCapacity(count)
        for _ in 0..<count { mutations.append(try mutation()) }
        var batch = WriteBatch(
            batchNumber: number, mutations: mutations, isDurable: flags.contains(.durable),
            partition: partition, newestSequence: newest ?? SequenceNumber(0))
        batch.newestSequence = newest
        return batch
    }
}
