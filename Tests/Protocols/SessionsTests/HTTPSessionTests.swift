import Basics
import Delivery
import Testing
import Wire

@testable import Sessions

@Suite struct HTTPSessionTests {
    static let registration = HTTPHarness.register("app=a.b&device=600000000000000001&sender=123")
    static func name(_ number: UInt64) -> RegistrationName {
        RegistrationName(device: DeviceID(600_000_000_000_000_001), number: RegistrationNumber(number))
    }
    static func token(_ number: UInt64) -> String {
        HTTPHarness.text(
            "token=" + String(decoding: HTTPHarness.seal.token(for: name(number)), as: UTF8.self))
    }
    static func get(_ path: String, _ method: String = "GET") -> String {
        "\(method) \(path) HTTP/1.1\r\nHost: x\r\n\r\n"
    }

    @Test("Answers are sent in the order of the requests, in whatever order the replies arrive")
    func order() {
        let harness = HTTPHarness()
        harness.send(Self.registration + Self.get("/none") + Self.registration)
        harness.perform(.reply(requestID: 3, .registered(TokenName(Self.name(3)))))
        let early = harness.takeSent()
        #expect(early.isEmpty)
        harness.perform(.reply(requestID: 1, .registered(TokenName(Self.name(1)))))
        let all = harness.takeSent()
        #expect(
            all == Self.token(1) + HTTPHarness.text("There is nothing at this path.\n", "404 Not Found")
                + Self.token(3))
        let records = harness.records
        #expect(records == 3)
    }

    @Test("A reply with an unknown request ID changes nothing (canary for the order)")
    func strayAnswers() {
        let harness = HTTPHarness()
        harness.perform(.reply(requestID: 1, .registered(TokenName(Self.name(1)))))
        harness.perform(.reply(requestID: 0, .unregistered))
        harness.send(Self.registration)
        harness.perform(.reply(requestID: 1, .unregistered))
        harness.perform(.reply(requestID: 1, .checkedIn(DeviceID(5), freshToken: 6)))
        harness.perform(.reply(requestID: 2, .registered(TokenName(Self.name(2)))))
        let nothing = harness.takeSent()
        #expect(nothing.isEmpty)
        harness.perform(.reply(requestID: 1, .registered(TokenName(Self.name(1)))))
        harness.perform(.reply(requestID: 1, .registered(TokenName(Self.name(9)))))
        let one = harness.takeSent()
        #expect(one == Self.token(1))
    }

    @Test("Any split of the stream gives the same answers")
    func splits() {
        let stream = Array((Self.registration + Self.get("/checkin") + Self.get("/none", "HEAD")).utf8)
        for step in [1, 2, 3, 7, 50] {
            let harness = HTTPHarness()
            for start in Swift.stride(from: 0, to: stream.count, by: step) {
                harness.send(Array(stream[start..<min(start + step, stream.count)]))
            }
            harness.perform(.reply(requestID: 1, .registered(TokenName(Self.name(1)))))
            let all = harness.takeSent()
            let missing = "There is nothing at this path.\n"
            let head = HTTPHarness.text(missing, "404 Not Found").dropLast(missing.utf8.count)
            let refused = HTTPHarness.text(
                "The path does not accept this method.\n", "405 Method Not Allowed", extra: "Allow: POST\r\n")
            #expect(all == Self.token(1) + refused + head, "step \(step)")
        }
    }

    @Test(
        "A request that no endpoint accepts is refused",
        arguments: [
            ("GET /c2dm/register3", "405"), ("PUT /checkin", "405"), ("BREW /checkin", "405"),
            ("POST /checkin", "411"), ("POST /", "404"), ("POST /checkin/", "411"), ("POST //checkin", "411"),
            ("GET /metrics", "404"), ("GET /healthz", "404"), ("POST /v1/projects//installations", "404"),
            ("POST /v1/projects/a/installations", "411"), ("GET /v1/projects/a/installations", "405"),
            ("GET /../etc/passwd", "404"), ("GET /%2e%2e/", "404"),
        ])
    func refused(line: String, status: String) {
        let harness = HTTPHarness()
        harness.send("\(line) HTTP/1.1\r\nHost: x\r\n\r\n")
        let text = harness.takeSent()
        #expect(text.hasPrefix("HTTP/1.1 \(status) "))
        let close = harness.close
        #expect(close == nil)
    }

    @Test("An unreadable request is answered, and ends the connection")
    func unreadable() {
        let harness = HTTPHarness()
        harness.send(Self.registration + "GET / HTTP/1.1\r\n\r\n")
        let early = (harness.takeSent(), harness.close)
        #expect(early.0.isEmpty && early.1 == nil)
        harness.perform(.reply(requestID: 1, .registered(TokenName(Self.name(1)))))
        let all = harness.takeSent()
        #expect(
            all == Self.token(1)
                + HTTPHarness.text(
                    "invalid Host: expected exactly one\n", "400 Bad Request", extra: "Connection: close\r\n")
        )
        let close = harness.close
        #expect(close == .protocolViolation)
    }

    @Test("A body over the limit is refused before it is sent")
    func tooLarge() {
        let harness = HTTPHarness()
        harness.send("POST /checkin HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n")
        let end = (harness.takeSent(), harness.close)
        #expect(end.0.hasPrefix("HTTP/1.1 413 ") && end.1 == .tooLarge)
    }

    @Test("Connection: close is honoured when the answer is written")
    func closes() {
        let harness = HTTPHarness()
        let request = HTTPHarness.register(
            "app=a&device=600000000000000001&sender=1", headers: "Connection: close\r\n")
        harness.send(request + Self.get("/none"))
        harness.perform(.reply(requestID: 1, .registered(TokenName(Self.name(1)))))
        let end = (harness.takeSent(), harness.close)
        #expect(end.0.hasPrefix("HTTP/1.1 200 OK\r\n") && end.0.contains("\r\nConnection: close\r\n"))
        #expect(!end.0.contains("404"))
        #expect(end.1 == .responseComplete)
    }

    @Test("A client that waits for 100 Continue gets it once, after earlier answers")
    func continuation() {
        let harness = HTTPHarness()
        let form = "app=a&device=600000000000000001&sender=1"
        let waiting = HTTPHarness.register(form, headers: "Expect: 100-continue\r\n").dropLast(
            form.utf8.count)
        harness.send(Self.registration + waiting)
        let early = harness.takeSent()
        #expect(early.isEmpty)
        harness.perform(.reply(requestID: 1, .registered(TokenName(Self.name(1)))))
        let middle = harness.takeSent()
        #expect(middle == Self.token(1) + "HTTP/1.1 100 Continue\r\n\r\n")
        harness.send(form)
        harness.perform(.reply(requestID: 2, .registered(TokenName(Self.name(2)))))
        let last = harness.takeSent()
        #expect(last == Self.token(2))
    }

    @Test("Pipelined requests beyond the limit wait unread, and continue when answers are sent")
    func pipelining() {
        let harness = HTTPHarness()
        harness.send(String(repeating: Self.registration, count: Limits.HTTP.pipelinedRequests + 3))
        let full = (harness.events.count, harness.isReading)
        #expect(full == (Limits.HTTP.pipelinedRequests, false))
        harness.perform(.reply(requestID: 1, .registered(TokenName(Self.name(1)))))
        harness.perform(.reply(requestID: 2, .registered(TokenName(Self.name(2)))))
        let more = (harness.events.count, harness.isReading)
        #expect(more == (Limits.HTTP.pipelinedRequests + 2, false))
        for requestID in 3...UInt32(Limits.HTTP.pipelinedRequests + 3) {
            harness.perform(
                .reply(requestID: requestID, .registered(TokenName(Self.name(UInt64(requestID))))))
        }
        let all = (harness.isReading, harness.records)
        #expect(all == (true, Limits.HTTP.pipelinedRequests + 3))
    }

    @Test("One call writes a limited amount, and the next wake continues")
    func amplification() {
        let harness = HTTPHarness()
        let count = 3_000
        harness.send(String(repeating: Self.get("/"), count: count))
        let first = (harness.takeSent().utf8.count, harness.isReading)
        #expect(first.0 < Limits.Connection.outboundLowBytes + 8_192 && !first.1)
        var rounds = 0
        while harness.records < count, rounds < 100 {
            harness.pass(seconds: 0)
            rounds += 1
        }
        let end = (harness.records, harness.isReading)
        #expect(end == (count, true))
    }

    @Test("A congested peer is not read from until it has caught up")
    func congestion() {
        let harness = HTTPHarness()
        harness.congested(true)
        harness.send(Self.registration)
        let during = (harness.events.count, harness.isReading)
        #expect(during == (0, false))
        harness.congested(false)
        let after = (harness.events.count, harness.isReading)
        #expect(after == (1, true))
    }
}
