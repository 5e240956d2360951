import Basics
import Delivery
import HTTP2Peer
import Testing
import Wire

@testable import Sessions

@Suite struct HTTP2PaceTests {
    typealias Frames = HTTP2Frames

    @Test("A connection without requests ends, whether it sends pings or not")
    func idle() {
        let scene = HTTP2Scene()
        for _ in 0..<Limits.HTTP.requestDeadlineSeconds - 1 {
            scene.pass(seconds: 1)
            scene.send(Frames.ping)
        }
        #expect(scene.harness.close == nil)
        scene.pass(seconds: 1)
        #expect(scene.harness.close == .idle && scene.peer.goAway?.code == 0)
        let kept = HTTP2Scene()
        kept.pass(seconds: 20)
        kept.send(Frames.headers(1, Frames.request("GET", "/"), ends: true))
        kept.pass(seconds: Limits.HTTP.requestIdleSeconds - 1)
        #expect(kept.harness.close == nil)
        kept.pass(seconds: 1)
        #expect(kept.harness.close == .idle)
    }

    @Test("A request whose body does not arrive is refused with 408, and other requests continue")
    func noBody() {
        let scene = HTTP2Scene()
        scene.send(Frames.headers(1, Frames.request("GET", "/")))
        scene.pass(seconds: 2)
        scene.send(HTTP2Scene.registration(3))
        scene.pass(seconds: Limits.HTTP.bodyGraceSeconds + 1)
        #expect(scene.peer.answers[1]?.status == "408" && scene.peer.answers[1]?.reset == 0)
        #expect(scene.harness.responses.map(\.status) == [.requestTimeout], "it is counted")
        scene.step { $0.perform(.reply(requestID: 1, .registered(TokenName(HTTPSessionTests.name(1))))) }
        #expect(scene.peer.answers[3]?.status == "200" && scene.harness.close == nil)
    }

    @Test("The connection ends when a header block is never completed, because no other frame can follow")
    func slowHead() {
        let scene = HTTP2Scene()
        scene.send(Frames.headers(1, Frames.request("GET", "/"), isWhole: false))
        scene.pass(seconds: Limits.HTTP.requestDeadlineSeconds - 1)
        #expect(scene.harness.close == nil)
        scene.pass(seconds: 2)
        #expect(scene.harness.close == .requestDeadline && scene.harness.events.isEmpty)
    }

    @Test("A slow body is refused after its grace time, and one at the minimum rate continues (canary)")
    func slowBody() {
        let scene = HTTP2Scene()
        scene.send(Frames.headers(1, HTTP2Scene.fields) + Frames.headers(3, HTTP2Scene.fields))
        let enough = [UInt8](repeating: 0x61, count: Limits.HTTP.bodyBytesPerSecond)
        for _ in 0..<Limits.HTTP.bodyGraceSeconds + 3 {
            scene.send(Frames.data(1, [0x61]) + Frames.data(3, enough))
            scene.pass(seconds: 1)
        }
        #expect(scene.peer.answers[1]?.status == "408" && scene.peer.answers[3] == nil)
        for _ in 0..<Limits.HTTP.requestDeadlineSeconds {
            scene.send(Frames.data(3, enough))
            scene.pass(seconds: 1)
        }
        #expect(scene.peer.answers[3]?.status == "408" && scene.harness.close != .flood)
    }

    @Test("A peer that waits for its turn to send a long body does not count as slow")
    func waitingForTurn() {
        let scene = HTTP2Scene()
        let size = 1_000_000
        let long = Frames.request("POST", "/checkin", [("content-length", "\(size)")])
        for stream: UInt32 in [1, 3, 5] { scene.send(Frames.headers(stream, long)) }
        scene.send(Frames.data(5, [UInt8](repeating: 0x61, count: Limits.HTTP2.streamWindowBytes)))
        let piece = [UInt8](repeating: 0x61, count: 10_000)
        // Two at a steady rate, in 20 seconds; the third has to wait that long.
        for at in 1...20 {
            for _ in 0..<5 {
                for stream: UInt32 in [1, 3] { scene.send(Frames.data(stream, piece)) }
            }
            scene.pass(seconds: 1)
            #expect(scene.peer.answers[5] == nil, "after \(at) seconds")
        }
        scene.send(Frames.reset(1) + Frames.reset(3))
        let rest = size - Limits.HTTP2.streamWindowBytes
        for _ in 0..<rest / 10_000 {
            scene.send(Frames.data(5, piece))
            scene.pass(seconds: 0)
        }
        scene.pass(seconds: 12)
        #expect(scene.peer.answers[5] == nil, "its deadline restarted with its turn")
        scene.send(Frames.data(5, [UInt8](repeating: 0x61, count: rest % 10_000), ends: true))
        #expect(scene.peer.answers[5]?.status == "400" && scene.harness.close == nil)
    }

