import Basics
import Transport

/// The caller of a command, as the kernel reports it.
enum ControlCaller: Sendable, Equatable {
    /// A process of this machine without credentials.
    case local
    /// A process of a user; `id` is `nil` for a process in another PID namespace.
    case process(user: UInt32, id: Int32?)

    init(_ connection: Connection) {
        guard let peer = connection.peerCredentials else {
            self = .local
            return
        }
        self = .process(user: peer.user, id: peer.process > 0 ? peer.process : nil)
    }

    /// The user as text.
    var userText: String {
        switch self {
        case .local: "local"
        case .process(let user, _): "\(user)"
        }
    }

    /// The process as text.
    var processText: String {
        switch self {
        case .local, .process(_, nil): "local"
        case .process(_, let id?): "\(id)"
        }
    }

    /// The user in the audit line.
    var user: LogValue {
        switch self {
        case .local: "local"
        case .process(let user, _): LogValue(user)
        }
    }

    /// The process in the audit line.
    var process: LogValue {
        switch self {
        case .local, .process(_, nil): "local"
        case .process(_, let id?): LogValue(id)
        }
    }
}
