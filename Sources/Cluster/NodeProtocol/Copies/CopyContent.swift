import Basics

/// The content of a copied store: for each file its name, its length and its bytes, and then their SHA-256; at the end an empty name.
///
/// | bytes | content |
/// |---|---|
/// | 1 | length of the name; 0 at the end of the copy |
/// | length | name |
/// | 8 | length of the file, little-endian |
/// | length of the file | its bytes |
/// | 32 | their SHA-256 |
public enum CopyContent {
    /// Bytes of the digest of a file.
    public static let digestBytes = 32
    /// The end of a copy.
    public static let end: [UInt8] = [0]

    /// Returns what precedes the bytes of a file. Returns `nil` for a name that no file of a store has.
    public static func file(_ name: String, bytes: UInt64) -> [UInt8]? {
        guard isValid(Array(name.utf8)) else { return nil }
        var buffer = ByteBuffer()
        buffer.append(byte: UInt8(name.utf8.count))
        buffer.append(text: name)
        buffer.append(word: bytes)
        return buffer.copied()
    }

    /// Whether a file of a store can have this name: it can name nothing outside of its folder.
    static func isValid(_ name: [UInt8]) -> Bool {
        guard (1...Limits.StoreCopy.nameBytes).contains(name.count), name[0] != UInt8(ascii: ".") else {
            return false
        }
        return name.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                UInt8(ascii: "."):
                true
            default: false
            }
        }
    }
}

/// What is next in a copy.
public enum CopyPart: Hashable, Sendable {
    /// A file begins.
    case file(name: String, bytes: UInt64)
    /// The next bytes of it, as a range of what was passed to `CopyReader.read`.
    case bytes(Range<Int>)
    /// It is complete, and its bytes have this digest.
    case digest([UInt8])
    /// The copy is complete.
    case end
}

/// Reads a copy that arrives in parts of any length, and holds it to its description: no more files and bytes than that, and each name
/// once.
public struct CopyReader: ~Copyable {
    private enum State {
        case length
        case name(Int)
        case size(String)
        case content(left: UInt64)
        case digest
        case ended
    }

    private let description: CopyDescription
    private var state = State.length
    /// The incomplete field.
    private var field: [UInt8] = []
    private var names: Set<String> = []
    private var bytes: UInt64 = 0

    /// Creates a reader of a copy.
    public init(_ description: CopyDescription) { self.description = description }

    /// Whether the copy is complete, with as many files and bytes as were announced.
    public var isComplete: Bool {
        guard case .ended = state else { return false }
        return names.count == description.files && bytes == description.bytes
    }

    /// Reads the next bytes. Throws `NodeProtocolFault` for what no copy of this description has.
    public mutating func read(_ input: borrowing RawSpan) throws(NodeProtocolFault) -> [CopyPart] {
        var parts: [CopyPart] = []
        var at = 0
        while at < input.byteCount {
            switch state {
            case .ended: throw .value(of: "end of a copy")
            case .content(let left):
                let count = Int(min(left, UInt64(input.byteCount - at)))
                parts.append(.bytes(at..<at + count))
                at += count
                state = left == UInt64(count) ? .digest : .content(left: left - UInt64(count))
            case .length, .name, .size, .digest:
                let count = min(fieldLength - field.count, input.byteCount - at)
                for offset in 0..<count { field.append(input.byte(at: at + offset)) }
                at += count
                if field.count == fieldLength { try endField(&parts) }
            }
        }
        return parts
    }

    private var fieldLength: Int {
        switch state {
        case .length, .content, .ended: 1
        case .name(let length): length
        case .size: 8
        case .digest: CopyContent.digestBytes
        }
    }

    private mutating func endField(_ parts: inout [CopyPart]) throws(NodeProtocolFault) {
        var field: [UInt8] = []
        swap(&field, &self.field)
        switch state {
        case .length where field[0] == 0:
            state = .ended
            parts.append(.end)
        case .length: state = .name(Int(field[0]))
        case .name:
            let name = String(decoding: field, as: UTF8.self)
            guard CopyContent.isValid(field), names.count < description.files, names.insert(name).inserted
            else { throw .value(of: "name of a copied file") }
            state = .size(name)
        case .size(let name):
            let size = field.raw.word(at: 0)
            guard size <= description.bytes - bytes else { throw .value(of: "length of a copied file") }
            bytes += size
            parts.append(.file(name: name, bytes: size))
            state = size == 0 ? .digest : .content(left: size)
        case .digest:
            parts.append(.digest(field))
            state = .length
        case .content, .ended: throw .value(of: "copy")
        }
    }
}
