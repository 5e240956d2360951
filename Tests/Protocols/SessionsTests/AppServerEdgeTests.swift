import Basics
import Delivery
import Testing
import Wire

@testable import Sessions

/// Edge cases of an app server session: freed resources, counts, repeated and early input.
@Suite struct AppServerEdgeTests {
    @Test("keepalives are disabled by 0 seconds, and each is counted otherwise")
    func keepalive() {
        let silent = AppServerHarness.ready { $0.keepaliveSeconds = 0 }
        let never = silent.session.deadline
        #expect(never == .distantFuture)
        var bench = AppServerHarness.ready { $0.keepaliveSeconds = 5 }
        for _ in 0..<2 { bench.pass(milliseconds: 5_000) }
        let (text, count) = (bench.takeSent(), bench.io.counts.keepalives)
        #expect(text == "  " && count == 2)
    }

    @Test("a session reads again when half of its queue is gone")
    func readsAtHalf() {
        var bench = AppServerHarness.ready { $0.pendingWindow = 1 }
        let value = String(repeating: "v", count: 4_000)
        for number in 0...70 { bench.feed(AppServerHarness.downstream("m\(number)", value: value)) }
        let isFull = !bench.io.isReading
        #expect(isFull)
        var answers = 0
        while !bench.io.isReading, let requestID = bench.requestID() {
            bench.perform(.submission(requestID: requestID, .accepted(id: nil, canonical: nil)))
            answers += 1
        }
        #expect(answers > 30 && answers < 60)
    }

    @Test("a repeated message ID gets its own refusal, not that of draining, when the session drains")
    func repeatedWhileDraining() {
        var bench = AppServerHarness.ready()
        bench.feed(AppServerHarness.downstream("1"))
        bench.perform(.connection(.drain))
        _ = bench.takeSent()
        bench.feed(AppServerHarness.downstream("1"))
        let repeated = bench.takeSent()
        #expect(repeated.contains("\"error\":\"INVALID_JSON\"") && repeated.contains("same id"))
        bench.feed(AppServerHarness.downstream("2"))
        let fresh = bench.takeSent()
        #expect(fresh.contains("\"error\":\"CONNECTION_DRAINING\""), "canary")
    }

    @Test(
        "a session whose partition moves to another node announces that, answers what it has, and ends",
        arguments: [true, false])
    func ownerChanged(isAnswered: Bool) {
        var bench = AppServerHarness.ready()
        bench.feed(AppServerHarness.downstream("1"))
        let request = bench.requestID()
        if isAnswered, let request {
            bench.perform(.submission(requestID: request, .accepted(id: nil, canonical: nil)))
        }
        _ = bench.takeSent()
        bench.perform(.connection(.close(.ownerChanged)))
        let sent = bench.takeSent()
        #expect(sent.contains("CONNECTION_DRAINING") && !sent.contains("system-shutdown"))
        #expect(sent.hasSuffix("</stream:stream>") == isAnswered)
        guard !isAnswered, let request else { return }
        bench.perform(.submission(requestID: request, .accepted(id: nil, canonical: nil)))
        let rest = bench.takeSent()
        #expect(rest.contains("\"message_type\":\"ack\"") && rest.hasSuffix("</stream:stream>"))
    }

    @Test("a session gives up no receipt by itself, however many there are and whatever the window")
    func narrowerWindow() {
        var bench = AppServerHarness.ready()
        for number in 1...3 as ClosedRange<UInt64> { bench.deliver(number, kind: .receipt(sentAt: 1)) }
        bench.perform(.appServer(.changePendingWindow(1)))
        let before = bench.takeResults()
        bench.perform(.appServer(.release(SequenceNumber(1))))
        let after = bench.takeResults()
        #expect(before.isEmpty && after == ["1 unanswered"], "the core decides")
    }

    @Test("the end of a session is reported once when its stream is resumed elsewhere")
    func goneOnce() {
        var bench = AppServerHarness.managed()
        bench.perform(.connection(.close(.streamResumed)))
        bench.lose()
        let words = bench.takeEventNames()
        #expect(words == ["sender.streamDetached", "sender.closed"])
    }

    @Test("a session is reported as writable when all waiting messages are written")
    func relieved() {
        var bench = AppServerHarness.ready()
        bench.congest(true)
        var body = ByteBuffer()
        let value = [UInt8](repeating: UInt8(ascii: "<"), count: Limits.Message.payloadBytes - 1)
        AppData.append(key: Array("a".utf8).raw, value: value.raw, to: &body)
        for number in 1...UInt64(Limits.AppServer.pendingWindow) {
            bench.deliver(number, body: body.copied())
        }
        _ = bench.takeEvents()
        bench.congest(false)
        let early = bench.takeEventNames()
        #expect(early.isEmpty, "messages still wait to be written")
        var rounds = 0
        while bench.session.deadline <= bench.now.monotonic.advanced(milliseconds: 10), rounds < 1_000 {
            bench.pass(milliseconds: 10)
            rounds += 1
        }
        let late = bench.takeEventNames()
        #expect(late == ["sender.writable"] && rounds > 1)
    }

    @Test("a session waits for the answer to a message until the core withdraws it, whatever its lifetime")
    func promptMessage() {
        var bench = AppServerHarness.ready { $0.pendingWindow = 2 }
        bench.deliver(1, expiresAt: 0, lifetimeSeconds: 0)
        bench.deliver(2, expiresAt: 1_000)
        bench.now.wall = 2_000
        bench.deliver(3)
        bench.deliver(4)
        bench.perform(.appServer(.withdraw(SequenceNumber(4))))
        let count = bench.session.outstanding.messageCount
        #expect(count == 3)
        for id in ["u1", "u2", "u3", "u4", "u9"] {
            let to = AppServerHarness.token
            bench.feed(
                AppServerHarness.message(#"{"to":"\#(to)","message_id":"\#(id)","message_type":"ack"}"#))
        }
        let settled = bench.takeResults()
        #expect(settled == ["1 acknowledged", "2 acknowledged", "3 acknowledged"])
        let unknown = bench.io.counts.unknownAcks
        #expect(unknown == 1, "no message with the last ID was sent")
    }

    @Test("request IDs are reused when a connection has submitted many messages")
    func ticketsAreFreed() {
        var submissions = AppServerSubmissions(window: 1)
        var lost = 0
        for _ in 0..<70_000 {
            let requestID = submissions.open(messageID: [1], to: [], hash: 0)
            if submissions.close(requestID)?.messageID != [1] { lost += 1 }
        }
        #expect(lost == 0)
    }
}
