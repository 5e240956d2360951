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
        writer.buffer.append(byte: NodeProtocol.newestVersion)
        // A description with too many files ends with their number, which the reader refuses.
        try? write(to: &writer)
        return writer.buffer.copied()
    }

    /// Reads the bytes. Throws `NodeProtocolFault` if they are no header.
    public init(decoding bytes: borrowing RawSpan) throws(NodeProtocolFault) {
        var reader = try NodeReader(copy bytes)
        self = try reader.get()
        guard reader.isAtEnd else { throw .value(of: "header of a copy") }
    }
}

/// The numbers of the headers.
enum CopyHeaderCase: UInt8, CaseNumber {
    case request = 1
    case refused, copy

    static let kind: StaticString = "header of a copy"
}

extension CopyHeader: NodeCases {
    func write(to w: inout NodeWriter) throws(Fault) {
        switch self {
        case .request(let number): try w.put(Case.request, number)
        case .refused(let number, let refusal): try w.put(Case.refused, number, refusal)
        case .copy(let number, let copy): try w.put(Case.copy, number, copy)
        }
    }

    static func read(_ number: CopyHeaderCase, from r: inout NodeReader) throws(Fault) -> Self {
        switch number {
        case .request: .request(try r.get())
        case .refused: .refused(try r.get(), try r.get())
        case .copy: .copy(try r.get(), try r.get())
        }
    }
}

extension CopyDescription: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        let (layout, files) = (try c(v?.layout, "layout of a store"), try c(v?.files, "files of a copy"))
        guard files <= Limits.StoreCopy.files else {
            throw .tooLong("the files of a copy", length: Int(files), limit: Limits.StoreCopy.files)
        }
        let bytes = try c(v?.bytes)
        guard bytes <= UInt64(Int64.max) else { throw .value(of: "bytes of a copy") }
        return Self(layout: layout, files: files, bytes: bytes)
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

extension CopyRefusal: CaseNumber {
    static let kind: StaticString = "refusal of a copy"
}
