import APNsGateway
import Basics
import Delivery

/// What must hold in every simulated run. Each checker reports what it finds as text.
struct GatewayCheckers {
    private(set) var found: [String] = []
    private var inFlight: [[UInt8]: UInt64] = [:]
    private var offered: [RegistrationName: SequenceNumber] = [:]
    private var minted: [[UInt8]: Int64] = [:]
    private var lastMint: Int64?
    /// How many credentials and processes there have been: a token for an earlier one reaches no gateway.
    private(set) var keys = 0
    private var connecting: [APNsEndpoint: APNsConnectionID] = [:]

    private mutating func report(_ text: String) { found.append(text) }

    // MARK: Never two in flight for a device token

    mutating func sent(_ number: UInt64, to token: [UInt8]) {
        if let other = inFlight.updateValue(number, forKey: token) {
            report("in flight: requests \(other) and \(number) to one device")
        }
    }

    mutating func ended(_ number: UInt64, to token: [UInt8]) {
        if inFlight[token] == number { inFlight[token] = nil }
    }

    // MARK: Each delivery is answered exactly once

    mutating func offered(_ delivery: GatewayDelivery) {
        offered[delivery.registration] = delivery.message.sequence
    }

    mutating func answered(_ answer: GatewayAnswer) {
        if offered.removeValue(forKey: answer.registration) != answer.sequence {
            report("answers: \(answer.sequence) is answered without a delivery")
        }
    }

    mutating func finished(withoutAnswer allowed: Int = 0) {
        if offered.count > allowed { report("answers: \(offered.count) deliveries have none") }
    }

    /// Expects that nothing waits at the end, and that all counts have returned to zero.
    mutating func idle(_ status: [APNsCredentialStatus], unanswered: Int, allowed: Int) {
        let inFlight = status.reduce(0) { $0 + $1.requestsInFlight }
        let waiting = status.reduce(0) { $0 + $1.waiting }
        if max(unanswered, inFlight, waiting) > allowed {
            report("rest: \(unanswered) unanswered, \(inFlight) in flight, \(waiting) waiting")
        }
    }

    // MARK: A provider token is used from 0 to 60 minutes, and replaced after 20 at the earliest

    mutating func minted(_ token: [UInt8], at time: Int64) {
        if let lastMint, time - lastMint < 20 * 60_000 {
            report("tokens: minted \(time - lastMint) ms after the last one")
        }
        lastMint = time
        minted[token] = time
    }

    mutating func used(_ token: [UInt8], at time: Int64) {
        guard let age = minted[token].map({ time - $0 }) else { return report("tokens: one is unknown") }
        if age > 60 * 60_000 { report("tokens: one is \(age) ms old") }
    }

    /// A new process has no state of the last one, whose connections are closed.
    mutating func restarted() {
        offered = [:]
        inFlight = [:]
        connecting = [:]
        replacedKey()
    }

    /// A replaced credential starts with a token of its own.
    mutating func replacedKey() {
        lastMint = nil
        keys += 1
    }

    // MARK: At most one connect in progress per pool

    mutating func opens(_ id: APNsConnectionID, _ endpoint: APNsEndpoint) {
        if connecting.updateValue(id, forKey: endpoint) != nil { report("connects: two at once") }
    }

    mutating func doneOpening(_ id: APNsConnectionID, _ endpoint: APNsEndpoint) {
        if connecting[endpoint] == id { connecting[endpoint] = nil }
    }

    // MARK: No more streams than the server allows, bounds

    mutating func streams(_ open: Int, of limit: Int) {
        if open > limit { report("streams: \(open) of \(limit)") }
    }

    mutating func holds(_ unanswered: Int, bound: Int) {
        if unanswered > bound { report("bounds: \(unanswered) deliveries") }
    }

    // MARK: A good device token is never ended

    mutating func judged(_ outcome: GatewayOutcome, isGood: Bool) {
        switch outcome {
        case .tokenEnded, .tokenUnknown, .tokenMismatched:
            if isGood { report("tokens of devices: \(outcome) for a good one") }
        case .refused(let refusal) where refusal.kind != .credential && isGood:
            report("outcomes: \(refusal.kind) for a good device token")
        case .accepted where !isGood: report("outcomes: accepted for a bad device token")
        case .accepted, .later, .refused: break
        }
    }

    mutating func mustHold(_ holds: Bool, _ text: String) { if !holds { report(text) } }
}
