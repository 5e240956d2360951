import Basics
import Delivery
import HTTP2Peer
import Testing
import Wire

@testable import Sessions

/// A session whose peer uses HTTP/2.
final class HTTP2Scene {
    typealias Frames = HTTP2Frames

    let harness: HTTPHarness
    let peer = HTTP2Answers()

    init(hello: [UInt8] = Frames.hello, isAdministrative: Bool = false) {
        harness = HTTPHarness(isAdministrative: isAdministrative)
        send(hello)
    }

    func send(_ bytes: [UInt8]) { step { $0.send(bytes) } }

    /// Does something, and reads the session's output.
    func step(_ body: (HTTPHarness) -> Void) {
        body(harness)
        var rounds = 0
        while harness.session.deadline == .distantPast, rounds < 1_000 {
            harness.pass(seconds: 0)
            rounds += 1
        }
        peer.read(harness.bytes)
        harness.bytes = []
    }

    /// Advances the time second by second.
    func pass(seconds: Int) {
        for _ in 0..<seconds { step { $0.pass(seconds: 1) } }
    }

    static let form = Array("app=a.b&device=600000000000000001&sender=123".utf8)
    static let fields = Frames.request(
        "POST", "/c2dm/register3",
        [
            ("authorization", "AidLogin 600000000000000001:700000000000000002"),
            ("content-type", "application/x-www-form-urlencoded"),
        ])

    /// Returns a registration request on a stream.
    static func registration(_ stream: UInt32) -> [UInt8] {
        Frames.headers(stream, fields) + Frames.data(stream, form, ends: true)
    }

    static func token(_ number: UInt64) -> [UInt8] {
        Array("token=".utf8) + HTTPHarness.seal.token(for: HTTPSessionTests.name(number))
    }
}

@Suite struct HTTP2SessionTests {
    typealias Frames = HTTP2Frames

    @Test("The preface selects HTTP/2, whatever the split")
    func preface() {
        for step in [1, 5, 23, 24, 25, 1_000] {
            let scene = HTTP2Scene(hello: [])
            let stream = Frames.hello + HTTP2Scene.registration(1)
            for start in Swift.stride(from: 0, to: stream.count, by: step) {
                scene.send(Array(stream[start..<min(start + step, stream.count)]))
            }
            scene.step { $0.perform(.reply(requestID: 1, .registered(TokenName(HTTPSessionTests.name(1))))) }
            #expect(scene.peer.answers[1]?.body == HTTP2Scene.token(1), "step \(step)")
        }
    }

    @Test("A request that only starts like the preface is HTTP/1.1 (canary for the detection)")
    func noPreface() {
        for text in ["PRI * HTTP/1.1\r\nHost: x\r\n\r\n", "PRINT / HTTP/1.1\r\nHost: x\r\n\r\n"] {
            for step in [1, 4, 100] {
                let harness = HTTPHarness()
                let stream = Array(text.utf8)
                for start in Swift.stride(from: 0, to: stream.count, by: step) {
                    harness.send(Array(stream[start..<min(start + step, stream.count)]))
                }
                let answer = harness.takeSent()
                #expect(answer.hasPrefix("HTTP/1.1 4"))
            }
        }
        let admin = HTTP2Scene(isAdministrative: true)
        #expect(admin.harness.sent.hasPrefix("HTTP/1.1 ") && admin.harness.close != nil)
    }

