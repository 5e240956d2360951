import Basics
import Wire
import WireSupport

/// For any input of a device: the split has no effect, and re-encoded messages are decoded as the same.
///
/// The first byte is the size of pieces. The version byte is prepended, since most inputs would fail there; the hostile
/// files check that a missing one is refused.
func fuzzMCS(_ input: [UInt8]) throws(Violation) {
    guard let first = input.first else { return }
    let stream = [MCS.version] + input.dropFirst()
    let (messages, error) = MCS.exercise(stream.raw, pieces: Int(first) + 1)
    for message in messages { FuzzReach.record("message \("\(message)".caseName)") }
    FuzzReach.record(error.map { "error \("\($0)".caseName)" } ?? "all read")
}
