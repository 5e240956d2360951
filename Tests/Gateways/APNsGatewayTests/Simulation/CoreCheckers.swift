import APNsGateway
import Basics
import Delivery

/// What must hold of the core and the gateway together.
struct CoreCheckers {
    /// A message of the app server.
    struct Message {
        enum State {
            case submitted
            case accepted
            case refused(Refusal)
            /// The process ended before it answered.
            case unknown
        }

        let phone: Phone
        let lifetimeSeconds: Int
        let collapseKey: [UInt8]?
        let submittedAt: Int64
        var state = State.submitted
        /// When it was refused.
        var refusedAt = Int64.max
        /// When Apple accepted it.
        var forwarded: [Int64] = []
    }

    private(set) var found: [String] = []
    private(set) var messages: [Message] = []
    private let jumps: Bool
    /// When a process ended or a commit failed: then what it has done is done again.
    private var setbacks: [Int64] = []

    init(jumps: Bool) { self.jumps = jumps }

    mutating func report(_ text: String) { found.append(text) }
    mutating func mustHold(_ holds: Bool, _ text: @autoclosure () -> String) { if !holds { report(text()) } }

    mutating func setBack(at time: Int64) { setbacks.append(time) }

    private func hasSetback(from start: Int64, to end: Int64) -> Bool {
        setbacks.contains { start <= $0 && $0 <= end }
    }

    // MARK: The app server

    /// Records a message. Returns its number.
    mutating func submitted(_ message: Message) -> Int {
        messages.append(message)
        return messages.count - 1
    }

    mutating func answered(_ number: Int, _ command: SessionCommand?, wasDead: Bool, at time: Int64) {
        switch command {
        case nil: messages[number].state = .unknown
        case .submission(_, .accepted):
            messages[number].state = .accepted
            if wasDead { report("dead: m\(number) is accepted") }
        case .submission(_, .refused(let refusal)):
            messages[number].state = .refused(refusal)
            messages[number].refusedAt = time
            let phone = messages[number].phone
            guard phone.isAlwaysGood else { return }
            mustHold(Self.isTemporary(refusal), "refusals: m\(number) to a good app: \(refusal)")
        default: report("answers: m\(number): \(command.map { "\($0)" } ?? "")")
        }
    }

    /// Whether a message that is refused for this reason may be accepted at another time.
    private static func isTemporary(_ refusal: Refusal) -> Bool {
        switch refusal {
        case .unavailable: true
        case .apns(let refusal):
            [.credential, .unavailable, .rateExceeded].contains(refusal.kind)
        default: false
        }
    }

    // MARK: Apple

    /// Apple has accepted a message.
    mutating func forwarded(_ number: Int, at time: Int64) {
        guard messages.indices.contains(number) else { return report("requests: m\(number) is unknown") }
        if let last = messages[number].forwarded.last, !hasSetback(from: last, to: time) {
            report("duplicates: m\(number) is sent again, though Apple's answer arrived")
        }
        messages[number].forwarded.append(time)
    }

    /// The gateway has answered a delivery to an app.
    mutating func judged(_ answer: GatewayAnswer, _ phone: Phone?) {
        guard let phone, phone.isAlwaysGood else { return }
        switch answer.outcome {
        case .tokenEnded, .tokenUnknown, .tokenMismatched:
            report("tokens of devices: \(answer.outcome) for a good one")
        case .accepted, .later, .refused: break
        }
    }

    // MARK: The end

    /// Checks the messages when nothing waits any more. `counts` are those of the store.
    mutating func finish(at time: Int64, _ counts: MilestoneCounts) {
        for (number, message) in messages.enumerated() { finish(number, message, at: time) }
        for phone in Set(messages.map { ObjectIdentifier($0.phone) }) { checkOrder(of: phone) }
        let stored = messages.count { $0.lifetimeSeconds > 0 && !$0.forwarded.isEmpty }
        // A setback forgets that Apple has accepted a message; then the app may have been removed before it was sent again.
        let forgotten = messages.count { message in
            message.lifetimeSeconds > 0 && !message.phone.isAlwaysGood
                && message.forwarded.first.map { hasSetback(from: $0, to: .max) } == true
        }
        let counted = counts.forwarded + counts.replaced + counts.expired
        mustHold(
            counts.forwarded <= stored && stored - forgotten <= counted,
            "conservation: Apple has \(stored) messages, \(counts)")
    }

    private mutating func finish(_ number: Int, _ message: Message, at time: Int64) {
        switch message.state {
        case .submitted: report("answers: m\(number) has none")
        case .refused(let refusal):
            guard message.lifetimeSeconds > 0, refusal != .unavailable else { return }
            mustHold(
                message.forwarded.allSatisfy { $0 <= message.refusedAt },
                "refusals: m\(number) is sent all the same")
        case .unknown: break
        case .accepted:
            guard message.phone.isAlwaysGood, message.forwarded.isEmpty else { return }
            let isReplaced =
                message.collapseKey != nil
                && messages[(number + 1)...].contains {
                    $0.phone === message.phone && $0.collapseKey == message.collapseKey
                }
            let isExpired = jumps || time - message.submittedAt >= Int64(message.lifetimeSeconds) * 1_000
            let mayExpire = message.lifetimeSeconds < 86_400 && isExpired
            mustHold(isReplaced || mayExpire, "lost: m\(number) was accepted")
        }
    }

    /// Accepted messages without a collapse key reach Apple in their order.
    private mutating func checkOrder(of phone: ObjectIdentifier) {
        var last: (number: Int, at: Int64)?
        for (number, message) in messages.enumerated()
        where ObjectIdentifier(message.phone) == phone && message.collapseKey == nil {
            guard case .accepted = message.state, message.lifetimeSeconds > 0,
                let at = message.forwarded.first
            else { continue }
            if let last, at < last.at { report("order: m\(number) before m\(last.number)") }
            last = (number, at)
        }
    }
}
