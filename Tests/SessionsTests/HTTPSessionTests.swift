import Basics
import Delivery
import Testing
import Wire

@testable import Sessions

@Suite struct HTTPSessionTests {
    static let registration = HTTPDesk.register("app=a.b&device=600000000000000001&sender=123")
    static func name(_ number: UInt64) -> RegistrationName {
        RegistrationName(device: DeviceID(600_000_000_000_000_001), number: RegistrationNumber(number))
    }
    static func token(_ number: UInt64) -> String {
        HTTPDesk.text("token=" + String(decoding: HTTPDesk.seal.token(for: name(number)), as: UTF8.self))
    }
    static func get(_ path: String, _ method: String = "GET") -> String {
        "\(method) \(path) HTTP/1.1\r\nHost: x\r\n\r\n"
    }

    @Test("Answers leave in the order of the requests, whatever order they come in")
    func order() {
        let desk = HTTPDesk()
        desk.send(Self.registration + Self.get("/none") + Self.registration)
        desk.perform(.reply(requestID: 3, .registered(Self.name(3))))
        let early = desk.taken()
        #expect(early.isEmpty)
        desk.perform(.reply(requestID: 1, .registered(Self.name(1))))
        let all = desk.taken()
        #expect(
            all == Self.token(1) + HTTPDesk.text("There is nothing at this path.\n", "404 Not Found")
                + Self.token(3))
        let records = desk.records
        #expect(records == 3)
    }

    @Test("An answer for a request ID that is not open changes nothing (canary for the order)")
    func strayAnswers() {
        let desk = HTTPDesk()
        desk.perform(.reply(requestID: 1, .registered(Self.name(1))))
        desk.perform(.reply(requestID: 0, .unregistered))
        desk.send(Self.registration)
        desk.perform(.reply(requestID: 1, .unregistered))
        desk.perform(.reply(requestID: 1, .checkedIn(DeviceID(5), freshToken: 6)))
        desk.perform(.reply(requestID: 2, .registered(Self.name(2))))
        let nothing = desk.taken()
        #expect(nothing.isEmpty)
        desk.perform(.reply(requestID: 1, .registered(Self.name(1))))
        desk.perform(.reply(requestID: 1, .registered(Self.name(9))))
        let one = desk.taken()
        #expect(one == Self.token(1))
    }

    @Test("Any split of the stream gives the same answers")
    func splits() {
        let stream = Array((Self.registration + Self.get("/checkin") + Self.get("/none", "HEAD")).utf8)
        for step in [1, 2, 3, 7, 50] {
            let desk = HTTPDesk()
            for start in Swift.stride(from: 0, to: stream.count, by: step) {
                desk.send(Array(stream[start..<min(start + step, stream.count)]))
            }
            desk.perform(.reply(requestID: 1, .registered(Self.name(1))))
            let all = desk.taken()
            let missing = "There is nothing at this path.\n"
            let head = HTTPDesk.text(missing, "404 Not Found").dropLast(missing.utf8.count)
            let refused = HTTPDesk.text(
                "The path does not take this method.\n", "405 Method Not Allowed", extra: "Allow: POST\r\n")
            #expect(all == Self.token(1) + refused + head, "step \(step)")
        }
    }

    @Test(
        "What no endpoint takes is refused",
        arguments: [
            ("GET /c2dm/register3", "405"), ("PUT /checkin", "405"), ("BREW /checkin", "405"),
            ("POST /checkin", "411"), ("POST /", "404"), ("POST /checkin/", "404"), ("POST //checkin", "404"),
            ("GET /metrics", "404"), ("GET /healthz", "404"), ("POST /v1/projects//installations", "404"),
            ("POST /v1/projects/a/installations", "411"), ("GET /v1/projects/a/installations", "405"),
            ("GET /../etc/passwd", "404"), ("GET /%2e%2e/", "404"),
        ])
    func refused(line: String, status: String) {
        let desk = HTTPDesk()
        desk.send("\(line) HTTP/1.1\r\nHost: x\r\n\r\n")
        let text = desk.taken()
        #expect(text.hasPrefix("HTTP/1.1 \(status) "))
        let close = desk.close
        #expect(close == nil)
    }

    @Test("A request that cannot be read is answered, and ends the connection")
    func unreadable() {
        let desk = HTTPDesk()
        desk.send(Self.registration + "GET / HTTP/1.1\r\n\r\n")
        let early = (desk.taken(), desk.close)
        #expect(early.0.isEmpty && early.1 == nil)
        desk.perform(.reply(requestID: 1, .registered(Self.name(1))))
        let all = desk.taken()
        #expect(
            all == Self.token(1)
                + HTTPDesk.text(
                    "invalid Host: expected exactly one\n", "400 Bad Request", extra: "Connection: close\r\n")
        )
        let close = desk.close
        #expect(close == .protocolViolation)
    }

    @Test("A body over the limit is refused before it is sent")
    func tooLarge() {
        let desk = HTTPDesk()
        desk.send("POST /checkin HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n")
        let end = (desk.taken(), desk.close)
        #expect(end.0.hasPrefix("HTTP/1.1 413 ") && end.1 == .tooLarge)
    }

    @Test("Connection: close is honoured once the answer is written")
    func closes() {
        let desk = HTTPDesk()
        let request = HTTPDesk.register(
            "app=a&device=600000000000000001&sender=1", headers: "Connection: close\r\n")
        desk.send(request + Self.get("/none"))
        desk.perform(.reply(requestID: 1, .registered(Self.name(1))))
        let end = (desk.taken(), desk.close)
        #expect(end.0.hasPrefix("HTTP/1.1 200 OK\r\n") && end.0.contains("\r\nConnection: close\r\n"))
        #expect(!end.0.contains("404"))
        #expect(end.1 == .responseComplete)
    }

    @Test("Whoever waits for 100 Continue gets it once, after earlier answers")
    func continuation() {
        let desk = HTTPDesk()
        let form = "app=a&device=600000000000000001&sender=1"
        let waiting = HTTPDesk.register(form, headers: "Expect: 100-continue\r\n").dropLast(form.utf8.count)
        desk.send(Self.registration + waiting)
        let early = desk.taken()
        #expect(early.isEmpty)
        desk.perform(.reply(requestID: 1, .registered(Self.name(1))))
        let middle = desk.taken()
        #expect(middle == Self.token(1) + "HTTP/1.1 100 Continue\r\n\r\n")
        desk.send(form)
        desk.perform(.reply(requestID: 2, .registered(Self.name(2))))
        let last = desk.taken()
        #expect(last == Self.token(2))
    }

    @Test("Pipelined requests beyond the limit wait unread, and go on when answers leave")
    func pipelining() {
        let desk = HTTPDesk()
        desk.send(String(repeating: Self.registration, count: Limits.HTTP.pipelinedRequests + 3))
        let full = (desk.events.count, desk.isReading)
        #expect(full == (Limits.HTTP.pipelinedRequests, false))
        desk.perform(.reply(requestID: 1, .registered(Self.name(1))))
        desk.perform(.reply(requestID: 2, .registered(Self.name(2))))
        let more = (desk.events.count, desk.isReading)
        #expect(more == (Limits.HTTP.pipelinedRequests + 2, false))
        for requestID in 3...UInt32(Limits.HTTP.pipelinedRequests + 3) {
            desk.perform(.reply(requestID: requestID, .registered(Self.name(UInt64(requestID)))))
        }
        let all = (desk.isReading, desk.records)
        #expect(all == (true, Limits.HTTP.pipelinedRequests + 3))
    }

    @Test("One call writes a bounded amount, and the next wake goes on")
    func amplification() {
        let desk = HTTPDesk()
        let count = 3_000
        desk.send(String(repeating: Self.get("/"), count: count))
        let first = (desk.taken().utf8.count, desk.isReading)
        #expect(first.0 < Limits.Connection.outboundLowBytes + 8_192 && !first.1)
        var rounds = 0
        while desk.records < count, rounds < 100 {
            desk.pass(seconds: 0)
            rounds += 1
        }
        let end = (desk.records, desk.isReading)
        #expect(end == (count, true))
    }

    @Test("A congested peer is not read from until it has caught up")
    func congestion() {
        let desk = HTTPDesk()
        desk.congested(true)
        desk.send(Self.registration)
        let during = (desk.events.count, desk.isReading)
        #expect(during == (0, false))
        desk.congested(false)
        let after = (desk.events.count, desk.isReading)
        #expect(after == (1, true))
    }
}
