import Basics
import Delivery
import Store
import Transport
import Wire

/// A trace of a device on a control connection; lives on the connection's reactor.
struct RunningTrace {
    /// The ticket of its request.
    let ticket: UInt32
    /// Only messages of this registration; nil: of all.
    let registration: RegistrationNumber?
    /// Fulfilled when the connection is gone.
    let ended = Latch<Bool>()
    /// Whether the reader is so slow that lines are left out.
    var isHeldUp = false
    /// Lines told.
    private(set) var lines = 0
    /// Lines left out because the reader was slow.
    private(set) var leftOut = 0

    init(ticket: UInt32, registration: RegistrationNumber?) {
        self.ticket = ticket
        self.registration = registration
    }

    /// The line of a step; nil where it is not to be told.
    mutating func line(of note: TraceNote, ticket: UInt32, at time: UnixMilliseconds) -> String? {
        guard ticket == self.ticket else { return nil }
        if let registration, let own = note.registration, own != registration { return nil }
        guard !isHeldUp else {
            leftOut += 1
            return nil
        }
        lines += 1
        return JSONValue.object([.init("trace", Self.row(note, at: time))]).compact
    }

    /// A step as programs read it; what is not known is left out.
    static func row(_ note: TraceNote, at time: UnixMilliseconds) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("time", .string(Timestamp.text(time))),
            .init("direction", .string(note.direction.rawValue)), .init("step", .string(note.step.rawValue)),
        ]
        if !note.messageID.isEmpty {
            members.append(.init("message_id", .string(String(decoding: note.messageID, as: UTF8.self))))
        }
        // The id that an upstream message has here is ours alone; its own is the message_id.
        if let place = note.place, note.direction == .downstream {
            members.append(.init("persistent_id", .string(place.text)))
        }
        if let registration = note.registration {
            members.append(.init("registration", .integer(Int(registration.number))))
        }
        if let sender = note.sender {
            members.append(.init("sender_id", .string(String(sender.number))))
        }
        if !note.detail.isEmpty { members.append(.init("detail", .string(note.detail))) }
        return .object(members)
    }
}

extension ControlServer {
    /// Tells each step of a device's messages as it happens, for so many seconds or until the connection ends.
    func traceDevice(_ request: Request) throws(Problem) -> JSONValue {
        let seconds = try integer("seconds", in: request, default: 60, range: 1...Limits.traceSeconds)
        let (device, registration) = try requiredTarget(request)
        let loaded = try reading { () throws(StoreError) in try daemon.store.load(.device(device)) }
        guard case .device(let state) = loaded, state.record != nil else { throw unknown(device) }
        let origin = origin(of: request.connection)
        let trace = RunningTrace(ticket: origin.ticket, registration: registration)
        _ = try ask { host in
            (host.link(origin.connection) as? ControlLink)?.begin(trace)
            host.accept(.trace(device, origin), now: host.reactor.now)
        }
        defer {
            for mailbox in mailboxes { mailbox.post { $0.accept(.untrace(origin), now: $0.reactor.now) } }
        }
        request.say("tracing", .object([.init("device", .string(String(device.number)))]))
        let start = Now.read().monotonic
        let whole = Int64(seconds) * 1_000
        while true {
            let spent = Now.read().monotonic.milliseconds(since: start)
            let turn = min(whole - spent, Int64(Limits.traceProgressSeconds) * 1_000)
            guard turn > 0, trace.ended.wait(milliseconds: turn) == nil else { break }
            request.progress(min(seconds, Int((spent + turn) / 1_000)), seconds, "seconds traced")
        }
        let done = try ask { host in (host.link(origin.connection) as? ControlLink)?.endTrace() }
            .compactMap { $0 }.first
        return .object([
            .init("lines", .integer(done?.lines ?? 0)), .init("left_out", .integer(done?.leftOut ?? 0)),
        ])
    }

    /// The device that the request names, by its number or by one of its tokens, and then the token's registration.
    func requiredTarget(_ request: Request) throws(Problem) -> (DeviceID, RegistrationNumber?) {
        guard let text = request.arguments["device"]?.text, UInt64(text) == nil else {
            return (try requiredDevice(request), nil)
        }
        guard let name = daemon.seal.name(of: Array(text.utf8).raw) else {
            throw Problem(
                text: "device is neither the number of a device nor a registration token of this server",
                hint: "ccsctl devices list shows those there are")
        }
        return (name.device, name.number)
    }
}