    @Test("A peer that opens no window for its answers is closed as a slow consumer")
    func zeroWindow() {
        let scene = HTTP2Scene(hello: Frames.preface + Frames.settings([(4, 0)]) + Frames.settingsAck)
        scene.send(Frames.headers(1, Frames.request("GET", "/"), ends: true))
        #expect(scene.peer.answers[1]?.status == "404" && scene.peer.answers[1]?.body == [])
        scene.pass(seconds: Limits.Connection.writeDeadlineSeconds - 1)
        scene.send(Frames.windowUpdate(1, 1))
        #expect(scene.peer.answers[1]?.body.count == 1)
        scene.pass(seconds: Limits.Connection.writeDeadlineSeconds - 1)
        #expect(scene.harness.close == nil, "a sent byte restarts the deadline")
        scene.pass(seconds: 2)
        #expect(scene.harness.close == .slowConsumer)
    }

    @Test("No further requests are accepted, and the connection stays open, when answers are not read")
    func heldAnswers() {
        let scene = HTTP2Scene(hello: Frames.preface + Frames.settings([(4, 0)]) + Frames.settingsAck)
        let count = 300
        for at in 0..<UInt32(count) { scene.send(HTTP2Scene.registration(at * 2 + 1)) }
        for requestID in 1...UInt32(count) {
            scene.step { $0.answer(requestID, String(repeating: "a", count: 8_192)) }
        }
        let last = UInt32(count) * 2 + 1
        scene.send(HTTP2Scene.registration(last))
        #expect(scene.harness.events.count == count && scene.harness.close == nil && scene.harness.isReading)
        scene.send(Frames.settings([(4, 100_000)]) + Frames.windowUpdate(0, 10_000_000))
        #expect(scene.harness.events.count == count + 1 && scene.peer.order.count == count)
    }

    @Test("Rapid resets end the connection", arguments: [true, false])
    func rapidResets(areAnswered: Bool) {
        let scene = HTTP2Scene()
        var count = 0
        while scene.harness.close == nil, count < 2 * Limits.HTTP2.resets {
            let stream = UInt32(count) * 2 + 1
            scene.send(HTTP2Scene.registration(stream))
            scene.send(Frames.reset(stream))
            if areAnswered {
                let requestID = UInt32(count) + 1
                scene.step {
                    $0.perform(.reply(requestID: requestID, .registered(TokenName(HTTPSessionTests.name(1)))))
                }
            }
            count += 1
        }
        #expect(scene.harness.close == .flood && count == Limits.HTTP2.resets + 1)
        #expect(scene.peer.goAway?.code == 11)
    }

    @Test(
        "The connection ends when it is flooded with useless frames",
        arguments: [
            Frames.ping, Frames.settings(), Frames.windowUpdate(0, 1), Frames.data(1, []),
            Frames.data(1, [0x61]),
            Frames.frame(2, stream: 1, [0, 0, 0, 0, 1]),
        ])
    func floods(frame: [UInt8]) {
        let scene = HTTP2Scene()
        scene.send(Frames.headers(1, HTTP2Scene.fields))
        var count = 0
        while scene.harness.close == nil, count < 2 * Limits.HTTP2.idleFrames {
            scene.send(frame)
            count += 1
        }
        #expect(scene.harness.close == .flood && count <= Limits.HTTP2.idleFrames)
    }

    @Test("A client that sends a window update for each piece it has read is not a flood")
    func busyClient() {
        let scene = HTTP2Scene()
        for at in 0..<UInt32(2_000) {
            scene.send(Frames.headers(at * 2 + 1, Frames.request("GET", "/"), ends: true))
            scene.send(Frames.windowUpdate(0, 100) + Frames.windowUpdate(0, 100) + Frames.ping)
        }
        #expect(scene.harness.close == nil && scene.peer.order.count == 2_000)
    }

    @Test("A protocol violation closes the connection with its reason")
    func violations() {
        let scene = HTTP2Scene()
        scene.send(HTTP2Scene.registration(1) + Frames.data(0, [1]))
        #expect(scene.harness.close == .protocolViolation && scene.peer.goAway?.code == 1)
        let bomb = HTTP2Scene()
        let field = [0x40] + Frames.text("a") + Frames.text(String(repeating: "b", count: 4_000))
        let block = Frames.block(Frames.request("GET", "/")) + field + [UInt8](repeating: 0xBE, count: 9_000)
        bomb.send(Frames.frame(1, flags: 5, stream: 1, block))
        #expect(bomb.harness.close == .flood)
    }
}
