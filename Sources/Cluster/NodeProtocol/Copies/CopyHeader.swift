import Basics

/// What begins a stream between two nodes of which one copies the store of the other.
public enum CopyHeader: Hashable, Sendable {
    /// The sender wants a copy. The number is in the answer; a node uses each once.
    case request(UInt64)
    /// The sender gives none.
    case refused(UInt64, CopyRefusal)
    /// The copy is the content of this stream (`CopyReader`).
    case copy(UInt64, CopyDescription)

    /// The bytes, in the newest version.
    public func encoded() -> [UInt8] {
        var writer = NodeWriter()
        writer.byte(NodeProtocol.newestVersion)
        switch self {
        case .request(let number):
            writer.byte(1)
            writer.number(number)
        case .refused(let number, let refusal):
            writer.byte(2)
            writer.number(number)
            writer.byte(refusal.rawValue)
        case .copy(let number, let copy):
            writer.byte(3)
            writer.number(number)
            writer.number(copy.layout)
            writer.number(copy.files)
            writer.number(copy.bytes)
        }
        return writer.buffer.copied()
    }

    /// Reads the bytes. Throws `NodeProtocolFault` if they are no header.
    public init(decoding bytes: borrowing RawSpan) throws(NodeProtocolFault) {
        var reader = try NodeReader(copy bytes)
        let kind = try reader.byte()
        let number = try reader.number()
        switch kind {
        case 1: self = .request(number)
        case 2:
            guard let refusal = CopyRefusal(rawValue: try reader.byte()) else {
                throw .value(of: "refusal of a copy")
            }
            self = .refused(number, refusal)
        case 3:
            let layout: UInt32 = try reader.small("layout of a store")
            let files: UInt32 = try reader.small("files of a copy")
            guard files <= Limits.StoreCopy.files else {
                throw .tooLong("the files of a copy", length: Int(files), limit: Limits.StoreCopy.files)
            }
            let bytes = try reader.number()
            guard bytes <= UInt64(Int64.max) else { throw .value(of: "bytes of a copy") }
            self = .copy(number, CopyDescription(layout: layout, files: files, bytes: bytes))
        default: throw .unknownCase(of: "header of a copy", number: UInt64(kind))
        }
        guard reader.isAtEnd else { throw .value(of: "header of a copy") }
    }
}

/// What a copy has.
public struct CopyDescription: Hashable, Sendable {
    /// The layout of the store on disk.
    public var layout: UInt32
    /// The number of its files, and their bytes together.
    public var files: UInt32
    public var bytes: UInt64

    /// Creates a description.
    public init(layout: UInt32, files: UInt32, bytes: UInt64) {
        self.layout = layout
        self.files = files
        self.bytes = bytes
    }
}

/// Why a node gives no copy of its store.
public enum CopyRefusal: UInt8, CaseIterable, Sendable {
    /// It gives one to another node, or an operator makes a backup.
    case busy = 1
    /// It is itself behind the log of a partition, or stops.
    case unfit = 2
    /// Its disk or its store has failed; its log has the reason.
    case failed = 3

    /// The reason in words.
    public var words: String {
        switch self {
        case .busy: "it makes another copy or a backup"
        case .unfit: "it is itself behind, or stops"
        case .failed: "it could not make one: its log has the reason"
        }
    }
}
