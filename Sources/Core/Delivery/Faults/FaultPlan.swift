public import Basics

/// A fault on purpose, by which app servers are tested.
public struct Fault: Sendable, Equatable {
    /// The messages that it acts on.
    public enum Scope: Sendable, Equatable {
        /// Those to one registration, shown by the token that was given.
        case registration(TokenName)
        /// Those of one sender.
        case sender(SenderID)
    }

    /// What happens to a message.
    public enum Action: Sendable, Equatable {
        /// It is refused, and nothing of it is stored; `retryAfter` is the `Retry-After` of an answer over HTTP, in seconds.
        case refuse(Refusal, retryAfter: Int? = nil)
        /// It is accepted, and nothing of it is stored.
        case drop
        /// It is submitted this number of milliseconds later.
        case delay(Int)
        /// Its frame is written to the device twice.
        case duplicate
    }

    /// Its number, from 1.
    public let number: Int
    public let scope: Scope
    public let action: Action
    /// The number of messages that it still acts on.
    public internal(set) var remaining: Int
    /// The number of messages that it has acted on.
    public internal(set) var hits = 0
}

/// A submission that a fault keeps from the core.
public struct FaultedSubmission: Sendable {
    /// The number of the fault.
    public let fault: Int
    public let action: Fault.Action
    /// Where the answer is sent.
    public let requester: Requester
    /// The submission.
    public let event: Event
}

/// The faults that operators have ordered, oldest first. A message meets the first one that fits it.
///
/// It decides before the core has seen a submission, and after the core has delivered a message, so that the core itself has no faults.
public struct FaultPlan: Sendable {
    /// All faults, those that are used up included.
    public private(set) var faults: [Fault] = []
    private var lastNumber = 0
    /// Whether any fault may act on submissions, or on deliveries.
    private var acts = (onSubmissions: false, onDeliveries: false)

    /// Creates a plan without faults.
    public init() {}

    /// Adds a fault for the next `count` messages. Returns `nil` if there are too many; one that is used up makes room.
    public mutating func add(_ scope: Fault.Scope, _ action: Fault.Action, count: Int) -> Fault? {
        if faults.count >= Limits.TestBench.faults {
            guard let usedUp = faults.firstIndex(where: { $0.remaining == 0 }) else { return nil }
            faults.remove(at: usedUp)
        }
        lastNumber += 1
        let fault = Fault(number: lastNumber, scope: scope, action: action, remaining: count)
        faults.append(fault)
        update()
        return fault
    }

    /// Removes a fault. Returns it as it was, or `nil` if there is none with the number.
    public mutating func remove(_ number: Int) -> Fault? {
        guard let at = faults.firstIndex(where: { $0.number == number }) else { return nil }
        defer { update() }
        return faults.remove(at: at)
    }

    /// Removes all faults. Returns how many there were.
    public mutating func removeAll() -> Int {
        defer {
            faults = []
            update()
        }
        return faults.count
    }

    private mutating func update() {
        acts.onDeliveries = faults.contains { $0.remaining > 0 && $0.action == .duplicate }
        acts.onSubmissions = faults.contains { $0.remaining > 0 && $0.action != .duplicate }
    }

    /// Takes the submissions out of events that faults keep from the core, in order.
    public mutating func take(from events: inout [Event]) -> [FaultedSubmission] {
        guard acts.onSubmissions else { return [] }
        var taken: [FaultedSubmission] = []
        events.removeAll { event in
            guard let found = Candidate(event), let at = index(for: found) else { return false }
            use(at)
            taken.append(
                FaultedSubmission(
                    fault: faults[at].number, action: faults[at].action, requester: found.requester,
                    event: event))
            return true
        }
        if !taken.isEmpty { update() }
        return taken
    }

    /// Repeats the deliveries that faults duplicate. Returns the numbers of the faults.
    public mutating func duplicate(in commands: inout [(ConnectionID, SessionCommand)]) -> [Int] {
        guard acts.onDeliveries else { return [] }
        var used: [Int] = []
        var at = 0
        while at < commands.count {
            defer { at += 1 }
            guard case .device(.deliver(let delivery)) = commands[at].1, delivery.message.kind == .message,
                let fault = index(for: delivery.message)
            else { continue }
            use(fault)
            used.append(faults[fault].number)
            commands.insert(commands[at], at: at)
            at += 1
        }
        if !used.isEmpty { update() }
        return used
    }

    private mutating func use(_ index: Int) {
        faults[index].remaining -= 1
        faults[index].hits += 1
    }

    private func index(for candidate: Candidate) -> Int? {
        faults.firstIndex { fault in
            guard fault.remaining > 0 else { return false }
            switch fault.action {
            case .duplicate: return false
            // The answer to a message to several recipients has what only the core counts.
            case .drop where candidate.target == nil: return false
            case .drop, .refuse, .delay: break
            }
            return switch fault.scope {
            case .registration(let token): token.registration == candidate.target
            case .sender(let sender): sender == candidate.sender
            }
        }
    }

    private func index(for message: StoredMessage) -> Int? {
        faults.firstIndex { fault in
            guard fault.remaining > 0, fault.action == .duplicate else { return false }
            return switch fault.scope {
            case .registration(let token):
                token.registration.device == message.device
                    && token.registration.number == message.registration
            case .sender(let sender): sender == message.sender
            }
        }
    }

    /// What faults need of a message that an app server has submitted; web pushes and the messages of devices meet no faults.
    private struct Candidate {
        let requester: Requester
        let sender: SenderID
        /// The recipient. `nil` for a group or topic.
        var target: RegistrationName?

        init?(_ event: Event) {
            switch event {
            case .device(_, .submitted(let submission)):
                guard case .session(let requester) = submission.replyTo, let sender = submission.sender
                else { return nil }
                (self.requester, self.sender, target) = (requester, sender, submission.target)
            case .group(let sender, .submitted(let submission)) where submission.author == nil:
                (requester, self.sender) = (submission.requester, sender)
            case .topic(let sender, .submitted(let submission)):
                (requester, self.sender) = (submission.requester, sender)
            default: return nil
            }
        }
    }
}
