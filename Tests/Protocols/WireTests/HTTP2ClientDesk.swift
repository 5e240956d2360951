import Basics
import HTTP2Peer
import Testing

@testable import Wire

/// A client connection to a server whose frames are written by hand.
final class HTTP2ClientDesk {
    typealias Frames = HTTP2Frames

    let connection: HTTP2ClientConnection
    /// Reads what the client sends.
    let peer = HTTP2Answers()
    var now = Instant(nanoseconds: 1_000_000_000)
    private var preface: [UInt8] = []

    /// With `streams` the server sends SETTINGS that allow this number of concurrent requests.
    init(streams: UInt32 = 100, greets: Bool = true) {
        connection = HTTP2ClientConnection(authority: "push.example", now: now)
        if greets { receive(Frames.settings([(3, streams)]) + Frames.settingsAck) }
    }

    /// Receives bytes from the server, which reads the client's output if it `listens`.
    func receive(_ bytes: [UInt8], listens: Bool = true) {
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

    /// Advances the time, and wakes the connection at its deadlines.
    func pass(seconds: Int) {
        let end = now.advanced(seconds: seconds)
        while connection.deadline <= end {
            now = max(now, connection.deadline)
            connection.wake(now: now)
            flush()
        }
        now = end
    }

    /// Returns the events since the last call as text.
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

    /// The frames of a complete answer.
    static func answer(_ stream: UInt32, _ body: String = "", status: String = "200") -> [UInt8] {
        let head = Frames.headers(stream, [(":status", status)], ends: body.isEmpty)
        return body.isEmpty ? head : head + Frames.data(stream, Array(body.utf8), ends: true)
    }

    static func goAway(last: UInt32, code: UInt32 = 0, reason: String = "") -> [UInt8] {
        Frames.frame(7, Frames.word(last) + Frames.word(code) + Array(reason.utf8))
    }

    /// Expects that no state is left for any stream.
    func expectNothingLeft(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(connection.streams.isEmpty, sourceLocation: sourceLocation)
        #expect(connection.requestsInFlight == 0, sourceLocation: sourceLocation)
        #expect(connection.unsentBytes == 0, sourceLocation: sourceLocation)
        #expect(connection.answersBytes == 0, sourceLocation: sourceLocation)
        #expect(connection.events.isEmpty, sourceLocation: sourceLocation)
    }
}
