import Basics
import ClusterLog
import ClusterLogSupport

/// A node: what it has applied, and its claim, if it has one.
struct LogNode {
    let number: Int
    /// Where it is in the log while it has no claim.
    var reader = LogReader()
    var owner: LogOwner?
    var applied: [Applied] = []
    /// What a start finds: its reader, and how much it had applied.
    var snapshot = (reader: LogReader(), applied: 0)
    /// Contents of frames that are not confirmed.
    var contents: [FrameName: UInt64] = [:]
    /// The last frame without entries that its owner has made.
    var renewed: UInt64 = 0
    /// Counts its starts: what was meant for an earlier process is dropped.
    var process = 0
    /// Until when it does nothing, in microseconds; what happens meanwhile reaches it then.
    var pausedUntil: Int64 = 0
    /// What has happened during a pause.
    var inbox: [OwnerEvent] = []
    /// Until when nothing passes between it and the log.
    var cutUntil: Int64 = 0

    var position: LogPosition { owner?.reader.position ?? reader.position }

    /// Ends the claim, and goes on as a follower.
    mutating func drop() {
        guard let owner else { return }
        reader = owner.reader
        self.owner = nil
        contents = [:]
    }

    /// The process ends. What it had flushed stays.
    mutating func kill() {
        owner = nil
        contents = [:]
        inbox = []
        process += 1
        reader = snapshot.reader
        applied.removeLast(applied.count - snapshot.applied)
    }

    /// Flushes what is applied.
    mutating func flush() { snapshot = (owner?.reader ?? reader, applied.count) }
}
