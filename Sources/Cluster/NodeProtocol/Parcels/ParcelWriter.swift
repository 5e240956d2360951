public import Basics
public import Delivery
public import History

/// An item of a parcel.
public enum ParcelItem: Sendable {
    /// An event for the owner that its key names.
    case event(Event)
    /// A command for a session.
    case command(ConnectionID, SessionCommand)
    /// A batch of the control plane for the partition that owns what it changes, with a number for the answer.
    case write(UInt64, WriteBatch)
    /// The outcome of such a batch: the position of its frame in the log, or of a later one; `nil` if it has failed.
    case written(UInt64, at: UInt64?)
    /// Such a batch comes back: the node has not written it, since another one owns the partition.
    case returned(UInt64)
    /// A question to the history of the node, with a number for the answer.
    case asked(UInt64, HistoryQuestion)
    /// The answer to such a question; `nil` if there is none.
    case answered(UInt64, HistoryReply?)
}

/// The numbers of the items of a parcel.
enum ParcelItemCase: UInt8, CaseNumber {
    case event = 1
    case command, write, written, asked, answered, returned

    static let kind: StaticString = "item of a parcel"
}

/// Writes events and commands as a parcel for another node, one after another. Its storage is reused for the next parcel.
public struct ParcelWriter: ~Copyable {
    private var writer = NodeWriter()
    /// The version of the format.
    public let version: UInt8
    /// The most bytes of a parcel.
    public let limit: Int
    /// The number of items.
    public private(set) var count = 0

    /// Creates a writer of a version that all members of the cluster read.
    public init(
        version: UInt8 = NodeProtocol.newestVersion, limit: Int = Limits.NodeProtocol.parcelBytes
    ) {
        precondition(NodeProtocol.versions.contains(version), "this build does not write that version")
        self.version = version
        self.limit = limit
        writer.buffer.append(byte: version)
    }

    /// The parcel.
    public var bytes: RawSpan {
        @_lifetime(borrow self)
        get { writer.buffer.bytes }
    }

    /// The number of bytes of the parcel.
    public var byteCount: Int { writer.buffer.count }

    /// Appends an event; one of a partition must not be. Returns `false`, and leaves the parcel as it was, if it would exceed the limit.
    /// An event that does not fit into an empty parcel fits into none: answer it with `Event.answerWhenUnreached`.
    public mutating func append(_ event: Event, now: Instant) -> Bool {
        append(now) { (writer) throws(Fault) in try writer.put(ParcelItemCase.event, event) }
    }

    /// Appends a command. Instants in it are relative to `now`. Returns `false`, and leaves the parcel as it was, if it would exceed
    /// the limit.
    public mutating func append(_ command: SessionCommand, to connection: ConnectionID, now: Instant) -> Bool
    {
        append(now) { (writer) throws(Fault) in
            try writer.put(ParcelItemCase.command, connection, command)
        }
    }

    /// Appends a batch of the control plane. Returns `false`, and leaves the parcel as it was, if it would exceed the limit.
    public mutating func append(_ batch: WriteBatch, number: UInt64, now: Instant) -> Bool {
        append(now) { (writer) throws(Fault) in
            try writer.put(ParcelItemCase.write, number)
            try writer.write(batch)
        }
    }

    /// Appends the outcome of a batch of the control plane.
    public mutating func append(written number: UInt64, at position: UInt64?, now: Instant) -> Bool {
        append(now) { (writer) throws(Fault) in
            try writer.put(ParcelItemCase.written, number, position)
        }
    }

    /// Appends that a batch of the control plane comes back.
    public mutating func append(returned number: UInt64, now: Instant) -> Bool {
        append(now) { (writer) throws(Fault) in try writer.put(ParcelItemCase.returned, number) }
    }

    /// Appends a question to the history of the node.
    public mutating func append(_ question: HistoryQuestion, number: UInt64, now: Instant) -> Bool {
        append(now) { (writer) throws(Fault) in
            try writer.put(ParcelItemCase.asked, number, question)
        }
    }

    /// Appends the answer to such a question. Returns `false`, and leaves the parcel as it was, if it would exceed the limit.
    public mutating func append(answered number: UInt64, _ reply: HistoryReply?, now: Instant) -> Bool {
        append(now) { (writer) throws(Fault) in
            try writer.put(ParcelItemCase.answered, number, reply)
        }
    }

    private mutating func append(_ now: Instant, _ item: (inout NodeWriter) throws(Fault) -> Void) -> Bool {
        guard count < Limits.NodeProtocol.itemsPerParcel else { return false }
        writer.now = now
        guard writer.append(upTo: limit, item) else { return false }
        count += 1
        return true
    }

    /// Removes all items and keeps the storage.
    public mutating func removeAll() {
        writer.buffer.truncate(to: 1)
        count = 0
    }
}

extension NodeReader {
    mutating func item() throws(Fault) -> ParcelItem {
        let number: ParcelItemCase = try get()
        switch number {
        case .event: return .event(try get())
        case .command: return .command(try get(), try get())
        case .write: return .write(try get(), try batch())
        case .written: return .written(try get(), at: try get("whether a write has counted"))
        case .returned: return .returned(try get())
        case .asked: return .asked(try get(), try get())
        case .answered: return .answered(try get(), try get("whether there is an answer"))
        }
    }
}
