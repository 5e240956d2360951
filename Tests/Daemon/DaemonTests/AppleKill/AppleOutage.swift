import Foundation

/// A fault of the whole mock of Apple, in contrast to those of single requests.
enum AppleOutage: CaseIterable {
    /// The process is killed, and started again at the end.
    case dead
    /// The process is stopped: connections stay open, and nothing is answered.
    case stopped
    /// All connections are aborted, and new ones as soon as they are open.
    case refusing

    func begin(_ apple: AppleMock) throws {
        switch self {
        case .dead: apple.die()
        case .stopped: apple.pause(true)
        case .refusing: try apple.refuse(true)
        }
    }

    func end(_ apple: AppleMock) throws {
        switch self {
        case .dead: try apple.revive()
        case .stopped: apple.pause(false)
        case .refusing: try apple.refuse(false)
        }
    }
}
