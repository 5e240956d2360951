import Basics
import Wire

/// Whatever is sent: what is read, written and read again is the same; the fields of a payload never trap.
func fuzzJSON(_ input: [UInt8]) throws(Violation) {
    guard let value = parsed(input) else {
        try demand(
            (try? AppServerPayload(input.raw).messageID()) == nil, "a payload that is no JSON was read")
        return
    }
    // A number too great for a Double becomes infinite, which JSON cannot say: the one thing that may change.
    guard value.isFinite else { return }
    var text = ByteBuffer()
    value.append(to: &text)
    let again = try? JSONValue(parsing: text.bytes)
    try demand(again == value, "writing a value changed it: \(value)")
    var twice = ByteBuffer()
    again?.append(to: &twice)
    try demand(twice.copied() == text.copied(), "writing is not stable")
    _ = FuzzReach.read("v1 message", try? V1Message(input.raw))
    guard let payload = try? AppServerPayload(input.raw) else { return FuzzReach.note("payload refused") }
    FuzzReach.note("payload taken")
    _ = FuzzReach.read("message id", try? payload.messageID())
    _ = FuzzReach.read("downstream message", try? DownstreamMessage(payload))
    _ = try? DownstreamMessage(payload, lenientLifetime: true)
}

private func parsed(_ input: [UInt8]) -> JSONValue? {
    do throws(JSONError) {
        let value = try JSONValue(parsing: input.raw)
        FuzzReach.note("value \("\(value)".caseName)")
        return value
    } catch {
        FuzzReach.note("error \("\(error.fault)".caseName)")
        return nil
    }
}

extension JSONValue {
    /// Whether no number in it is too great for a Double.
    fileprivate var isFinite: Bool {
        switch self {
        case .number(let number): number.isFinite
        case .array(let elements): elements.allSatisfy(\.isFinite)
        case .object(let members): members.allSatisfy(\.value.isFinite)
        default: true
        }
    }
}
