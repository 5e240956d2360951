import Basics
import Delivery
import Sessions
import Wire

/// A connection with its real session: bytes, timers and backpressure, as a reactor's host provides them.
final class SessionEnd<Session: ProtocolSession & ~Copyable>: ServerEnd {
    private var session: Session
    private var io = SessionIO()
    /// Bytes that arrived while the session does not read.
    private var unread: [[UInt8]] = []
    /// When the session's timer is due.
    private var planned = Int64.max
    private var isOver = false
    private var isCongested = false
    /// Whether the client sends no more.
    private var isInputEnded = false
    /// Whether the session was notified of that, after it had read all input.
    private var isInputFinished = false
    /// Whether the session was requested to end after its answers.
    private var isEnding = false
    /// Twice the longest commit of a storm, one in progress and one queued, plus the time to wait for answers.
    private static var settlingNanoseconds: Int64 {
        4_000_000_000 + Limits.AppServer.farewellMilliseconds * 1_000_000
    }
    /// Submissions that the core has not answered.
    private var submitted: Set<UInt32> = []

    init(_ id: ConnectionID, _ world: World, _ pipe: Pipe, _ session: consuming Session) {
        self.session = session
        super.init(id, world, pipe)
        planWake()
    }

    override func received(_ cargo: Cargo) {
        guard case .bytes(let bytes) = cargo, !isOver else { return }
        unread.append(bytes)
        readOn()
    }

    private func readOn() {
        while io.isReading, !isOver, !unread.isEmpty {
            let bytes = unread.removeFirst()
            session.receive(bytes.raw, now: world.sessionTime(of: id), io: &io)
            carryOut()
        }
        if isInputEnded, !isInputFinished, unread.isEmpty, !isOver { finishInput() }
    }

    override func inputEnded() {
        guard !isOver else { return }
        isInputEnded = true
        readOn()
    }

    private func finishInput() {
        isInputFinished = true
        let hasMore = session.inputEnded(now: world.sessionTime(of: id), io: &io)
        carryOut()
        guard !isOver, !hasMore else { return }
        pipe.closeByServer()
        ended(.peerEndedStream)
    }

    override func perform(_ command: SessionCommand) {
        guard !isOver else { return }
        switch command {
        case .submission(let requestID, .accepted), .submission(let requestID, .refused): answered(requestID)
        case .connection(.close(.connectionDraining)): isEnding = true
        default: break
        }
        session.perform(command, now: world.sessionTime(of: id), io: &io)
        carryOut()
        readOn()
        congest()
    }

    private func answered(_ requestID: UInt32) {
        if submitted.remove(requestID) != nil, submitted.isEmpty, isInputFinished || isEnding {
            world.reached(.plannedEndAnswered)
        }
    }

    /// Checks that an end chosen by the session comes after all answers, in a world without faults.
    private func checkAnswers(_ reason: CloseReason) {
        // A managed stream is lost instead of ended when its client sends no more: the client resumes it for the answers.
        let isKept = world.settings.managesStreams && reason == .peerEndedStream
        let isPlanned = (reason == .peerEndedStream && !isKept) || reason == .connectionDraining
        // Commits that started in the storm may still take longer than a session waits for answers.
        let isFinished = world.isCalm && world.clock.nanoseconds - world.calmSince > Self.settlingNanoseconds
        guard isPlanned, isFinished, !submitted.isEmpty else { return }
        world.fail(
            "answers", "\(submitted.count) submissions were unanswered at the planned end of a connection")
    }

    override func ended(_ reason: CloseReason) {
        guard !isOver else { return }
        checkAnswers(reason)
        isOver = true
        session.ended(reason, now: world.sessionTime(of: id), io: &io)
        reportAll()
        super.ended(reason)
    }

    private func carryOut() {
        if !io.out.isEmpty {
            pipe.sendToClient(.bytes(io.out.bytes.copied()))
            io.out.removeAll()
        }
        reportAll()
        if let reason = io.close {
            io.close = nil
            pipe.closeByServer()
            return ended(reason)
        }
        planWake()
    }

    private func reportAll() {
        let events = io.events
        io.events = []
        for event in events {
            switch event {
            case .device(_, .submitted(let submission)):
                if case .session(let requester) = submission.replyTo { submitted.insert(requester.requestID) }
            case .topic(_, .submitted(let topic)): submitted.insert(topic.requester.requestID)
            default: break
            }
        }
        if !events.isEmpty { world.server?.route(events, from: Int(id.reactor)) }
    }

    private func planWake() {
        let deadline = session.deadline.nanoseconds
        guard deadline < planned else { return }
        let time = max(deadline, world.clock.nanoseconds)
        planned = deadline
        world.at(time) { [self] in
            guard !isOver, world.server?.connections[id] === self, planned == deadline else { return }
            planned = .max
            if session.deadline <= world.clock.now.monotonic {
                session.wake(now: world.sessionTime(of: id), io: &io)
                carryOut()
                readOn()
            } else {
                planWake()
            }
        }
    }

    /// Congests the connection for a while.
    private func congest() {
        guard world.faults.congests, !isCongested, !isOver, world.chance(3, in: 100) else { return }
        isCongested = true
        session.outboundChanged(isCongested: true, now: world.sessionTime(of: id), io: &io)
        carryOut()
        world.after(world.random(0...5_000_000_000)) { [self] in
            guard !isOver, world.server?.connections[id] === self else { return }
            isCongested = false
            session.outboundChanged(isCongested: false, now: world.sessionTime(of: id), io: &io)
            carryOut()
            readOn()
        }
    }
}

/// Substitutes for what a host provides to sessions.
enum SimulatedHost {
    /// Substitute for SHA-256: different for different texts.
    static func digest(_ text: [UInt8]) -> SecretDigest {
        let low = SipHash(key: (1, 2)).hash128(text.raw)
        let high = SipHash(key: (3, 4)).hash128(text.raw)
        var bytes: [UInt8] = []
        for word in [low.0, low.1, high.0, high.1] {
            for shift in stride(from: 0 as UInt64, to: 64, by: 8) {
                bytes.append(UInt8(truncatingIfNeeded: word >> shift))
            }
        }
        return SecretDigest(bytes: bytes)
    }

    /// The digest of a device's security token.
    static func digest(_ token: UInt64) -> SecretDigest { digest(Array("\(token)".utf8)) }

    /// The settings of all sessions of a world.
    static func settings(seed: UInt64, _ world: WorldSettings) -> SessionSettings {
        let source = Source(seed: seed)
        var settings = SessionSettings(
            seal: TokenSeal(secret: [UInt8](repeating: 9, count: 32)), digest: { digest($0) },
            random: { source.next() })
        settings.pendingWindow = world.delivery.pendingWindow
        settings.idleNotifications = true
        settings.streamManagement = world.managesStreams
        if world.scram != .none {
            settings.scram = SCRAMSettings(functions: scram) { sender in
                Array(digest(sender.number).bytes.prefix(16))
            }
        }
        return settings
    }

    /// Unchecked, since a world runs in one thread.
    private final class Source: @unchecked Sendable {
        private var random: SeededRandom
        init(seed: UInt64) { random = SeededRandom(seed: seed) }
        func next() -> UInt64 { random.next() }
    }
}
