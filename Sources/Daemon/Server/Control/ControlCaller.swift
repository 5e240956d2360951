import Basics
import Transport

/// The caller of a command: a process, as the kernel reports it, or an operator of the API.
enum ControlCaller: Sendable, Equatable {
    /// A process of this machine without credentials.
    case local
    /// A process of a user; `id` is `nil` for a process in another PID namespace.
    case process(user: UInt32, id: Int32?)
    /// An operator of the API, at an address.
    case `operator`(name: String, address: String)

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
        case .operator(let name, _): name
        }
    }

    /// The process, or the address of an operator, as text.
    var processText: String {
        switch self {
        case .local, .process(_, nil): "local"
        case .process(_, let id?): "\(id)"
        case .operator(_, let address): address
        }
    }

    /// The user in the audit line.
    var user: LogValue {
        switch self {
        case .local: "local"
        case .process(let user, _): LogValue(user)
        case .operator(let name, _): .text(name)
        }
    }

    /// The process in the audit line.
    var process: LogValue {
        switch self {
        case .local, .process(_, nil): "local"
        case .process(_, let id?): LogValue(id)
        case .operator(_, let address): .text(address)
        }
    }
}
