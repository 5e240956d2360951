import Synchronization

/// What is passed to another thread in one piece.
public protocol ThreadParcel<Host>: Sendable {
    /// What the jobs work on.
    associatedtype Host

    /// Creates an empty parcel.
    init()

    /// Work that must run on the thread.
    var jobs: [@Sendable (Host) -> Void] { get set }
}

/// A parcel of nothing but jobs.
public struct ThreadJobs<Host>: ThreadParcel {
    public var jobs: [@Sendable (Host) -> Void] = []

    public init() {}
}

/// The queue through which other threads pass work to a thread: all of it in one piece, with a single wake-up.
///
/// It is not bounded here: who passes work on limits what is in flight.
public final class ThreadMailbox<Parcel: ThreadParcel>: Sendable {
    private struct Inbox {
        var parcel = Parcel()
        /// Whether the thread was woken and has not taken the parcel yet.
        var isAwake = false
        var isClosed = false
    }

    private let inbox = Mutex(Inbox())
    private let wake: @Sendable () -> Void

    /// Creates a mailbox; `wake` makes the thread call `takeAll` soon.
    public init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

    /// Creates a mailbox of a reactor's thread.
    public convenience init(waking handle: ReactorHandle) { self.init { handle.wake() } }

    /// Adds to the parcel; can be called on any thread. Returns `false` if the mailbox is closed.
    @discardableResult
    public func add(_ body: (inout Parcel) -> Void) -> Bool {
        let (isTaken, mustWake) = inbox.withLock { inbox in
            guard !inbox.isClosed else { return (false, false) }
            body(&inbox.parcel)
            defer { inbox.isAwake = true }
            return (true, !inbox.isAwake)
        }
        if mustWake { wake() }
        return isTaken
    }

    /// Runs a job on the thread; can be called on any thread. Returns `false` if the mailbox is closed.
    @discardableResult
    public func post(_ job: @escaping @Sendable (Parcel.Host) -> Void) -> Bool { add { $0.jobs.append(job) } }

    /// Removes and returns all queued work; only on the thread.
    public func takeAll() -> Parcel {
        inbox.withLock { inbox in
            var taken = Parcel()
            swap(&taken, &inbox.parcel)
            inbox.isAwake = false
            return taken
        }
    }

    /// Takes no more work. Returns what is queued; only on the thread.
    public func close() -> Parcel {
        inbox.withLock { $0.isClosed = true }
        return takeAll()
    }
}
