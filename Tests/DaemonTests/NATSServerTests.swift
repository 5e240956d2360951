import Basics
import ClusterLog
import Foundation
import NATSServerSupport
import Testing
import Wire

/// A node that takes the log of a partition in a stream of a real server.
private final class StreamNode {
    static let log = LogKey(cluster: 1, partition: 0)
    private static let subject = Array("ccs.0".utf8)

    private let connection: NATSConnection
    private let inbox = "_INBOX.\(UInt64.random(in: 0...UInt64.max))"
    private(set) var owner: LogOwner
    private var effects: [OwnerEffect] = []
    /// The contents that this node has applied, in order.
    private(set) var applied: [String] = []
    private var contents: [FrameName: String] = [:]
    private var read: [UInt8] = []

    init(_ server: NATSServerProcess) throws {
        connection = try NATSConnection(server)
        let inbox = inbox
        connection.send { NATSWriter.subscribe(Array((inbox + ".>").utf8), as: 1, to: &$0) }
        owner = LogOwner(
            claim: Claim(.random(in: 0...UInt64.max)), after: LogReader(), in: Self.log, now: .read(),
            effects: &effects)
        perform()
    }

    /// Claims again, from where it is in the log.
    func claimAgain() {
        owner = LogOwner(
            claim: Claim(.random(in: 0...UInt64.max)), after: owner.reader, in: Self.log, now: .read(),
            effects: &effects)
        perform()
    }

    func make(_ content: String) {
        let entries = Array(content.utf8)
        contents[owner.make(entries.span.bytes, now: .read(), effects: &effects)] = content
        perform()
    }

    /// Handles answers until a condition holds.
    func run(until isDone: (LogOwner) -> Bool) throws {
        while !isDone(owner) {
            let message = try connection.message()
            guard let event = event(message) else { throw HarnessFailure("unexpected message \(message)") }
            owner.handle(event, now: .read(), effects: &effects)
            perform()
        }
    }

    /// The answer to a frame comes to `inbox.a.CLAIM.NUMBER`, that to a read to `inbox.r.0.POSITION`.
    private func event(_ message: NATSMessage) -> OwnerEvent? {
        let fields = String(decoding: message.subject, as: UTF8.self).split(separator: ".")
        guard fields.count == 5, let claim = UInt64(fields[3]), let number = UInt64(fields[4]) else {
            return nil
        }
        if fields[2] == "a" {
            let name = FrameName(claim: Claim(claim), number: number)
            guard case .stored(let sequence) = JetStreamPublishAnswer(message) else { return .refused(name) }
            return .stored(name, at: LogPosition(sequence))
        }
        switch JetStreamMessageAnswer(message) {
        case .message(let sequence, let payload):
            read = payload
            return .record(FrameHeader.read(payload.span.bytes, in: Self.log), at: LogPosition(sequence))
        case .none: return .end(LogPosition(number - 1))
        case .refused, .noResponder, .unreadable: return .readFailed
        }
    }

    private func perform() {
        for effect in effects {
            switch effect {
            case .append(let name):
                guard let frame = owner.frame(name) else { continue }
                publish(frame, Self.subject, reply: "a.\(name.claim.number).\(name.number)")
            case .read(let position):
                let request = JetStreamMessageAnswer.request(position.number)
                publish(
                    request, JetStreamMessageAnswer.subject(stream: "LOG"), reply: "r.0.\(position.number)")
            case .apply: applied.append(String(decoding: read.dropFirst(FrameHeader.length), as: UTF8.self))
            case .confirmed(let name, _): applied.append(contents.removeValue(forKey: name) ?? "unknown")
            case .took, .lost, .halted: break
            }
        }
        effects = []
    }

    private func publish(_ payload: [UInt8], _ subject: [UInt8], reply: String) {
        let inbox = Array("\(inbox).\(reply)".utf8)
        connection.send { NATSWriter.publish(payload.span.bytes, to: subject, reply: inbox, in: &$0) }
    }
}