    @Test("500 concurrent requests are all accepted and answered in any order")
    func concurrency() {
        let scene = HTTP2Scene()
        scene.send(Frames.windowUpdate(0, 1_000_000))
        let count: UInt32 = 500
        for at in 0..<count { scene.send(HTTP2Scene.registration(at * 2 + 1)) }
        #expect(
            scene.harness.events.count == Int(count) && scene.harness.isReading && scene.harness.close == nil)
        for requestID in (1...count).reversed() {
            scene.step {
                $0.perform(
                    .reply(
                        requestID: requestID, .registered(TokenName(HTTPSessionTests.name(UInt64(requestID))))
                    ))
            }
        }
        #expect(scene.peer.order == (0..<count).reversed().map { $0 * 2 + 1 })
        for requestID in 1...count {
            #expect(scene.peer.answers[requestID * 2 - 1]?.body == HTTP2Scene.token(UInt64(requestID)))
        }
        #expect(scene.peer.goAway == nil)
    }

    @Test("All endpoints answer as over HTTP/1.1")
    func endpoints() {
        let scene = HTTP2Scene()
        scene.send(Frames.headers(1, Frames.request("GET", "/none"), ends: true))
        scene.send(Frames.headers(3, Frames.request("GET", "/checkin"), ends: true))
        scene.send(Frames.headers(5, Frames.request("BREW", "/checkin"), ends: true))
        scene.send(Frames.headers(7, Frames.request("HEAD", "/none"), ends: true))
        scene.send(Frames.headers(9, Frames.request("POST", "/checkin")) + Frames.data(9, [], ends: true))
        let statuses = [1, 3, 5, 7].map { scene.peer.answers[$0]?.status }
        #expect(statuses == ["404", "405", "405", "404"])
        #expect(scene.peer.answers[3]?.headers["allow"] == "POST")
        #expect(scene.peer.answers[7]?.body == [] && scene.peer.answers[1]?.body != [])
        #expect(
            scene.peer.answers[9]?.status == "400",
            "an empty body is an invalid check-in; its length is not missing")
    }

    @Test("Requests of reset streams count as work, so that rapid resets get no more than a patient peer")
    func workInHand() {
        let scene = HTTP2Scene()
        for at in 0..<UInt32(Limits.HTTP2.streams + 100) {
            scene.send(HTTP2Scene.registration(at * 2 + 1) + Frames.reset(at * 2 + 1))
        }
        #expect(scene.harness.events.count == 0 && scene.harness.close == nil)
        let other = HTTP2Scene()
        for at in 0..<UInt32(Limits.HTTP2.streams + 100) {
            other.send(HTTP2Scene.registration(at * 2 + 1))
            other.send(Frames.reset(at * 2 + 1))
        }
        #expect(other.harness.events.count == Limits.HTTP2.streams && other.harness.close == nil)
        let last = UInt32(Limits.HTTP2.streams + 100) * 2 + 1
        other.send(HTTP2Scene.registration(last))
        #expect(other.harness.events.count == Limits.HTTP2.streams)
        other.step { $0.perform(.reply(requestID: 1, .registered(TokenName(HTTPSessionTests.name(1))))) }
        #expect(other.harness.events.count == Limits.HTTP2.streams + 1 && other.peer.answers[last] == nil)
        // One answer makes room for one request.
        other.send(HTTP2Scene.registration(last + 2))
        other.send(HTTP2Scene.registration(last + 4))
        #expect(other.harness.events.count == Limits.HTTP2.streams + 1)
    }

    @Test("A peer that sends GOAWAY gets its answers before the connection ends")
    func leaving() {
        let goodbye = Frames.frame(7, [0, 0, 0, 0, 0, 0, 0, 0])
        let idle = HTTP2Scene()
        idle.send(goodbye)
        #expect(idle.harness.close == .responseComplete)
        let scene = HTTP2Scene()
        scene.send(HTTP2Scene.registration(1) + goodbye)
        #expect(scene.harness.close == nil)
        scene.step { $0.perform(.reply(requestID: 1, .registered(TokenName(HTTPSessionTests.name(1))))) }
        #expect(scene.peer.answers[1]?.body == HTTP2Scene.token(1))
        #expect(scene.harness.close == .responseComplete)
    }

    @Test("A drain announces the last stream, finishes the open requests, then closes")
    func drain() {
        let scene = HTTP2Scene()
        scene.send(HTTP2Scene.registration(1) + Frames.headers(3, HTTP2Scene.fields))
        scene.step { $0.perform(.connection(.drain)) }
        #expect(scene.peer.goAway?.last == 3 && scene.peer.goAway?.code == 0 && scene.harness.close == nil)
        scene.send(Frames.data(3, HTTP2Scene.form, ends: true) + HTTP2Scene.registration(5))
        #expect(scene.harness.events.count == 2)
        scene.step { $0.perform(.reply(requestID: 2, .registered(TokenName(HTTPSessionTests.name(2))))) }
        #expect(scene.harness.close == nil)
        scene.step { $0.perform(.reply(requestID: 1, .registered(TokenName(HTTPSessionTests.name(1))))) }
        #expect(scene.peer.order == [3, 1] && scene.harness.close == .connectionDraining)
    }

    @Test("Closing an idle connection sends GOAWAY and is immediate")
    func close() {
        let scene = HTTP2Scene()
        scene.step { $0.perform(.connection(.close(.systemShutdown))) }
        #expect(scene.peer.goAway?.code == 0 && scene.harness.close == .systemShutdown)
    }

    @Test("A congested peer is neither read from nor written to")
    func congestion() {
        let scene = HTTP2Scene()
        scene.send(HTTP2Scene.registration(1))
        scene.step { $0.congested(true) }
        #expect(!scene.harness.isReading)
        scene.step { $0.perform(.reply(requestID: 1, .registered(TokenName(HTTPSessionTests.name(1))))) }
        #expect(scene.peer.answers[1] == nil)
        scene.step { $0.congested(false) }
        #expect(scene.harness.isReading && scene.peer.answers[1]?.isWhole == true)
    }

    @Test("A registration is answered with an error, and the connection ends, when the core does not answer")
    func noAnswer() {
        let scene = HTTP2Scene()
        scene.send(HTTP2Scene.registration(1))
        scene.pass(seconds: Limits.HTTP.answerDeadlineSeconds)
        #expect(scene.peer.answers[1]?.status == "200" && scene.harness.close == .internalError)
        #expect(scene.peer.answers[1]?.body == Array("Error=SERVICE_NOT_AVAILABLE".utf8))
    }
}
