import Basics
import Delivery
import Store
import Wire

@testable import Webhooks

/// What must hold: every message that was acknowledged to a device is received or expires, and in order: the first receptions of the
/// messages of a device are in the order in which they were sent.
struct WebhookChecker {
    var problems: [String] = []
    /// The number of kills.
    var processes = 0
    private var accepted: Set<UInt32> = []
    private var answered: Set<UInt32> = []
    private var receivedFirst: [UInt32: [UInt32]] = [:]
    private var received: Set<UInt32> = []

    /// The number of messages that were received.
    var count: Int { received.count }

    mutating func stored(_ request: UInt32) {
        accepted.insert(request)
        answered.insert(request)
    }

    mutating func refused(_ request: UInt32) { answered.insert(request) }

    func isAnswered(_ request: UInt32) -> Bool { answered.contains(request) }

    /// The number of a message in a request.
    func number(_ request: WebhookRequest) -> UInt32 {
        let body = try? JSONValue(parsing: request.body.raw)
        return body?["message_id"]?.text.flatMap { UInt32($0) } ?? 0
    }

    mutating func received(_ request: WebhookRequest) {
        let number = number(request)
        received(device: number / 1_000, number: number)
    }

    mutating func received(_ message: StoredUpstream) {
        let number = UInt32(String(decoding: message.messageID, as: UTF8.self)) ?? 0
        received(device: number / 1_000, number: number)
    }

    mutating func received(device: UInt32, number: UInt32) {
        guard received.insert(number).inserted else { return }
        if let last = receivedFirst[device]?.last, last > number {
            problems.append("order: \(number) is received after \(last)")
        }
        receivedFirst[device, default: []].append(number)
    }

    /// Whether nothing waits any more.
    func isDone(_ state: MemoryState) -> Bool { state.audit().upstreamPending == 0 }

    mutating func end(_ state: MemoryState) {
        let audit = state.audit()
        if !audit.holds { problems.append("conservation: \(audit)") }
        if audit.upstreamPending > 0 { problems.append("progress: \(audit.upstreamPending) messages wait") }
        let lost = accepted.subtracting(received).sorted()
        // Those with a short lifetime may have expired.
        let undue = lost.filter { $0 % 10 != 0 }
        if !undue.isEmpty { problems.append("lost: \(undue)") }
        if received.count < 20 { problems.append("reach: only \(received.count) messages were received") }
    }
}
