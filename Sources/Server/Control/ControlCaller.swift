import Basics
import Transport

/// Who gave a command, as the kernel knows it.
enum ControlCaller: Sendable, Equatable {
    /// A process of this machine that the kernel does not name.
    case local
    /// A process of a user; without the process where it is not seen from here.
    case process(user: UInt32, id: Int32?)

    init(_ connection: Connection) {
        guard let peer = connection.peerCredentials else {
            self = .local
            return
        }
        self = .process(user: peer.user, id: peer.process > 0 ? peer.process : nil)
    }

    /// The user as the audit line names it.
    var user: LogValue {
        switch self {
        case .local: "local"
        case .process(let user, _): LogValue(user)
        }
    }

    /// The process as the audit line names it.
    var process: LogValue {
        switch self {
        case .local, .process(_, nil): "local"
        case .process(_, let id?): LogValue(id)
        }
    }
}
