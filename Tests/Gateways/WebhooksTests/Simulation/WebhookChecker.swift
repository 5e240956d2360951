import Basics
import Delivery
import Store
import Wire

@testable import Webhooks

/// What must hold: every message that was acknowledged to a device is received, or reported to its device as expired, and in order:
/// the first receptions of the messages of a device are in the order in which they were sent.
struct WebhookChecker {
    var problems: [String] = []
    /// The number of kills.
    var processes = 0
    private var accepted: Set<UInt32> = []
    private var answered: Set<UInt32> = []
    /// When messages expire, milliseconds since 1970.
    private var ends: [UInt32: UnixMilliseconds] = [:]
    /// The message of each device that was received last for the first time.
    private var newest: [UInt32: UInt32] = [:]
    private var received: Set<UInt32> = []
    /// The messages in the requests that this process has in flight.
    private var flights: [UInt64: UInt32] = [:]

    /// The number of messages that were received.
    var count: Int { received.count }

    mutating func stored(_ request: UInt32) {
        accepted.insert(request)
        answered.insert(request)
    }

    mutating func refused(_ request: UInt32) { answered.insert(request) }

    func isAnswered(_ request: UInt32) -> Bool { answered.contains(request) }

    /// Notes what is on the disk.
    mutating func committed(_ batch: WriteBatch) {
        for case .putUpstream(let message, _) in batch.mutations {
            let number = Self.number(message.messageID)
            // A repetition does not lengthen the lifetime.
            ends[number] = ends[number] ?? message.expiresAt
        }
    }

    private static func number(_ messageID: [UInt8]) -> UInt32 {
        UInt32(String(decoding: messageID, as: UTF8.self)) ?? 0
    }

    /// The number of a message in a request.
    func number(_ request: WebhookRequest) -> UInt32 {
        let body = try? JSONValue(parsing: request.body.raw)
        return body?["message_id"]?.text.flatMap { UInt32($0) } ?? 0
    }

    // MARK: Requests

    mutating func started(_ request: WebhookRequest) {
        let number = number(request)
        if flights.values.contains(where: { $0 / 1_000 == number / 1_000 }) {
            problems.append("crowd: \(number) is sent beside another message of its device")
        }
        flights[request.number] = number
        if flights.count > Limits.Webhook.requestsPerSender {
            problems.append("crowd: \(flights.count) requests are in flight")
        }
    }

    mutating func ended(_ request: UInt64) { flights[request] = nil }

    mutating func killed() {
        processes += 1
        flights = [:]
    }

    mutating func received(_ request: WebhookRequest, at now: UnixMilliseconds) {
        received(number(request), at: now)
    }

    mutating func received(_ message: StoredUpstream, at now: UnixMilliseconds) {
        received(Self.number(message.messageID), at: now)
    }

    mutating func received(_ number: UInt32, at now: UnixMilliseconds) {
        guard received.insert(number).inserted else { return }
        // Its device has its report, or gets it: a request in flight may still be processed, but the next message does not wait.
        guard now < ends[number] ?? .max else { return }
        let device = number / 1_000
        if let last = newest[device], last > number {
            problems.append("order: \(number) is received after \(last)")
        }
        newest[device] = number
    }

    // MARK: The end

    /// Whether nothing waits any more.
    func isDone(_ state: MemoryState) -> Bool { state.audit().upstreamPending == 0 }

    /// Expects that the gateway waits for nothing, and that its counts have returned to zero.
    mutating func idle(_ gateway: WebhookGateway, _ now: Instant) {
        let waiting = gateway.endpoints.values.reduce(0) { $0 + $1.lanes.count }
        let inFlight = gateway.endpoints.values.reduce(0) { $0 + $1.inFlight }
        guard gateway.isIdle, waiting == 0, inFlight == 0, gateway.nextTick(now) == nil else {
            return problems.append(
                "rest: \(gateway.flights.count) flights, \(inFlight) counted, \(waiting) lanes are left")
        }
        if !flights.isEmpty { problems.append("rest: requests \(flights.keys.sorted()) have no end") }
    }

    mutating func end(_ state: MemoryState) {
        let audit = state.audit()
        if !audit.holds { problems.append("conservation: \(audit)") }
        if audit.upstreamPending > 0 { problems.append("progress: \(audit.upstreamPending) messages wait") }
        var reported: Set<UInt32> = []
        state.forEachMessage { report in
            if report.kind.isReport { reported.insert(Self.number(report.messageID)) }
        }
        let lost = accepted.subtracting(received).subtracting(reported).sorted()
        if !lost.isEmpty { problems.append("lost: \(lost)") }
        let undue = reported.filter { ends[$0] ?? 0 > Samples.epoch + WebhookWorld.endMilliseconds }.sorted()
        if !undue.isEmpty { problems.append("undue: \(undue) are reported as expired") }
        if received.count < 20 { problems.append("reach: only \(received.count) messages were received") }
    }
}
