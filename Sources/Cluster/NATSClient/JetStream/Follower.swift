import Basics
import ClusterLog

/// One stream that is followed: batches of records are read from any replica, each after the last one, and at the end the question is
/// repeated. The server keeps no state for it.
struct Follower {
    enum State: Hashable {
        /// A batch was asked for. The deadline moves with each record.
        case asked(UInt64, until: Instant)
        /// A record seems to be missing: the leader was asked for the next one.
        case checking(UInt64)
        /// At the end, or after a failure: the next question is due then.
        case waiting(until: Instant)
        case disconnected
        case paused
    }

    var state = State.disconnected
    /// The last record that was reported.
    var position: LogPosition
    /// Records of the current batch.
    var received = 0
    /// How many records the replica had after the last one; `nil` before the first answer.
    var behind: UInt64?
    /// Milliseconds of the next wait at the end.
    var pause = Limits.JetStream.followMilliseconds
    /// Whether the owner wants no more records until it resumes.
    var isPaused = false
    /// Whether the last question had no good answer, and that is reported.
    var isFailing = false
    /// Whether it is reported that everything was received.
    var hasCaughtUp = false

    init(after position: LogPosition) { self.position = position }

    /// The number of the open request, if any.
    var request: UInt64? {
        switch state {
        case .asked(let number, _), .checking(let number): number
        case .waiting, .disconnected, .paused: nil
        }
    }

    /// When something is due.
    var tick: Instant {
        switch state {
        case .asked(_, let until), .waiting(let until): until
        case .checking, .disconnected, .paused: .distantFuture
        }
    }
}
