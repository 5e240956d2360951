import Basics
import Delivery
import Operator
import Store
import Transport

/// A trace of a device on a control connection, confined to the connection's reactor.
struct RunningTrace {
    /// The request ID of the trace command.
    let requestID: UInt32
    /// The registration whose messages are reported; `nil` for all.
    let registration: RegistrationNumber?
    /// Fulfilled when the connection is closed.
    let ended = Latch<Bool>()
    /// Whether the caller reads too slowly, so that steps are left out.
    var isCongested = false
    /// The number of reported steps.
    private(set) var lines = 0
    /// The number of steps left out because the caller read too slowly.
    private(set) var leftOut = 0

    init(requestID: UInt32, registration: RegistrationNumber?) {
        self.requestID = requestID
        self.registration = registration
    }

    /// Counts a step. Returns the line to report, or `nil` if the step is not reported.
    mutating func step(of note: TraceRecord, requestID: UInt32, at time: UnixMilliseconds) -> TraceDevice
        .Step?
    {
        guard requestID == self.requestID else { return nil }
        if let registration, let own = note.registration, own != registration { return nil }
        guard !isCongested else {
            leftOut += 1
            return nil
        }
        lines += 1
        return TraceDevice.Step(note, at: time)
    }
}

extension TraceDevice.Step {
    /// Creates the line for a step; unknown values are left out.
    fileprivate init(_ note: TraceRecord, at time: UnixMilliseconds) {
        self.init(
            time: time, direction: note.direction.rawValue, step: note.step.rawValue,
            messageID: note.messageID.isEmpty ? nil : String(decoding: note.messageID, as: UTF8.self),
            // The persistent ID of an upstream message is internal; clients identify it by its message_id.
            persistentID: note.direction == .downstream ? note.persistentID?.text : nil,
            registration: note.registration.map { Int($0.number) },
            sender: note.sender,
            detail: note.detail.isEmpty ? nil : note.detail)
    }
}

extension ControlServer {
    /// Reports each step of a device's messages as it happens, until the given time is over or the connection ends.
    func traceDevice(_ command: TraceDevice, _ call: Call) throws(OperatorProblem) -> TraceDevice.Answer {
        let (device, registration) = try resolved(command.device)
        let loaded = try reading { () throws(StoreError) in try daemon.storage.store.load(.device(device)) }
        guard case .device(let state) = loaded, state.record != nil else { throw unknown(device) }
        let requester = requester(of: call.connection)
        let trace = RunningTrace(requestID: requester.requestID, registration: registration)
        _ = try ask { host in
            (host.link(requester.connection) as? any CommandLink)?.running.begin(trace)
            host.accept(.trace(device, requester))
        }
        defer {
            for mailbox in mailboxes { mailbox.post { $0.accept(.untrace(requester)) } }
        }
        call.send(OperatorReply(TraceDevice.Line.started(TraceDevice.Start(device: device))))
        let start = Now.read().monotonic
        let whole = Int64(command.seconds) * 1_000
        while true {
            let spent = Now.read().monotonic.milliseconds(since: start)
            let turn = min(whole - spent, Int64(Limits.Operator.traceProgressSeconds) * 1_000)
            guard turn > 0, trace.ended.wait(milliseconds: turn) == nil else { break }
            call.report(
                min(command.seconds, Int((spent + turn) / 1_000)), command.seconds, "seconds traced")
        }
        let done = try ask { host in
            (host.link(requester.connection) as? any CommandLink)?.running.endTrace()
        }.compactMap { $0 }.first
        return TraceDevice.Answer(lines: done?.lines ?? 0, leftOut: done?.leftOut ?? 0)
    }
}
