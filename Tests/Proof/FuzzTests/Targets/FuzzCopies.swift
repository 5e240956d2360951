import Basics
import NodeProtocol

/// For any bytes of a node that wants or gives a copy of a store: a header has exactly one encoding. What is read of a copy does not
/// depend on the parts in which it arrives, is within its description, and is written as the same bytes.
///
/// The first byte selects a header (even) or a copy (odd), of which its other bits are the size of parts. Before a copy are its
/// description's number of files, in one byte, and of bytes, in two.
func fuzzCopies(_ input: [UInt8]) throws(Violation) {
    guard let first = input.first else { return }
    if first & 1 == 0 { return try fuzzHeader(Array(input.dropFirst())) }
    guard input.count >= 4 else { return }
    let description = CopyDescription(
        layout: 1, files: UInt32(input[1]), bytes: UInt64(input[2]) | UInt64(input[3]) << 8)
    let content = Array(input.dropFirst(4))
    let whole = try read(content, description, parts: max(1, content.count))
    let split = try read(content, description, parts: Int(first >> 1) + 1)
    try demand(whole.fault == split.fault, "the split has an effect: \(whole.fault) \(split.fault)")
    guard whole.fault.isEmpty else { return FuzzReach.record("copy refused \(whole.fault)") }
    try demand(
        whole.written == split.written && whole.isComplete == split.isComplete, "the split has an effect")
    try demand(content.starts(with: whole.written), "a copy was written as other bytes")
    // The length of a name, the name, and the length of its file, of which one byte is missing.
    try demand(content.count - whole.written.count <= 1 + 255 + 7, "a reader keeps too much")
    if whole.isComplete {
        try demand(whole.written.count == content.count, "a complete copy is longer than its content")
        try demand(
            whole.names.count == description.files && whole.bytes == description.bytes,
            "a copy is complete with other files or bytes than announced")
    }
    FuzzReach.record(whole.isComplete ? "copy complete" : "copy incomplete")
}

private func fuzzHeader(_ bytes: [UInt8]) throws(Violation) {
    let header: CopyHeader
    do throws(NodeProtocolFault) { header = try CopyHeader(decoding: bytes.raw) } catch {
        return FuzzReach.record("header refused \(name(of: error))")
    }
    FuzzReach.record("header \("\(header)".caseName)")
    if case .copy(_, let description) = header {
        try demand(description.files <= Limits.StoreCopy.files, "a header announces too many files")
    }
    try demand(header.encoded() == bytes, "a header has two encodings")
}

/// What was read of a copy.
private struct CopyRun {
    /// What is written of it again.
    var written: [UInt8] = []
    var names: Set<String> = []
    /// The lengths of all files.
    var bytes: UInt64 = 0
    /// The bytes of the current file that are to come. `nil` between two files.
    var left: UInt64?
    var hasEnded = false
    var isComplete = false
    /// Why it was refused; empty if it was not.
    var fault = ""

    /// Takes the next part, whose bytes are in `piece`.
    mutating func take(
        _ part: CopyPart, of piece: ArraySlice<UInt8>, _ description: CopyDescription
    ) throws(Violation) {
        try demand(!hasEnded, "a part follows the end")
        FuzzReach.record("part \("\(part)".caseName)")
        switch part {
        case .file(let name, let length):
            try demand(left == nil, "a file begins in another one")
            try demand(!name.contains("/") && name.first != ".", "a name leads out of the folder: \(name)")
            try demand(names.insert(name).inserted, "a file has two contents: \(name)")
            bytes += length
            try demand(
                names.count <= description.files && bytes <= description.bytes,
                "a copy has more than announced")
            guard let head = CopyContent.file(name, bytes: length) else {
                throw Violation(description: "a name was read that is not written: \(name)")
            }
            left = length
            written += head
        case .bytes(let range):
            try demand(!range.isEmpty && range.upperBound <= piece.count, "bytes that did not arrive")
            guard let left, left >= range.count else {
                throw Violation(description: "a file has more bytes than its length")
            }
            self.left = left - UInt64(range.count)
            written += piece.dropFirst(range.lowerBound).prefix(range.count)
        case .digest(let digest):
            try demand(left == 0, "a file ends before its last byte")
            try demand(digest.count == CopyContent.digestBytes, "a digest of another length")
            left = nil
            written += digest
        case .end:
            try demand(left == nil, "a copy ends in a file")
            hasEnded = true
            written += CopyContent.end
        }
    }
}

private func read(
    _ content: [UInt8], _ description: CopyDescription, parts: Int
) throws(Violation) -> CopyRun {
    var reader = CopyReader(description)
    var run = CopyRun()
    var at = 0
    while at < content.count {
        let piece = content[at..<min(content.count, at + parts)]
        let found: [CopyPart]
        do throws(NodeProtocolFault) { found = try reader.read(Array(piece).raw) } catch {
            run.fault = "\(name(of: error)) \(error.description)"
            return run
        }
        for part in found { try run.take(part, of: piece, description) }
        at = piece.endIndex
    }
    run.isComplete = reader.isComplete
    return run
}
