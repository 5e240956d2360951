import Basics
import Wire
import WireSupport

/// Whatever a device sends: cuts change nothing, and what is read is written and read again the same.
///
/// The first octet says into what pieces the rest is cut. The version octet is put in front, since most inputs would
/// end at it; that a missing one is refused is what the hostile files check.
func fuzzMCS(_ input: [UInt8]) throws(Violation) {
    guard let first = input.first else { return }
    let stream = [MCS.version] + input.dropFirst()
    let (messages, error) = MCS.exercise(stream.raw, pieces: Int(first) + 1)
    for message in messages { FuzzReach.note("message \("\(message)".caseName)") }
    FuzzReach.note(error.map { "error \("\($0)".caseName)" } ?? "all read")
}
