import Basics
import Compression
import Delivery
import Sessions
import Wire
import WireSupport

/// For any body: each format is parsed within its limits, and a re-encoded body is parsed as the same.
///
/// The first byte selects the format.
func fuzzBodies(_ input: [UInt8]) throws(Violation) {
    guard let first = input.first else { return }
    let body = Array(input.dropFirst())
    switch first % 6 {
    case 0: try checkForm(body)
    case 1: try checkGzip(body)
    case 2: try checkBatch(body)
    case 3: try checkCheckIn(body)
    case 4: try checkCondition(body)
    default: try checkPairs(body)
    }
}

private func checkForm(_ body: [UInt8]) throws(Violation) {
    guard let form = FuzzReach.read("form", try? FormBody(body.raw)) else { return }
    let pairs = form.pairs(prefix: "")
    var text: [UInt8] = []
    for pair in pairs { text += escaped(pair.key) + Array("=".utf8) + escaped(pair.value) + Array("&".utf8) }
    let again = (try? FormBody(text.raw))?.pairs(prefix: "")
    try demand(
        again?.map(\.key) == pairs.map(\.key) && again?.map(\.value) == pairs.map(\.value),
        "re-encoding changed a form")
    guard let legacy = FuzzReach.read("legacy form", try? LegacyForm(form)) else { return }
    try demand(!legacy.target.isEmpty, "a form without a target was accepted")
    try demand(0...Limits.Message.lifetimeSeconds ~= legacy.lifetimeSeconds, "a lifetime is beyond its limit")
}

private func escaped(_ bytes: [UInt8]) -> [UInt8] {
    var text = ByteBuffer()
    for byte in bytes {
        text.append("%")
        Hex.appendUpper(byte, to: &text)
    }
    return text.copied()
}

private func checkGzip(_ body: [UInt8]) throws(Violation) {
    let limit = 20_000
    if let plain = FuzzReach.read("gzip", try? Gzip.decompressed(body, limit: limit)) {
        try demand(plain.count <= limit, "more was unpacked than may be")
    }
    guard let packed = Gzip.compressed(body) else {
        throw Violation(description: "the body cannot be compressed")
    }
    try demand((try? Gzip.decompressed(packed, limit: body.count)) == body, "compression changed a body")
    try demand(
        body.isEmpty || (try? Gzip.decompressed(packed, limit: body.count - 1)) == nil,
        "the limit was ignored")
}

private func checkBatch(_ input: [UInt8]) throws(Violation) {
    let boundary = Array(input.prefix { $0 != 0x0A })
    let body = Array(input.dropFirst(boundary.count + 1))
    guard let batch = FuzzReach.read("batch", try? BatchBody(body, boundary: boundary)) else { return }
    try demand(1...Limits.HTTP.batchParts ~= batch.parts.count, "\(batch.parts.count) parts")
    let size = batch.parts.reduce(0) {
        $0 + $1.body.count + $1.path.count + $1.method.count + ($1.contentID?.count ?? 0)
            + ($1.authorization?.count ?? 0)
    }
    try demand(size <= body.count, "the parts are larger than the body")
    try demand(
        batch.parts.allSatisfy { ($0.contentID?.count ?? 0) <= Limits.HTTP.contentIDBytes },
        "a Content-ID is too long")
    for part in batch.parts { _ = try? V1Message(part.body.raw) }
}

private func checkCheckIn(_ body: [UInt8]) throws(Violation) {
    if let value = try? JSONValue(parsing: body.raw) { _ = CheckInRequest(json: value) }
    if var request = FuzzReach.read("check-in", try? CheckInRequest(decoding: body.raw)) {
        // Requests are always written with one version.
        request.version = 3
        var text = ByteBuffer()
        request.append(to: &text)
        try demand(
            (try? CheckInRequest(decoding: text.bytes)) == request,
            "re-encoding changed a check-in: \(request)")
    }
    if let response = FuzzReach.read("check-in answer", try? CheckInResponse(decoding: body.raw)) {
        var text = ByteBuffer()
        response.append(to: &text)
        try demand((try? CheckInResponse(decoding: text.bytes)) == response, "re-encoding changed an answer")
        try demand(
            (try? JSONValue(parsing: Array(response.json.compact.utf8).raw)) != nil,
            "the JSON of an answer is invalid")
    }
}

private func checkCondition(_ text: [UInt8]) throws(Violation) {
    guard let condition = FuzzReach.read("condition", try? TopicCondition(text)) else { return }
    try demand(1...Limits.Topic.conditionTests ~= condition.topics.count, "\(condition.topics.count) topics")
    // An instance that subscribes to some of the topics, selected by the text.
    let chosen = seed(of: text)
    let some = condition.topics.enumerated().filter { chosen >> UInt64($0.offset) & 1 == 1 }.map(\.element)
    guard let target = try? PayloadTranslator.target(ofCondition: text) else { return }
    try demand(target.truth == condition.truth, "the core gets another condition")
    _ = condition.holds(for: some)
}

/// Checks the pairs of a message as devices write them.
private func checkPairs(_ body: [UInt8]) throws(Violation) {
    var again = ByteBuffer()
    var bytes = 0
    do throws(MCSError) {
        try AppData.forEach(in: body.raw) { key, value in
            bytes += key.byteCount + value.byteCount
            AppData.append(key: key, value: value, to: &again)
        }
    } catch { return FuzzReach.record("pairs refused") }
    FuzzReach.record("pairs taken")
    try demand(bytes <= body.count, "the pairs are larger than their encoding")
    var third = ByteBuffer()
    try? AppData.forEach(in: again.bytes) { AppData.append(key: $0, value: $1, to: &third) }
    try demand(third.copied() == again.copied(), "re-encoding changed pairs")
    try demand((try? AppData.payloadBytes(of: again.bytes)) == bytes, "the size of pairs is wrong")
}