@Suite("nats-server", .enabled(if: NATSServerProcess.isInstalled, "nats-server: run Scripts/bootstrap --tests"))
struct NATSServerTests {
    private func createStream(_ connection: NATSConnection) throws {
        let answer = try connection.request(
            "$JS.API.STREAM.CREATE.LOG", "{\"name\":\"LOG\",\"subjects\":[\"ccs.0\"],\"storage\":\"file\"}")
        #expect(String(decoding: answer.payload, as: UTF8.self).contains("\"did_create\":true"))
    }

    @Test("messages are published, stored, read back and missed as JetStream answers them")
    func answers() throws {
        let server = try NATSServerProcess()
        let connection = try NATSConnection(server)
        #expect(String(decoding: connection.info, as: UTF8.self).contains("\"headers\":true"))
        #expect(try JetStreamPublishAnswer(connection.request("ccs.0", "early")) == .noResponder)
        try createStream(connection)
        #expect(try JetStreamPublishAnswer(connection.request("ccs.0", "first")) == .stored(1))
        #expect(try JetStreamPublishAnswer(connection.request("ccs.0", "second")) == .stored(2))
        func read(_ sequence: UInt64, of stream: String) throws -> JetStreamMessageAnswer {
            let subject = String(decoding: JetStreamMessageAnswer.subject(stream: stream), as: UTF8.self)
            let request = String(decoding: JetStreamMessageAnswer.request(sequence), as: UTF8.self)
            return JetStreamMessageAnswer(try connection.request(subject, request))
        }
        #expect(try read(2, of: "LOG") == .message(sequence: 2, payload: Array("second".utf8)))
        #expect(try read(3, of: "LOG") == .none)
        guard case .refused(let error) = try read(1, of: "OTHER") else {
            Issue.record("a stream that does not exist answers")
            return
        }
        #expect(error.status == 404)
    }

    @Test("two nodes take a partition one after the other: the first is deposed, and both apply the same")
    func takeover() throws {
        let server = try NATSServerProcess()
        try createStream(NATSConnection(server))
        let first = try StreamNode(server)
        try first.run { $0.state == .owning }
        for number in 1...200 {
            try first.run { $0.canMake }
            first.make("commit \(number)")
        }
        try first.run { $0.unconfirmed == 0 }
        let second = try StreamNode(server)
        try second.run { $0.state != .claiming }
        // It claimed the first epoch, since it had not read the log.
        #expect(second.owner.state == .lost(to: first.owner.term))
        #expect(first.owner.state == .owning && first.applied.count == 200)
        second.claimAgain()
        try second.run { $0.state != .claiming }
        #expect(second.owner.state == .owning && second.owner.term.epoch == Epoch(2))
        #expect(second.applied == first.applied)
        first.make("too late")
        try first.run { !$0.state.isActive }
        #expect(first.owner.state == .lost(to: second.owner.term))
        second.make("in time")
        try second.run { $0.unconfirmed == 0 }
        #expect(first.applied.count == 200 && second.applied == first.applied + ["in time"])
    }

    @Test(
        "a login is accepted with the right secret alone",
        arguments: [
            (NATSWriter.Login.password(user: "ccsd", password: "right"), true),
            (.password(user: "ccsd", password: "wrong"), false), (.none, false), (.token("right"), false),
        ])
    func logins(_ login: NATSWriter.Login, _ isRight: Bool) throws {
        let server = try NATSServerProcess("authorization { user: ccsd, password: right }")
        let connection = try NATSConnection(server, login: login)
        var events: [NATSEvent] = []
        while let event = try? connection.next() {
            events.append(event)
            if event == .pong { break }
        }
        #expect(events.contains(.pong) == isRight)
        #expect(events.contains(.error(Array("Authorization Violation".utf8))) == !isRight)
    }
}
