import APNsGateway
import Basics
import Wire

/// For any behaviour of Apple's servers: each delivery gets one answer and each request one outcome, the answer is the one that
/// Apple's last word allows, no device token has two requests in flight, and the gateway drains.
///
/// The first byte selects the credential, whether servers send SETTINGS by themselves, and the size of pieces. The others are steps:
/// the lower half of a byte is what happens, the upper half to whom or how; some steps take a count and as many bytes.
func fuzzAPNs(_ input: [UInt8]) throws(Violation) {
    guard let flags = input.first else { return }
    var run = APNsRun(usesKey: flags & 1 == 0, greets: flags & 2 == 0, piece: Int(flags >> 2) + 1)
    var rest = input.dropFirst()
    for registration in 0..<4 { try run.offer(registration) }
    while let step = rest.popFirst() { try perform(step, &rest, &run) }
    try run.finish()
}

/// Removes and returns as many bytes as the next byte counts.
private func text(_ rest: inout ArraySlice<UInt8>) -> [UInt8] {
    let count = Int(rest.popFirst() ?? 0)
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
}

private func perform(
    _ step: UInt8, _ rest: inout ArraySlice<UInt8>, _ run: inout APNsRun
) throws(Violation) {
    let choice = Int(step >> 4)
    switch step & 0x0F {
    case 0: try run.receive(text(&rest), on: choice)
    case 1: try run.answer(on: choice, status: statuses[choice], text(&rest))
    case 2:
        let (status, reason, timestamp) = reasons[choice]
        let time = timestamp.map { ",\"timestamp\":\($0)" } ?? ""
        let body = reason.isEmpty ? "" : "{\"reason\":\"\(reason)\"\(time)}"
        try run.answer(on: Int(rest.popFirst() ?? 0), status: status, Array(body.utf8))
    case 3: try run.leave(on: choice, seesAll: step & 0x80 == 0, text(&rest))
    case 4: try run.leave(on: Int(rest.popFirst() ?? 0), seesAll: true, body(choice))
    case 5: try run.reset(on: choice, code: rest.popFirst() ?? 0)
    case 6: try run.pass(milliseconds: spans[choice])
    case 7: try run.lose(choice)
    case 8: run.nextOpening = .failed(APNsOpenFailure.allCases[choice % APNsOpenFailure.allCases.count])
    case 9: run.nextOpening = .none
    case 10: try run.allow(streams: UInt8(choice), on: Int(rest.popFirst() ?? 0))
    case 11: try run.replaceCredentials(choice)
    case 12 where choice == 15: try run.drain()
    case 12: try run.renumber(milliseconds: Int64(choice - 7) * 3_600_000)
    default: try run.offer(choice)
    }
}

private func body(_ choice: Int) -> [UInt8] { Array("{\"reason\":\"\(reasons[choice].reason)\"}".utf8) }

private let statuses = [
    200, 400, 403, 404, 405, 410, 413, 429, 500, 502, 503, 100, 204, 301, 999, 418,
]

/// Answers that lead to different reactions. The times are before and after the registration.
private let reasons: [(status: Int, reason: String, timestamp: Int64?)] = [
    (200, "", nil), (400, "BadDeviceToken", nil), (400, "DeviceTokenNotForTopic", nil),
    (400, "BadTopic", nil),
    (400, "BadPriority", nil), (400, "IdleTimeout", nil), (403, "ExpiredProviderToken", nil),
    (403, "InvalidProviderToken", nil), (403, "UnrelatedKeyIdInToken", nil),
    (410, "Unregistered", 1_430_277_821_659),
    (410, "ExpiredToken", 1), (413, "PayloadTooLarge", nil), (429, "TooManyProviderTokenUpdates", nil),
    (429, "TooManyRequests", nil), (503, "ServiceUnavailable", nil), (503, "Shutdown", nil),
]

/// Milliseconds: around the deadlines of requests, connections, provider tokens, probes and the guard.
private let spans: [Int64] = [
    1, 100, 250, 1_000, 5_000, 10_000, 15_000, 30_000, 60_000, 600_000, 1_200_000, 1_800_000, 2_700_000,
    3_600_000, 86_400_000, 604_800_000,
]
