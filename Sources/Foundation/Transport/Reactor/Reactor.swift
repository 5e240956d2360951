public import Basics
import CLinux
import Glibc

/// One epoll loop with its listeners, connections and timers, on one thread.
///
/// It is not Sendable: only `handle` may be used on other threads.
@safe public final class Reactor {
    enum Timer {
        case connection(slot: UInt32, generation: UInt32)
        case body((Now) -> Void)
    }

    /// Receives wake-ups and ends of turns.
    public var delegate: (any ReactorDelegate)?
    /// The number of the reactor.
    public let index: Int
    /// Wakes the reactor from any thread.
    public let handle: ReactorHandle
    /// The clocks, read once per turn.
    public internal(set) var now: Now
    /// Called with listener events for the log.
    public var report: ((TransportReport) -> Void)?

    let epoll: Descriptor
    let staging: TLSStaging
    let events = UnsafeMutableBufferPointer<epoll_event>.allocate(
        capacity: Limits.Connection.readinessPerTurn)
    var acceptors: [Acceptor?] = []
    var watches: [(descriptor: Int32, body: (Now) -> Void)] = []
    var connections: [Connection?] = []
    var freeSlots: [UInt32] = []
    var generation: UInt32 = 0
    /// Number of open connections.
    public internal(set) var connectionCount = 0
    /// Connections with TLS beyond which no more are accepted, so that descriptors remain for other uses.
    public var connectionLimit = Int.max
    /// Connections of listeners with TLS that have not logged in, beyond which the oldest is closed; `Int.max` disables the limit.
    public var beforeLoginLimit = Int.max
    /// Those connections, oldest first.
    var beforeLogin = AgeQueue()
    /// The number of connections of listeners with TLS that have not logged in.
    public var beforeLoginCount: Int { beforeLogin.count }
    /// The number from which on descriptors are reserved; called at each accept, since limits change.
    public var descriptorCeiling: () -> Int = { .max }
    var wheel: TimerWheel<Timer>
    var due: [Timer] = []
    var bodies = 0
    /// Connections to flush at the end of the turn.
    var dirty: [Connection] = []
    /// Connections whose sockets may have more input.
    var unfinished: [Connection] = []
    /// Connections whose outboxes keep memory.
    var warm: [Connection] = []
    /// Closed connections, to be released.
    var closedConnections: [Connection] = []
    /// Whether owners were notified after `reactorTurnEnded`: then the next turn does not wait.
    var hasFollowUp = false
    /// A reserve descriptor, closed to accept and close a connection when all others are in use.
    var reserve: Int32
    /// What to do with the addresses of host names that are being looked up, by the number of the lookup.
    var lookups: [UInt64: (Result<[SocketAddress], TransportError>) -> Void] = [:]
    var lookupCount: UInt64 = 0
    /// Where the threads of lookups leave their results.
    let mailbox: ThreadMailbox<ThreadJobs<Reactor>>
    private var isStopping = false

    /// The node of the cluster that the IDs of connections name; 0 for a daemon that belongs to no cluster.
    ///
    /// In a cluster the generations of connections begin at random: a command of another node for a connection of an earlier process
    /// must not reach one of this process.
    public var node: UInt16 = 0 {
        didSet { generation = UInt32(truncatingIfNeeded: SecureRandom.number()) }
    }

    /// Creates the loop without running it.
    public init(index: Int) throws(TransportError) {
        self.index = index
        handle = try ReactorHandle()
        mailbox = ThreadMailbox(waking: handle)
        staging = try TLSStaging()
        now = Now.read()
        wheel = TimerWheel(start: now.monotonic)
        let number = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard number >= 0 else { throw SystemCall.failure("make an epoll instance") }
        epoll = Descriptor(owning: number)
        reserve = Self.openReserve()
        try watch(handle.event.number, EPOLLIN.rawValue | EPOLLET.rawValue, key: Key.wake)
    }

    deinit {
        if reserve >= 0 { _ = Glibc.close(reserve) }
        unsafe events.deallocate()
    }

    static func openReserve() -> Int32 { unsafe open("/dev/null", O_RDONLY | O_CLOEXEC) }

    /// The subject of an epoll event: a connection (slot and generation), or another descriptor by number.
    enum Key {
        static let wake: UInt64 = .max
        static let others: UInt64 = 0xffff_0000
        static func acceptor(_ index: Int) -> UInt64 { others | UInt64(index) }
        static func watch(_ index: Int) -> UInt64 { others | 0x8000 | UInt64(index) }
        static func connection(_ id: ConnectionID) -> UInt64 { UInt64(id.generation) << 32 | UInt64(id.slot) }
    }

    func watch(_ descriptor: Int32, _ events: UInt32, key: UInt64) throws(TransportError) {
        var event = unsafe epoll_event()
        unsafe event.events = events
        unsafe event.data.u64 = key
        guard unsafe epoll_ctl(epoll.number, EPOLL_CTL_ADD, descriptor, &event) == 0 else {
            throw SystemCall.failure("watch descriptor \(descriptor)")
        }
    }

    /// Calls `body` when a descriptor of the caller is readable; the caller keeps it open until `stop`.
    public func watch(_ descriptor: borrowing Descriptor, _ body: @escaping (Now) -> Void)
        throws(TransportError)
    {
        try watch(descriptor.number, EPOLLIN.rawValue, key: Key.watch(watches.count))
        watches.append((descriptor.number, body))
    }

    /// Calls `body` at or soon after an instant, once.
    @discardableResult
    public func schedule(at instant: Instant, _ body: @escaping (Now) -> Void) -> TimerID {
        precondition(bodies < Limits.Connection.timersPerReactor, "too many timers on one reactor")
        bodies += 1
        return wheel.insert(at: instant, .body(body))
    }

    /// Cancels a timer; does nothing if it has fired.
    public func cancel(_ timer: TimerID) {
        if wheel.remove(timer) != nil { bodies -= 1 }
    }

    /// Makes `run` return after this turn.
    public func stop() { isStopping = true }

    /// Runs on the calling thread until `stop`; then closes all listeners and connections.
    public func run() {
        while !isStopping { turn(waitMilliseconds: -1) }
        end()
    }

    /// Closes all listeners and connections, and notifies their owners.
    public func end() {
        stopListening()
        for case let connection? in connections { connection.abort(.systemShutdown) }
        reap()
        watches.removeAll()
        dirty.removeAll()
        unfinished.removeAll()
        warm.removeAll()
    }
}
