import Basics
import Testing

@testable import Wire

/// The client connection against the server connection, without a network.
@Suite struct HTTP2PairTests {
    /// Both ends of a connection.
    private final class Pair {
        let client: HTTP2ClientConnection
        let server = HTTP2Connection()
        let now = Instant(nanoseconds: 1_000_000_000)
        /// The number of bytes passed at once.
        let step: Int

        init(step: Int = 100_000) {
            client = HTTP2ClientConnection(authority: "h", now: now)
            self.step = step
        }

        /// Passes bytes in both directions until there are none.
        func exchange() {
            while client.canWrite || server.canWrite {
                var out = ByteBuffer()
                client.write(upTo: 20_000, to: &out)
                inPieces(out.copied()) { server.receive($0, at: 0) }
                var back = ByteBuffer()
                server.write(upTo: 20_000, to: &back)
                inPieces(back.copied()) { client.receive($0, now: now) }
                if out.isEmpty, back.isEmpty { break }
            }
        }

        private func inPieces(_ bytes: [UInt8], _ take: (RawSpan) -> Void) {
            for start in stride(from: 0, to: bytes.count, by: step) {
                take(Array(bytes[start..<min(start + step, bytes.count)]).raw)
            }
        }

        func send(_ path: String, _ body: [UInt8] = []) throws(HTTP2SendFailure) -> UInt32 {
            var call = HTTPCall("POST", path)
            call.body = body
            return try client.send(call, now: now)
        }

        /// Answers all requests with their paths and the lengths of their bodies.
        func answerAll() {
            while let (stream, request) = server.next() {
                let text = String(decoding: request.path, as: UTF8.self) + " \(request.body.count)"
                server.answer(stream, HTTPResponse(.ok, HTTPResponse.text, Array(text.utf8)), at: 0)
            }
        }

        func events() -> [HTTP2ClientEvent] {
            var events: [HTTP2ClientEvent] = []
            while let event = client.next() { events.append(event) }
            return events
        }

        /// The texts of the answers by stream.
        func answers() -> [UInt32: String] {
            var answers: [UInt32: String] = [:]
            for case .answered(let stream, let answer) in events() { answers[stream] = answer.text }
            return answers
        }
    }

    @Test(
        "Requests with bodies of any length are answered, for any split",
        arguments: [1, 7, 1_000, 100_000])
    func bodies(step: Int) throws {
        let pair = Pair(step: step)
        pair.exchange()
        var expected: [UInt32: String] = [:]
        for length in step == 1 ? [0, 1, 9_000] : [0, 1, 8_192, 8_193, 65_536, 200_000] {
            expected[try pair.send("/\(length)", [UInt8](repeating: 1, count: length))] =
                "/\(length) \(length)"
        }
        for _ in 0..<20 {
            pair.exchange()
            pair.answerAll()
        }
        pair.exchange()
        #expect(pair.answers() == expected)
        #expect(pair.client.failure == nil && pair.server.failure == nil && pair.server.isEmpty)
        #expect(
            pair.client.requestsInFlight == 0 && pair.client.unsentBytes == 0 && pair.client.answersBytes == 0
        )
    }

    @Test(
        "The allowed number of requests runs in parallel, and ten thousand in sequence leave no state")
    func many() throws {
        let pair = Pair()
        pair.exchange()
        #expect(pair.client.availableStreams == Limits.HTTP2.streams)
        var answered = 0
        while answered < 10_000 {
            while pair.client.availableStreams > 0 { _ = try pair.send("/", [1]) }
            #expect(throws: HTTP2SendFailure.busy) { try pair.send("/") }
            pair.exchange()
            pair.answerAll()
            pair.exchange()
            answered += pair.answers().count
            #expect(pair.client.streams.isEmpty && pair.server.isEmpty)
        }
        #expect(pair.client.failure == nil && pair.server.failure == nil)
    }

    @Test("A request that was refused unprocessed succeeds when retried")
    func refused() throws {
        let pair = Pair()
        pair.exchange()
        // More than the limit of an unauthenticated peer, so the server refuses some.
        let body = [UInt8](repeating: 1, count: 8_000)
        var requestsInFlight: [UInt32: Int] = [:]
        var waiting = Array(0..<Limits.HTTP2.streams)
        var answers: Set<String> = []
        var refused = 0
        for _ in 0..<30 {
            // Several batches arrive before the server answers.
            for _ in 0..<5 {
                while let at = waiting.last, let stream = try? pair.send("/\(at)", body) {
                    requestsInFlight[stream] = at
                    waiting.removeLast()
                }
                pair.exchange()
            }
            for event in pair.events() {
                switch event {
                case .answered(_, let answer): answers.insert(answer.text)
                case .failed(let stream, let failure):
                    #expect(failure.isRetryable)
                    refused += 1
                    waiting.append(try #require(requestsInFlight[stream]))
                case .leaving, .ended: Issue.record("\(event)")
                }
            }
            pair.answerAll()
        }
        #expect(refused > 0, "canary: the server refuses some requests")
        #expect(answers.count == Limits.HTTP2.streams && pair.client.requestsInFlight == 0)
    }

    @Test("A server that shuts down finishes its requests, and the client then ends")
    func shutDown() throws {
        let pair = Pair()
        pair.exchange()
        let stream = try pair.send("/a")
        pair.exchange()
        pair.server.shutDown()
        pair.exchange()
        #expect(throws: HTTP2SendFailure.leaving) { try pair.send("/b") }
        pair.answerAll()
        pair.exchange()
        let events = pair.events()
        guard events.count == 3, case .leaving(0, []) = events[0], case .answered(stream, _) = events[1],
            case .ended(.finished) = events[2]
        else {
            Issue.record("\(events)")
            return
        }
    }

    @Test("A client that shuts down gets its answers, and the server sees its GOAWAY")
    func clientLeaves() throws {
        let pair = Pair()
        pair.exchange()
        _ = try pair.send("/a")
        pair.exchange()
        pair.client.shutDown()
        pair.exchange()
        #expect(pair.server.hasPeerLeft && !pair.server.isFinished)
        pair.answerAll()
        pair.exchange()
        #expect(pair.client.failure == .finished && pair.server.isFinished && pair.server.failure == nil)
    }
}
