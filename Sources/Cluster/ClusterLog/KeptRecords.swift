import Basics

/// A valid record of a log, as it is stored.
public struct KeptRecord: Hashable, Sendable {
    /// Its header.
    public let header: FrameHeader
    /// All its bytes.
    public let bytes: [UInt8]
    /// Where it was read or confirmed.
    public let position: LogPosition

    /// Creates a record.
    public init(_ header: FrameHeader, _ bytes: [UInt8], at position: LogPosition) {
        self.header = header
        self.bytes = bytes
        self.position = position
    }

    /// Whether a reader has not read it yet.
    func isAfter(_ reader: LogReader) -> Bool {
        FramePlace(epoch: header.term.epoch, number: header.number) > reader.progress
    }

    /// A reader that has read it, and nothing after.
    var reader: LogReader { LogReader(term: header.term, number: header.number, position: position) }
}

/// The last valid records of a log that a node has read or confirmed: if the log loses them, the node appends them again.
public struct KeptRecords: Sendable {
    /// Where a reader was before the first of them.
    private(set) var before: LogReader
    private var storage: [KeptRecord] = []
    private var first = 0
    private var bytes = 0

    /// Keeps nothing yet: the next record follows what a reader has read.
    public init(after reader: LogReader = LogReader()) { before = reader }

    /// The records, in order.
    public var records: ArraySlice<KeptRecord> { storage[first...] }

    /// Adds the next valid record. The oldest ones are dropped as far as the limits demand.
    public mutating func add(_ record: KeptRecord) {
        storage.append(record)
        bytes += record.bytes.count
        while bytes > Limits.ClusterLog.keptBytes || storage.count - first > Limits.ClusterLog.keptRecords {
            before = storage[first].reader
            bytes -= storage[first].bytes.count
            storage[first] = KeptRecord(storage[first].header, [], at: storage[first].position)
            first += 1
        }
        guard first > Limits.ClusterLog.keptRecords else { return }
        storage.removeFirst(first)
        first = 0
    }

    /// Where a reader was that had read everything up to a position. Returns `nil` if that is not known any more.
    func reader(at position: LogPosition) -> LogReader? {
        guard position >= before.position else { return nil }
        let last = records.last { $0.position <= position }
        var reader = last?.reader ?? before
        reader.skip(to: position)
        return reader
    }
}
