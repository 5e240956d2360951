import Basics
import ClusterLog

/// The frames that the store has been given and has not applied, and whether the log is followed meanwhile: a store that is slow is not given
/// more and more.
struct Backlog: Sendable {
    /// How the log is followed.
    enum Pace: Sendable {
        case free
        /// No more is asked for until the store has caught up.
        case paused
    }

    private var frames: [LogPosition] = []
    private(set) var pace = Pace.free

    mutating func add(_ position: LogPosition) { frames.append(position) }

    /// Pauses if too much waits. Returns whether that begins now.
    mutating func pauses() -> Bool {
        guard case .free = pace, frames.count > Limits.ClusterHost.unappliedFrames else { return false }
        pace = .paused
        return true
    }

    /// The store has applied all frames up to a position. Returns whether a pause ends.
    mutating func resumes(after position: LogPosition) -> Bool {
        frames.removeFirst(frames.prefix { $0 <= position }.count)
        guard case .paused = pace, frames.count <= Limits.ClusterHost.unappliedFrames / 2 else {
            return false
        }
        pace = .free
        return true
    }
}
