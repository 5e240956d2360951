import Basics
import Wire

/// For any input: a re-encoded value is parsed as the same, and the fields of a payload never trap.
func fuzzJSON(_ input: [UInt8]) throws(Violation) {
    guard let value = parsed(input) else {
        try demand(
            (try? AppServerPayload(input.raw).messageID()) == nil, "a payload that is not JSON was accepted")
        return
    }
    // A number too large for a Double becomes infinite, which JSON cannot represent: the only allowed change.
    guard value.isFinite else { return }
    var text = ByteBuffer()
    value.append(to: &text)
    let again = try? JSONValue(parsing: text.bytes)
    try demand(again == value, "re-encoding changed a value: \(value)")
    var twice = ByteBuffer()
    again?.append(to: &twice)
    try demand(twice.copied() == text.copied(), "the encoding is not stable")
    _ = FuzzReach.read("v1 message", try? V1Message(input.raw))
    guard let payload = try? AppServerPayload(input.raw) else { return FuzzReach.record("payload refused") }
    FuzzReach.record("payload taken")
    _ = FuzzReach.read("message id", try? payload.messageID())
    _ = FuzzReach.read("downstream message", try? DownstreamMessage(payload))
    _ = try? DownstreamMessage(payload, lenientLifetime: true)
}

private func parsed(_ input: [UInt8]) -> JSONValue? {
    do throws(JSONError) {
        let value = try JSONValue(parsing: input.raw)
        FuzzReach.record("value \("\(value)".caseName)")
        return value
    } catch {
        FuzzReach.record("error \("\(error.fault)".caseName)")
        return nil
    }
}

extension JSONValue {
    /// Whether no number in the value is too large for a Double.
    fileprivate var isFinite: Bool {
        switch self {
        case .number(let number): number.isFinite
        case .array(let elements): elements.allSatisfy(\.isFinite)
        case .object(let members): members.allSatisfy(\.value.isFinite)
        default: true
        }
    }
}
