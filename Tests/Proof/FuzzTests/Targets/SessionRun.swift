import Basics
import Delivery
import Sessions
import Wire

/// A session that is fed in pieces, and whose core answers only when the fuzzer requests it.
///
/// Events and output must be the same for any split.
struct SessionRun<Session: ProtocolSession & ~Copyable>: ~Copyable {
    private var session: Session
    private var io = SessionIO()
    private var now = FuzzWorld.now
    /// The output so far.
    private(set) var output: [UInt8] = []
    /// The events so far, as text.
    private(set) var events: [String] = []
    private var waiting: [Event] = []

    /// Creates a run with a new connection.
    init(_ session: consuming Session) { self.session = session }

    /// Why the session ends; `nil` while it continues.
    var close: CloseReason? { io.close }

    /// Passes bytes in pieces as long as the session reads.
    mutating func receive(_ bytes: [UInt8], piece: Int = .max) {
        var start = 0
        while start < bytes.count, io.close == nil, io.isReading {
            let end = min(bytes.count, start + min(piece, bytes.count))
            session.receive(bytes[start..<end].span.bytes, now: now, io: &io)
            collect()
            start = end
        }
    }

    /// Performs a command.
    mutating func perform(_ command: SessionCommand) {
        guard io.close == nil else { return }
        session.perform(command, now: now, io: &io)
        collect()
    }

    /// Answers the waiting events in order until none is left.
    mutating func answerEvents(_ core: (Event) -> SessionCommand? = { FuzzWorld.answer(to: $0) }) {
        while !waiting.isEmpty {
            let events = waiting
            waiting = []
            for event in events {
                if let command = core(event) { perform(command) }
            }
        }
    }

    /// Advances to the deadline up to `times` times, as long as there is one.
    mutating func wait(_ times: Int) {
        for _ in 0..<times where io.close == nil && session.deadline < .distantFuture {
            let seconds = 1 + max(0, Int(session.deadline.milliseconds(since: now.monotonic)) / 1_000)
            now.monotonic = now.monotonic.advanced(seconds: seconds)
            now.wall += Int64(seconds) * 1_000
            session.wake(now: now, io: &io)
            collect()
        }
    }

    /// Clears output and events.
    mutating func clear() {
        output = []
        events = []
    }

    private mutating func collect() {
        output += io.out.bytes.copied()
        io.out.removeAll()
        for event in io.events {
            events.append(Self.text(of: event))
            FuzzReach.record("event \(event.label)")
        }
        if let reason = io.close { FuzzReach.record("close \(reason.rawValue)") }
        waiting += io.events
        io.events.removeAll()
    }

    /// Abbreviated for frequent events, since a full description takes longer than the event itself.
    private static func text(of event: Event) -> String {
        switch event {
        case .device(_, .submitted(let message)):
            "submitted \(message.requester.requestID) \(message.target.device.number) "
                + "\(message.target.number.number) \(text(of: message.content))"
        case .topic(_, .submitted(let message)):
            "\(message.target) \(message.requester.requestID) \(text(of: message.content))"
        case .group(_, .submitted(let message)):
            "\(message.group) \(message.requester.requestID) \(text(of: message.content))"
        case .device(_, .upstreamReceived(let message)):
            "upstream \(message.requester.requestID) \(message.sender.number) \(message.lifetimeSeconds) "
                + "\(sum(message.category)) \(sum(message.messageID)) \(sum(message.persistentID)) "
                + "\(sum(message.body))"
        default: "\(event.label) \(event)"
        }
    }

    private static func text(of message: MessageContent) -> String {
        "\(message.lifetimeSeconds) \(message.priority) \(message.wantsReceipt) \(message.isDryRun) "
            + "\(message.delaysWhileIdle) \(sum(message.messageID)) \(sum(message.body)) "
            + "\(sum(message.collapseKey ?? [])) \(sum(message.restrictedPackage ?? []))"
    }

    private static func sum(_ bytes: [UInt8]) -> UInt64 { SipHash(key: (1, 2)).hash(bytes.raw) }
}
