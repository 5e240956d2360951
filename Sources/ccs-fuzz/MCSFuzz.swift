import Basics
import Wire

/// One input of the MCS fuzzer: the first octet says into what pieces the rest is cut, the rest is a device's stream.
///
/// Traps where reading depends on the cuts, or where a message changes by being written and read again.
func fuzzMCS(_ input: borrowing RawSpan) {
    guard input.byteCount > 0 else { return }
    let pieces = Int(input.byte(at: 0)) + 1
    let stream = [UInt8](copying: input.extracting(1..<input.byteCount))
    MCS.exercise(stream.raw, pieces: pieces)
    // Without the version octet most inputs would end at the first octet.
    let versioned = [MCS.version] + stream
    MCS.exercise(versioned.raw, pieces: pieces)
}
