import Basics
import HTTP2Peer
import Testing

@testable import Wire

@Suite struct HTTP2ClientTests {
    typealias Desk = HTTP2ClientDesk
    typealias Frames = HTTP2Frames

    @Test(
        "The connection starts with preface and settings: no push, no server streams, limited headers")
    func opening() {
        let desk = Desk(greets: false)
        desk.flush()
        let first = desk.peer.frames.first
        #expect(first?.type == 4 && first?.flags == 0)
        let entries = first.map { frame in
            stride(from: 0, to: frame.payload.count, by: 6).map { at in
                "\(frame.payload[at + 1])=\(frame.word(at: at + 2))"
            }
        }
        #expect(
            entries == [
                "2=0", "3=0", "4=\(Limits.HTTP2Client.answerBodyBytes + 1)",
                "6=\(Limits.HTTP2Client.answerHeadBytes)",
                "9=1",
            ])
        #expect(
            desk.peer.frames(8).map { Int($0.word(at: 0)) + 65_535 } == [2 * Limits.HTTP2Client.answersBytes])
        desk.receive(Frames.settings())
        #expect(desk.peer.frames(4).contains { $0.flags == 1 }, "the server's settings are acknowledged")
    }

    @Test("A request has pseudo-headers, its headers in lower case, and its body")
    func request() {
        let desk = Desk()
        var call = HTTPCall("POST", "/3/device/ab?c=d")
        call.add("Apns-Topic", "a.b")
        call.headers.append(("authorization", Redacted("bearer x")))
        call.body = Array("hello".utf8)
        #expect(desk.send(call) == "1")
        let sent = desk.peer.answers[1]
        #expect(
            sent?.headers == [
                ":method": "POST", ":scheme": "https", ":authority": "push.example",
                ":path": "/3/device/ab?c=d", "apns-topic": "a.b", "authorization": "bearer x",
                "content-length": "5",
            ])
        #expect(sent?.body == Array("hello".utf8) && sent?.isWhole == true)
        #expect(desk.send(HTTPCall("GET", "/")) == "3")
        #expect(desk.peer.answers[3]?.headers["content-length"] == nil)
        #expect(desk.peer.frames(2).isEmpty, "no priorities are sent")
    }

    @Test("Credentials and headers unique to a call are not indexed by compression")
    func compression() {
        func lengths(_ name: String, singular: [String] = []) -> [Int] {
            let desk = Desk()
            for _ in 0..<2 {
                var call = HTTPCall("GET", "/")
                call.add(name, String(repeating: "x", count: 200))
                call.singularHeaders = singular
                _ = desk.send(call)
            }
            return desk.peer.frames(1).map(\.payload.count)
        }
        #expect((lengths("apns-topic").last ?? 0) < 30, "canary: others do")
        #expect((lengths("authorization").last ?? 0) > 100)
        #expect((lengths("apns-id", singular: ["apns-id"]).last ?? 0) > 100)
    }

    @Test("An answer is complete for any split, without its interim heads and trailers")
    func answer() {
        let stream =
            Frames.settings() + Frames.settingsAck
            + Frames.headers(1, [(":status", "103"), ("link", "x")])
            + Frames.headers(1, [(":status", "410"), ("apns-id", "7")])
            + Frames.data(1, Array("he".utf8)) + Frames.data(1, Array("llo".utf8))
            + Frames.headers(1, [("x-sum", "1")], ends: true)
        for step in [1, 2, 3, 7, 50, stream.count] {
            let desk = Desk(greets: false)
            #expect(desk.send() == "1")
            for start in Swift.stride(from: 0, to: stream.count, by: step) {
                desk.receive(Array(stream[start..<min(start + step, stream.count)]))
            }
            guard case .answered(1, let answer)? = desk.connection.next() else {
                Issue.record("step \(step)")
                return
            }
            #expect(answer.status == 410 && answer.text == "hello" && answer.header("apns-id") == "7")
            #expect(answer.header("link") == nil && answer.header("x-sum") == nil)
            #expect(desk.connection.failure == nil)
            desk.expectNothingLeft()
        }
    }

    @Test(
        "Before SETTINGS one request is allowed, then the number in SETTINGS, also after changes"
    )
    func streams() {
        let desk = Desk(greets: false)
        #expect(desk.connection.availableStreams == 1 && desk.send() == "1")
        #expect(desk.connection.availableStreams == 0 && desk.send() == "busy")
        desk.receive(Frames.settings([(3, 3)]) + Frames.settingsAck)
        #expect(desk.connection.availableStreams == 2)
        #expect(desk.send() == "3" && desk.send() == "5" && desk.send() == "busy")
        desk.receive(Frames.settings([(3, 1)]))
        desk.receive(Desk.answer(3))
        #expect(
            desk.events() == ["3: 200 "] && desk.connection.availableStreams == 0 && desk.send() == "busy")
        desk.receive(Desk.answer(1) + Desk.answer(5))
        #expect(desk.connection.availableStreams == 1 && desk.send() == "7")
        let many = HTTP2ClientConnection(authority: "h", firstStreams: 5, now: desk.now)
        #expect(many.availableStreams == 5)
        desk.receive(Frames.settings([(3, 100_000)]))
        #expect(desk.connection.availableStreams == Limits.HTTP2Client.streams - 1, "our own limit is lower")
    }

    @Test("Many requests are in flight at once, and answers arrive in any order")
    func many() {
        let desk = Desk(streams: 1_000)
        for at in 0..<Limits.HTTP2Client.streams { #expect(desk.send() == "\(2 * at + 1)") }
        #expect(desk.send() == "busy" && desk.connection.requestsInFlight == Limits.HTTP2Client.streams)
        for at in (0..<UInt32(Limits.HTTP2Client.streams)).reversed() {
            desk.receive(Desk.answer(2 * at + 1, "\(at)"))
        }
        let events = desk.events()
        #expect(events.count == Limits.HTTP2Client.streams && events.last == "1: 200 0")
        desk.expectNothingLeft()
        #expect(desk.connection.availableStreams == Limits.HTTP2Client.streams)
    }

    @Test("Bodies wait for the server's flow control of the stream and of the connection")
    func windows() {
        let desk = Desk(greets: false)
        desk.receive(Frames.settings([(3, 100), (4, 10)]) + Frames.settingsAck)
        #expect(desk.send(body: [UInt8](repeating: 1, count: 100)) == "1")
        #expect(desk.peer.answers[1]?.body.count == 10 && desk.connection.unsentBytes == 90)
        desk.receive(Frames.windowUpdate(1, 50))
        #expect(desk.peer.answers[1]?.body.count == 60 && desk.connection.unsentBytes == 40)
        desk.receive(Frames.windowUpdate(1, 50))
        #expect(desk.peer.answers[1]?.isWhole == true && desk.connection.unsentBytes == 0)
        // The connection's window is 65,535 bytes for all streams.
        desk.receive(Frames.settings([(4, 1_000_000)]))
        #expect(desk.send(body: [UInt8](repeating: 1, count: 100_000)) == "3")
        #expect(desk.send(body: [1]) == "5")
        #expect(desk.peer.answers[5]?.body.isEmpty == true)
        desk.receive(Frames.windowUpdate(0, 100_000))
        #expect(desk.peer.answers[3]?.isWhole == true && desk.peer.answers[5]?.isWhole == true)
    }

    @Test("Unsent bodies are limited, and freed by answers, resets and the end")
    func unsent() {
        let desk = Desk(greets: false)
        desk.receive(Frames.settings([(3, 100), (4, 0)]) + Frames.settingsAck)
        let half = [UInt8](repeating: 1, count: Limits.HTTP2Client.unsentBytes / 2)
        for stream in [1, 3] { #expect(desk.send(body: half) == "\(stream)") }
        #expect(desk.send(body: [1]) == "busy" && desk.connection.availableStreams == 98)
        desk.receive(Desk.answer(1))
        #expect(desk.connection.unsentBytes == half.count && desk.send(body: half) == "5")
        desk.receive(Frames.reset(3))
        #expect(desk.connection.unsentBytes == half.count)
        desk.connection.connectionLost()
        #expect(desk.events().count == 4)
        desk.expectNothingLeft()
    }

    @Test("Consumed bytes are returned to the window, so that long answers can follow each other")
    func consumed() {
        let desk = Desk()
        let body = String(repeating: "a", count: 10_000)
        for at in 0..<900 {
            let stream = UInt32(2 * at + 1)
            #expect(desk.send() == "\(stream)")
            desk.receive(Desk.answer(stream, body))
            #expect(desk.events() == ["\(stream): 200 \(body)"])
        }
        let given = desk.peer.frames(8).filter { $0.stream == 0 }.reduce(0) { $0 + Int($1.word(at: 0)) }
        #expect(given > 9_000_000 - Limits.HTTP2Client.answersBytes && desk.connection.failure == nil)
    }

    @Test("An early answer ends its request, whose remainder is not sent")
    func early() {
        let desk = Desk(greets: false)
        desk.receive(Frames.settings([(3, 100), (4, 10)]) + Frames.settingsAck)
        _ = desk.send(body: [UInt8](repeating: 1, count: 100))
        desk.receive(Desk.answer(1, "no", status: "413"))
        #expect(desk.events() == ["1: 413 no"] && desk.peer.answers[1]?.reset == 8)
        desk.receive(Frames.reset(1, code: 0))
        #expect(desk.events().isEmpty && desk.connection.failure == nil)
        desk.expectNothingLeft()
    }

    @Test("After GOAWAY unprocessed requests can be retried, and the others are finished")
    func goAway() {
        let desk = Desk()
        for _ in 0..<3 { desk.send() }
        desk.receive(Desk.goAway(last: 1, reason: #"{"reason":"Shutdown"}"#))
        #expect(desk.events() == [#"leaving 0 {"reason":"Shutdown"}"#, "3: unprocessed", "5: unprocessed"])
        #expect(desk.send() == "leaving" && desk.connection.availableStreams == 0)
        desk.receive(Desk.goAway(last: 1) + Desk.answer(1, "late"))
        #expect(desk.events() == ["1: 200 late", "ended: finished"])
        desk.expectNothingLeft()
        #expect(HTTP2RequestFailure.unprocessed.isRetryable)
        for other in [HTTP2RequestFailure.reset(code: 2), .noAnswer, .connectionEnded, .answerTooLong] {
            #expect(!other.isRetryable)
        }
    }

    @Test("After two GOAWAYs the second one decides which requests were processed")
    func twoGoAways() {
        let desk = Desk()
        for _ in 0..<3 { desk.send() }
        desk.receive(Desk.goAway(last: 0x7FFF_FFFF))
        #expect(desk.events() == ["leaving 0 "])
        desk.receive(Desk.goAway(last: 3))
        #expect(desk.events() == ["5: unprocessed"])
        desk.receive(Desk.answer(3) + Desk.answer(1))
        #expect(desk.events() == ["3: 200 ", "1: 200 ", "ended: finished"])
    }

    @Test("A request that was not written before GOAWAY can be retried")
    func unwritten() {
        let desk = Desk()
        desk.send()
        desk.send(listens: false)
        desk.receive(Desk.goAway(last: 0x7FFF_FFFF))
        #expect(desk.events() == ["leaving 0 ", "3: unprocessed"] && desk.peer.answers[3] == nil)
        desk.receive(Desk.answer(1))
        #expect(desk.events() == ["1: 200 ", "ended: finished"])
        desk.expectNothingLeft()
    }

    @Test("The code of a reset decides whether the request can be retried")
    func resets() {
        let desk = Desk()
        for _ in 0..<4 { desk.send() }
        desk.receive(Frames.reset(1, code: 7) + Frames.reset(3, code: 2) + Frames.reset(5, code: 0))
        #expect(desk.events() == ["1: unprocessed", "3: reset(code: 2)", "5: reset(code: 0)"])
        desk.receive(Frames.headers(7, [(":status", "200")]) + Frames.reset(7, code: 1))
        #expect(desk.events() == ["7: reset(code: 1)"] && desk.connection.failure == nil)
        desk.expectNothingLeft()
    }

    @Test(
        "When the transport ends, unwritten requests can be retried, and the others have an unknown outcome")
    func lost() {
        let desk = Desk()
        desk.send()
        desk.send(listens: false)
        desk.connection.connectionLost()
        #expect(desk.events() == ["1: connectionEnded", "3: unprocessed", "ended: lost"])
        #expect(desk.send() == "leaving" && desk.connection.deadline == .distantFuture)
        desk.expectNothingLeft()
    }

    @Test("After shutDown no request is accepted, and the connection ends with the last answer")
    func shutDown() {
        let desk = Desk()
        desk.send()
        desk.connection.shutDown()
        desk.flush()
        #expect(desk.events() == ["leaving 0 "] && desk.send() == "leaving")
        #expect(desk.peer.goAway?.code == 0)
        desk.receive(Desk.answer(1))
        #expect(desk.events() == ["1: 200 ", "ended: finished"])
        let idle = Desk()
        idle.connection.shutDown()
        #expect(idle.events() == ["leaving 0 ", "ended: finished"])
    }

    @Test("A cancelled request is reset, and its answer is not reported")
    func cancel() {
        let desk = Desk()
        desk.send()
        desk.send(listens: false)
        desk.connection.cancel(1)
        desk.connection.cancel(3)
        desk.connection.cancel(9)
        desk.flush()
        #expect(desk.peer.answers[1]?.reset == 8 && desk.peer.answers[3] == nil)
        desk.receive(Desk.answer(1, "late"))
        #expect(desk.events().isEmpty && desk.connection.failure == nil)
        desk.expectNothingLeft()
    }

    @Test("A call that is invalid in HTTP/2 is refused before anything is sent")
    func malformed() {
        let desk = Desk()
        var calls = ["", "a", "/a b", "/a\r\n", "/a\u{0}"].map { HTTPCall("GET", $0) }
        calls.append(HTTPCall("GE T", "/"))
        for (name, value) in [("", "a"), ("a b", "c"), (":path", "/"), ("a", "b\r\nc: d"), ("a", "b\u{0}")] {
            calls.append(HTTPCall("GET", "/"))
            calls[calls.count - 1].add(name, value)
        }
        calls.append(HTTPCall("GET", "/" + String(repeating: "a", count: Limits.HTTP.requestHeadBytes)))
        for call in calls { #expect(desk.send(call) == "malformed", "\(call.path) \(call.headers)") }
        #expect(desk.send() == "1", "canary: a valid call is sent")
    }
}
