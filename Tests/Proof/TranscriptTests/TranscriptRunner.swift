import Basics
import Delivery
import Sessions
import TranscriptNotation

/// What the runner needs from one protocol.
protocol TranscriptDialect {
    /// Whether clients process each record as a unit, so that every one must be ended.
    var recordsMatter: Bool { get }
    /// Values for all transcripts.
    var values: [String: String] { get }
    /// Applies a `%` line: a setting.
    mutating func configure(_ setting: String) throws
    /// Returns the bytes of a `C:` line.
    func bytes(of line: String, _ text: TranscriptText) throws -> [UInt8]
    /// Splits the sent bytes into one entry per `S:` line.
    mutating func units(of sent: [[UInt8]]) throws -> [[UInt8]]
    /// Returns an event as in a `>>` line.
    func shown(_ event: Event) -> String
    /// Parses the command of a `<<` line; `nil` if it is unknown.
    func command(_ line: String) throws -> SessionCommand?
}

extension TranscriptDialect {
    var recordsMatter: Bool { true }
}

/// Runs a transcript against a session and compares each record and event.
struct TranscriptRunner<Dialect: TranscriptDialect, Session: ProtocolSession & ~Copyable>: ~Copyable {
    private var dialect: Dialect
    private let transcript: Transcript
    private let split: TranscriptSplit
    private var session: Session
    private var io = SessionIO()
    private var now = Now(monotonic: Instant(nanoseconds: 0), wall: 1_430_277_821_658)
    private var text = TranscriptText()
    private var sent: [[UInt8]] = []
    private var events: [String] = []
    private var waiting: [UInt8] = []
    private var isExpecting = false

    /// Prepares a run; settings come first in the file.
    init(
        _ transcript: Transcript, _ dialect: Dialect, _ split: TranscriptSplit,
        makeSession: (Dialect, Now) -> Session
    ) throws {
        self.transcript = transcript
        self.split = split
        var dialect = dialect
        for line in transcript.lines where line.mark == "%" { try dialect.configure(line.text) }
        self.dialect = dialect
        text.values = dialect.values
        text.function = TranscriptSCRAM.value
        session = makeSession(dialect, now)
    }

    /// Runs a transcript. Throws if the session deviates from it.
    static func run(
        _ transcript: Transcript, _ dialect: Dialect, _ split: TranscriptSplit,
        makeSession: (Dialect, Now) -> Session
    ) throws {
        var runner = try TranscriptRunner(transcript, dialect, split, makeSession: makeSession)
        for line in transcript.lines where line.mark != "%" {
            do {
                try runner.step(line)
            } catch let failure as TranscriptFailure {
                throw failure
            } catch {
                throw TranscriptFailure(
                    transcript: "\(transcript.name) (\(split))", line: line.number, what: "\(error)")
            }
        }
        try runner.flush()
        try runner.checkNothingLeft(at: transcript.lines.last?.number ?? 0)
    }

    private mutating func step(_ line: Transcript.Line) throws {
        switch line.mark {
        case "S:", ">>", "!!":
            try flush()
            isExpecting = true
            try expect(line)
        default:
            if isExpecting { try checkNothingLeft(at: line.number) }
            isExpecting = false
            if line.mark == "C:" {
                let bytes = try dialect.bytes(of: line.text, text)
                guard split.joinsWrites else { return try feed(bytes) }
                waiting.append(contentsOf: bytes)
            } else {
                try flush()
                try act(line)
            }
        }
    }

    private mutating func expect(_ line: Transcript.Line) throws {
        switch line.mark {
        case "S:":
            guard !sent.isEmpty else { throw failure(line, "nothing was sent, expected: \(line.text)") }
            let actual = sent.removeFirst()
            guard try text.matches(line.text, actual) else {
                throw failure(
                    line, "sent:     \(TranscriptText.shown(actual))\n    expected: \(line.text)")
            }
        case ">>":
            guard !events.isEmpty else { throw failure(line, "no event, expected: \(line.text)") }
            let actual = events.removeFirst()
            guard try text.matches(line.text, Array(actual.utf8)) else {
                throw failure(line, "event:    \(actual)\n    expected: \(line.text)")
            }
        default:
            let actual =
                switch line.text {
                case "open": io.close == nil ? "open" : "closed"
                case "reading", "not reading": io.isReading ? "reading" : "not reading"
                default: io.close?.rawValue ?? "open"
                }
            guard actual == line.text else { throw failure(line, "state: \(actual), expected: \(line.text)") }
        }
    }

    private mutating func act(_ line: Transcript.Line) throws {
        if line.mark == "@" {
            guard let seconds = Int(line.text) else { throw failure(line, "expected a number of seconds") }
            now.monotonic = now.monotonic.advanced(seconds: seconds)
            now.wall += Int64(seconds) * 1_000
            if session.deadline <= now.monotonic { session.wake(now: now, io: &io) }
            return try collect()
        }
        let written = String(decoding: try text.bytes(line.text), as: UTF8.self)
        switch written {
        case "lost": session.ended(.peerReset, now: now, io: &io)
        case "input ended": _ = session.inputEnded(now: now, io: &io)
        case "congested": session.outboundChanged(isCongested: true, now: now, io: &io)
        case "uncongested": session.outboundChanged(isCongested: false, now: now, io: &io)
        default:
            guard let command = try dialect.command(written) else {
                throw failure(line, "unknown command: \(written)")
            }
            session.perform(command, now: now, io: &io)
        }
        try collect()
    }

    /// Passes the peer's pending writes to the session.
    private mutating func flush() throws {
        guard !waiting.isEmpty else { return }
        let bytes = waiting
        waiting = []
        try feed(bytes)
    }

    private mutating func feed(_ bytes: [UInt8]) throws {
        for piece in split.pieces(of: bytes) {
            session.receive(piece.raw, now: now, io: &io)
            try collect()
        }
    }

    /// Collects what the session has sent and reported.
    private mutating func collect() throws {
        let bytes = io.out.bytes.copied()
        var start = 0
        var records: [[UInt8]] = []
        for end in io.out.recordEnds {
            records.append(Array(bytes[start..<end]))
            start = end
        }
        if start < bytes.count, !dialect.recordsMatter {
            records.append(Array(bytes[start...]))
        } else if start < bytes.count {
            throw TranscriptFailure(transcript: transcript.name, line: 0, what: "a record was not ended")
        }
        io.out.removeAll()
        sent.append(contentsOf: try dialect.units(of: records))
        events.append(contentsOf: io.events.map { dialect.shown($0) })
        io.events.removeAll()
    }

    private func checkNothingLeft(at line: Int) throws {
        if let record = sent.first {
            throw TranscriptFailure(
                transcript: "\(transcript.name) (\(split))", line: line,
                what: "unexpected output before this line: \(TranscriptText.shown(record))")
        }
        if let event = events.first {
            throw TranscriptFailure(
                transcript: "\(transcript.name) (\(split))", line: line,
                what: "unexpected event before this line: \(event)")
        }
    }

    private func failure(_ line: Transcript.Line, _ what: String) -> TranscriptFailure {
        TranscriptFailure(transcript: "\(transcript.name) (\(split))", line: line.number, what: what)
    }
}
