import Basics
import Delivery
import Operator

/// A connection on which operator commands run, one at a time.
protocol CommandLink: Link {
    /// The state of the command that runs.
    var running: RunningCommand { get set }
}

/// What a running command waits for on its connection, confined to the connection's reactor.
struct RunningCommand {
    private var latches: [UInt32: Latch<SessionCommand>] = [:]
    private var trace: RunningTrace?
    /// Fulfilled when the caller has left, for a command that lasts until then.
    var left: Latch<Bool>?
    /// Ends the wait of a command for a message, which has no use without its caller.
    private var endOfWait: (@Sendable () -> Void)?

    /// Whether the caller reads too slowly, so that steps of a trace are left out.
    var isCongested = false {
        didSet { trace?.isCongested = isCongested }
    }

    /// Stores the latch of a request, which the core's answer with this request ID fulfils.
    mutating func expect(_ requestID: UInt32, _ latch: Latch<SessionCommand>) { latches[requestID] = latch }

    /// Starts to report the steps of a trace.
    mutating func begin(_ trace: RunningTrace) {
        self.trace = trace
        self.trace?.isCongested = isCongested
    }

    /// Stops reporting. Returns the trace, or `nil` if none is running.
    mutating func endTrace() -> RunningTrace? {
        defer { trace = nil }
        return trace
    }

    /// Starts a wait, which this closure ends.
    mutating func beginWait(end: @escaping @Sendable () -> Void) { endOfWait = end }

    /// Ends what waits for the caller, who has closed the connection.
    func callerLeft() {
        trace?.ended.fulfil(true)
        left?.fulfil(true)
        endOfWait?()
    }

    /// The command has ended.
    mutating func finished() {
        latches.removeAll()
        left = nil
        endOfWait = nil
    }

    /// Takes a reply of the core: fulfils the latch that waits for it, or returns the step of the trace to report.
    mutating func take(_ command: SessionCommand, now: Now) -> TraceDevice.Step? {
        switch command {
        case .reply(let requestID, .traced(let note)):
            return trace?.step(of: note, requestID: requestID, at: now.wall)
        case .submission(let requestID, _), .reply(let requestID, _):
            latches.removeValue(forKey: requestID)?.fulfil(command)
        case .connection, .appServer, .device: break
        }
        return nil
    }
}
