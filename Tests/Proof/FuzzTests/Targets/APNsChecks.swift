import APNsGateway
import Basics
import Delivery
import Wire

/// One connection to a server of Apple.
final class APNsFuzzLink {
    let id: APNsConnectionID
    let endpoint: APNsEndpoint
    /// `nil` until it is connected.
    var http2: HTTP2ClientConnection?
    /// The number of each request in flight, by stream.
    var sent: [UInt32: UInt64] = [:]
    var isEnded = false
    /// Whether the gateway has closed it.
    var isForgotten = false
    var streamReport = StreamReport()

    init(id: APNsConnectionID, endpoint: APNsEndpoint) {
        self.id = id
        self.endpoint = endpoint
    }

    /// The stream of the oldest request without an outcome.
    var oldest: UInt32? { sent.keys.min() }

    /// Returns a frame (RFC 9113, 4.1).
    static func frame(type: UInt8, flags: UInt8, _ stream: UInt32, _ payload: [UInt8]) -> [UInt8] {
        let count = payload.count
        return [UInt8(count >> 16 & 0xFF), UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF), type, flags]
            + (0..<4).map { UInt8(truncatingIfNeeded: stream >> (24 - 8 * UInt32($0))) } + payload
    }
}

/// What must hold of the gateway, whatever Apple's servers do.
struct APNsChecks {
    private struct Attempt {
        var token: [UInt8]
        var connection: APNsConnectionID
        var sequence: UInt64
    }

    /// What is known about a delivery.
    private struct Facts {
        var sequence: SequenceNumber
        var attempts = 0
        /// Apple's last answer; `nil` if the last request failed.
        var last: APNsAnswer?
        var hasUnknownToken = false
    }

    /// More than all causes of another attempt together: five resends, four that are tried once, and a probe.
    private static let mostAttempts = 16
    /// The link reports its room after one more refusal at the latest.
    private static let mostBusyRefusals = 2

    private var deliveries: [RegistrationName: Facts] = [:]
    private var names: [UInt64: RegistrationName] = [:]
    private var attempts: [UInt64: Attempt] = [:]
    private var busyRefusals: [UInt64: Int] = [:]

    func isIdle(_ name: RegistrationName) -> Bool { deliveries[name] == nil }

    mutating func startStep() { busyRefusals = [:] }

    mutating func offered(_ name: RegistrationName, _ sequence: SequenceNumber) {
        deliveries[name] = Facts(sequence: sequence)
        names[sequence.number] = name
    }

    mutating func sent(_ send: APNsSend) throws(Violation) {
        guard let sequence = UInt64(send.request.id), let name = names[sequence], !isIdle(name) else {
            throw Violation(description: "a request without a delivery")
        }
        let token = send.request.deviceToken.bytes
        try demand(!attempts.values.contains { $0.token == token }, "two requests in flight to one device")
        try demand(attempts[send.requestNumber] == nil, "two requests with one number")
        attempts[send.requestNumber] = Attempt(
            token: token, connection: send.connection, sequence: sequence)
        deliveries[name]?.attempts += 1
        try demand(deliveries[name]?.attempts ?? 0 <= Self.mostAttempts, "a request is sent too often")
    }

    mutating func refusedAsBusy(_ send: APNsSend) throws(Violation) {
        let sequence = UInt64(send.request.id) ?? 0
        busyRefusals[sequence, default: 0] += 1
        try demand(
            busyRefusals[sequence, default: 0] <= Self.mostBusyRefusals,
            "a request is repeated on a connection that has no room")
    }

    /// The `apns-id` of a request in flight.
    func identifier(of number: UInt64) -> String? { attempts[number].map { "\($0.sequence)" } }

    /// A request has an outcome: an answer, or none.
    mutating func ended(_ number: UInt64, _ answer: APNsAnswer?) {
        guard let attempt = attempts.removeValue(forKey: number), let name = names[attempt.sequence] else {
            return
        }
        deliveries[name]?.last = answer
        if answer?.status == 400 { deliveries[name]?.hasUnknownToken = true }
    }

    /// The gateway has closed a connection: what is in flight has an unknown outcome.
    mutating func closed(_ link: APNsFuzzLink) {
        for (number, attempt) in attempts where attempt.connection == link.id { ended(number, nil) }
    }

    mutating func answered(_ answer: GatewayAnswer) throws(Violation) {
        FuzzReach.record("outcome \("\(answer.outcome)".caseName)")
        guard let facts = deliveries.removeValue(forKey: answer.registration),
            facts.sequence == answer.sequence
        else { throw Violation(description: "an answer without a delivery: \(answer)") }
        names[answer.sequence.number] = nil
        let isAccepted = if case .accepted = answer.outcome { true } else { false }
        let status = facts.last?.status
        let isApples = facts.last?.isForeign(to: "\(answer.sequence.number)") == false
        try demand(
            isAccepted == (status == 200 && isApples), "\(answer.outcome) after the status \(status ?? 0)")
        switch answer.outcome {
        case .accepted: break
        case .later(let milliseconds, _, _): try demand(milliseconds > 0, "later, but immediately")
        case .refused(let refusal):
            let isUnasked = refusal.kind == .credential && refusal.verdict == nil
            try demand(
                isUnasked || facts.last != nil || refusal.kind == .credential, "\(refusal) without an answer")
        case .tokenEnded(let verdict):
            try demand(status == 410 && verdict.status == 410, "a token ended after \(status ?? 0)")
            try demand(
                !verdict.reason.isEmpty || verdict.invalidSince != nil, "a token ended by a bare status")
        case .tokenUnknown, .tokenMismatched:
            try demand(facts.hasUnknownToken, "\(answer.outcome) without such an answer")
        }
    }

    /// Apple's words are short and printable.
    func verdict(_ answer: APNsAnswer) throws(Violation) {
        let verdict = answer.verdict
        let isPrintable = verdict.reason.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
        // Three more if it was cut.
        let longest = Limits.APNsGateway.reasonCharacters + 3
        try demand(
            isPrintable && verdict.reason.unicodeScalars.count <= longest, "a reason is \(verdict.reason)")
        try demand(verdict.status == answer.status, "another status")
        if let since = verdict.invalidSince {
            try demand(since > 0 && answer.status == 410, "since \(since)")
        }
        FuzzReach.record(verdict.reason.isEmpty ? "no reason" : "reason")
    }

    func bounds(unanswered: Int, _ links: [APNsFuzzLink]) throws(Violation) {
        try demand(
            unanswered == deliveries.count, "\(unanswered) unanswered deliveries, not \(deliveries.count)")
        for link in links {
            try demand(link.sent.count <= Limits.HTTP2Client.streams, "\(link.sent.count) requests at once")
        }
        for link in links where link.http2 == nil && !link.isForgotten {
            let others = links.count { $0.endpoint == link.endpoint && $0.http2 == nil && !$0.isForgotten }
            try demand(others == 1, "\(others) connections are being opened at once")
        }
    }

    func finish() throws(Violation) {
        try demand(deliveries.isEmpty, "\(deliveries.count) deliveries have no answer")
    }
}
