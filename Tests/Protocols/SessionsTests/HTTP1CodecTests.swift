import Basics
import Testing
import Wire

@testable import Sessions

/// The slots of HTTP/1.1: each request has one answer, whatever the owner reports twice, late, or of none.
@Suite("Slots of HTTP/1.1") struct HTTP1CodecTests {
    private let now = Now(monotonic: Instant(nanoseconds: 1), wall: 1_795_156_966_123)

    private func codec(requests: Int) -> HTTP1Codec {
        let codec = HTTP1Codec(HTTPRefusals(endpoints: [], settings: SharedSettings(HTTPHarness.settings)))
        for _ in 0..<requests { codec.receive(Array("GET / HTTP/1.1\r\nHost: x\r\n\r\n".utf8).raw, now: now) }
        for number in 0..<requests { #expect(codec.next(now: now)?.number == UInt32(number)) }
        return codec
    }

    private func written(_ codec: HTTP1Codec) -> String {
        var out = Outbox()
        _ = codec.write(isCongested: false, now: now, to: &out)
        return String(decoding: out.bytes.copied(), as: UTF8.self)
    }

    private func response(_ text: String) -> HTTPResponse {
        HTTPResponse(.ok, HTTPResponse.text, Array(text.utf8))
    }

    @Test("the first answer to a request stands; one to no request is dropped")
    func answers() {
        let codec = codec(requests: 2)
        codec.answer(1, response("first"), now: now)
        codec.answer(1, response("second"), now: now)
        codec.answer(2, response("none"), now: now)
        codec.stream(1, HTTPResponse.text, Array("late".utf8), isLast: true, now: now)
        codec.stream(2, HTTPResponse.text, Array("none".utf8), isLast: true, now: now)
        #expect(written(codec).isEmpty && codec.hasRoom)
        codec.answer(0, response("zero"), now: now)
        let text = written(codec)
        #expect(text.contains("zero") && text.hasSuffix("first"))
        // It has no slot any more.
        codec.answer(0, response("again"), now: now)
        #expect(written(codec).isEmpty && codec.isIdle)
    }

    @Test("a stream goes on as one, even if an answer comes between")
    func streams() {
        let codec = codec(requests: 1)
        codec.stream(0, HTTPResponse.text, Array("one".utf8), isLast: false, now: now)
        codec.answer(0, response("answer"), now: now)
        codec.stream(0, HTTPResponse.text, Array("two".utf8), isLast: true, now: now)
        let text = written(codec)
        #expect(text.hasSuffix("onetwo") && codec.isFinished)
    }
}
