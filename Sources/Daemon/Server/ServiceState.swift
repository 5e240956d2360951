import Operator

/// What the daemon does for its clients, with the rules of its changes.
enum ServiceState: Sendable, Equatable {
    case serving
    /// App servers are asked to reconnect. With `holds` no client can connect meanwhile, and the state is `drained` afterwards.
    case draining(holds: Bool)
    /// Clients are disconnected and cannot connect, until an operator releases the ports or the daemon ends.
    case drained
    case stopping

    /// The word in answers, logs and pages.
    var word: ServiceWord {
        switch self {
        case .serving: .serving
        case .draining: .draining
        case .drained: .drained
        case .stopping: .stopping
        }
    }

    /// Begins a drain of all app servers. Returns whether the state is that of this drain, which must end it.
    mutating func beginDrain() -> Bool {
        guard self == .serving else { return false }
        self = .draining(holds: false)
        return true
    }

    /// Ends a drain. Other states that were entered meanwhile stay.
    mutating func endDrain() {
        if self == .draining(holds: false) { self = .serving }
    }

    /// Begins a drain that closes the ports. Returns false if the daemon is stopping.
    mutating func hold() -> Bool {
        switch self {
        case .stopping: return false
        case .drained: return true
        case .serving, .draining:
            self = .draining(holds: true)
            return true
        }
    }

    /// Ends the drain of `hold`. Returns false if the ports were released or the daemon stopped meanwhile.
    mutating func endHold() -> Bool {
        if self == .draining(holds: true) { self = .drained }
        return self == .drained
    }

    /// Opens the ports. Returns false if the daemon is stopping.
    mutating func release() -> Bool {
        switch self {
        case .stopping: return false
        case .serving, .draining(holds: false): return true
        case .draining(holds: true), .drained:
            self = .serving
            return true
        }
    }
}
