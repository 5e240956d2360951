import Basics
import HTTP2Peer
import Testing

@testable import Wire

/// A connection of ours to a server that writes its frames by hand.
final class HTTP2ClientDesk {
    typealias Frames = HTTP2Frames

    let connection: HTTP2ClientConnection
    /// Reads what the client sends.
    let peer = HTTP2Answers()
    var now = Instant(nanoseconds: 1_000_000_000)
    private var preface: [UInt8] = []

    /// A server that greets allows `streams` requests at once.
    init(streams: UInt32 = 100, greets: Bool = true) {
        connection = HTTP2ClientConnection(authority: "push.example", now: now)
        if greets { hear(Frames.settings([(3, streams)]) + Frames.settingsKnown) }
    }

    /// The server sends bytes, and reads what they bring about unless it does not listen.
    func hear(_ bytes: [UInt8], listens: Bool = true) {
        connection.receive(bytes.raw, now: now)
        if listens { flush() }
    }

    func flush() {
        while connection.canWrite {
            var out = ByteBuffer()
            connection.write(upTo: 100_000, to: &out)
            if out.isEmpty { break }
            var bytes = out.copied()
            if preface.count < Frames.preface.count {
                let count = min(bytes.count, Frames.preface.count - preface.count)
                preface += bytes[..<count]
                bytes.removeFirst(count)
            }
            peer.read(bytes)
        }
        #expect(Frames.preface.starts(with: preface))
    }

    /// Sends a request. Returns its stream, or why it cannot be sent.
    @discardableResult
    func send(_ path: String = "/", body: [UInt8] = [], listens: Bool = true) -> String {
        var call = HTTPCall("POST", path)
        call.body = body
        return send(call, listens: listens)
    }

    func send(_ call: HTTPCall, listens: Bool = true) -> String {
        defer { if listens { flush() } }
        do throws(HTTP2SendFailure) { return "\(try connection.send(call, now: now))" } catch {
            return "\(error)"
        }
    }

    /// Lets time pass, in steps in which the connection is woken when it wants to be.
    func pass(seconds: Int) {
        let end = now.advanced(seconds: seconds)
        while connection.deadline <= end {
            now = max(now, connection.deadline)
            connection.wake(now: now)
            flush()
        }
        now = end
    }

    /// What has happened since the last call, in words.
    func events() -> [String] {
        var words: [String] = []
        while let event = connection.next() {
            switch event {
            case .answered(let stream, let answer): words.append("\(stream): \(answer.status) \(answer.text)")
            case .failed(let stream, let failure): words.append("\(stream): \(failure)")
            case .leaving(let code, let reason):
                words.append("leaving \(code) \(String(decoding: reason, as: UTF8.self))")
            case .ended(let failure): words.append("ended: \(failure)")
            }
        }
        return words
    }

    /// A whole answer.
    static func answer(_ stream: UInt32, _ body: String = "", status: String = "200") -> [UInt8] {
        let head = Frames.headers(stream, [(":status", status)], ends: body.isEmpty)
        return body.isEmpty ? head : head + Frames.data(stream, Array(body.utf8), ends: true)
    }

    static func goAway(last: UInt32, code: UInt32 = 0, reason: String = "") -> [UInt8] {
        Frames.frame(7, Frames.word(last) + Frames.word(code) + Array(reason.utf8))
    }

    /// Expects that nothing is kept for any stream.
    func expectNothingLeft(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(connection.streams.isEmpty, sourceLocation: sourceLocation)
        #expect(connection.underWay == 0, sourceLocation: sourceLocation)
        #expect(connection.unsentBytes == 0, sourceLocation: sourceLocation)
        #expect(connection.answersBytes == 0, sourceLocation: sourceLocation)
        #expect(connection.events.isEmpty, sourceLocation: sourceLocation)
    }
}
