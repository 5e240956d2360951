import Basics
import Delivery
import HTTP2Peer
import Testing
import Wire

@testable import Sessions

@Suite struct HTTP2PaceTests {
    typealias Frames = HTTP2Frames

    @Test("A connection that asks nothing ends, pings or not")
    func idle() {
        let scene = HTTP2Scene()
        for _ in 0..<Limits.HTTP.requestDeadlineSeconds - 1 {
            scene.pass(seconds: 1)
            scene.send(Frames.ping)
        }
        #expect(scene.desk.close == nil)
        scene.pass(seconds: 1)
        #expect(scene.desk.close == .idle && scene.peer.goAway?.code == 0)
        let kept = HTTP2Scene()
        kept.pass(seconds: 20)
        kept.send(Frames.headers(1, Frames.request("GET", "/"), ends: true))
        kept.pass(seconds: Limits.HTTP.requestIdleSeconds - 1)
        #expect(kept.desk.close == nil)
        kept.pass(seconds: 1)
        #expect(kept.desk.close == .idle)
    }

    @Test("A body that does not come is refused with 408; others on the connection go on")
    func noBody() {
        let scene = HTTP2Scene()
        scene.send(Frames.headers(1, Frames.request("GET", "/")))
        scene.pass(seconds: 2)
        scene.send(HTTP2Scene.registration(3))
        scene.pass(seconds: Limits.HTTP.bodyGraceSeconds + 1)
        #expect(scene.peer.answers[1]?.status == "408" && scene.peer.answers[1]?.reset == 0)
        scene.step { $0.perform(.reply(requestID: 1, .registered(HTTPSessionTests.name(1)))) }
        #expect(scene.peer.answers[3]?.status == "200" && scene.desk.close == nil)
    }

    @Test("Headers that do not end, end the connection: nothing else can come behind them")
    func slowHead() {
        let scene = HTTP2Scene()
        scene.send(Frames.headers(1, Frames.request("GET", "/"), isWhole: false))
        scene.pass(seconds: Limits.HTTP.requestDeadlineSeconds - 1)
        #expect(scene.desk.close == nil)
        scene.pass(seconds: 2)
        #expect(scene.desk.close == .requestDeadline && scene.desk.events.isEmpty)
    }

    @Test("A body that drips is refused once its grace is over; one at the least rate goes on (canary)")
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
        #expect(scene.peer.answers[3]?.status == "408" && scene.desk.close != .flood)
    }

    @Test("Whoever waits for its turn to send a long body is not slow")
    func waitingForTurn() {
        let scene = HTTP2Scene()
        let size = 1_000_000
        let long = Frames.request("POST", "/checkin", [("content-length", "\(size)")])
        for stream: UInt32 in [1, 3, 5] { scene.send(Frames.headers(stream, long)) }
        scene.send(Frames.data(5, [UInt8](repeating: 0x61, count: Limits.HTTP2.streamWindowBytes)))
        let piece = [UInt8](repeating: 0x61, count: 10_000)
        // Two at a steady pace, in 20 seconds; the third has to wait so long.
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
        #expect(scene.peer.answers[5] == nil, "its time began anew with its turn")
        scene.send(Frames.data(5, [UInt8](repeating: 0x61, count: rest % 10_000), ends: true))
        #expect(scene.peer.answers[5]?.status == "400" && scene.desk.close == nil)
    }

    @Test("A peer that opens no window for its answers is a slow consumer")
    func zeroWindow() {
        let scene = HTTP2Scene(hello: Frames.preface + Frames.settings([(4, 0)]) + Frames.settingsAck)
        scene.send(Frames.headers(1, Frames.request("GET", "/"), ends: true))
        #expect(scene.peer.answers[1]?.status == "404" && scene.peer.answers[1]?.body == [])
        scene.pass(seconds: Limits.Connection.writeDeadlineSeconds - 1)
        scene.send(Frames.windowUpdate(1, 1))
        #expect(scene.peer.answers[1]?.body.count == 1)
        scene.pass(seconds: Limits.Connection.writeDeadlineSeconds - 1)
        #expect(scene.desk.close == nil, "a byte that has left begins a new time")
        scene.pass(seconds: 2)
        #expect(scene.desk.close == .slowConsumer)
    }

    @Test("Answers that are not taken stop the taking up of requests, not the connection")
    func heldAnswers() {
        let scene = HTTP2Scene(hello: Frames.preface + Frames.settings([(4, 0)]) + Frames.settingsAck)
        let count = 300
        for at in 0..<UInt32(count) { scene.send(HTTP2Scene.registration(at * 2 + 1)) }
        for requestID in 1...UInt32(count) {
            scene.step { $0.answer(requestID, String(repeating: "a", count: 8_192)) }
        }
        let last = UInt32(count) * 2 + 1
        scene.send(HTTP2Scene.registration(last))
        #expect(scene.desk.events.count == count && scene.desk.close == nil && scene.desk.isReading)
        scene.send(Frames.settings([(4, 100_000)]) + Frames.windowUpdate(0, 10_000_000))
        #expect(scene.desk.events.count == count + 1 && scene.peer.order.count == count)
    }

    @Test("Rapid resets end the connection", arguments: [true, false])
    func rapidResets(areAnswered: Bool) {
        let scene = HTTP2Scene()
        var count = 0
        while scene.desk.close == nil, count < 2 * Limits.HTTP2.resets {
            let stream = UInt32(count) * 2 + 1
            scene.send(HTTP2Scene.registration(stream))
            scene.send(Frames.reset(stream))
            if areAnswered {
                let requestID = UInt32(count) + 1
                scene.step { $0.perform(.reply(requestID: requestID, .registered(HTTPSessionTests.name(1)))) }
            }
            count += 1
        }
        #expect(scene.desk.close == .flood && count == Limits.HTTP2.resets + 1)
        #expect(scene.peer.goAway?.code == 11)
    }

    @Test(
        "Floods of frames that bring nothing on end the connection",
        arguments: [
            Frames.ping, Frames.settings(), Frames.windowUpdate(0, 1), Frames.data(1, []),
            Frames.data(1, [0x61]),
            Frames.frame(2, stream: 1, [0, 0, 0, 0, 1]),
        ])
    func floods(frame: [UInt8]) {
        let scene = HTTP2Scene()
        scene.send(Frames.headers(1, HTTP2Scene.fields))
        var count = 0
        while scene.desk.close == nil, count < 2 * Limits.HTTP2.idleFrames {
            scene.send(frame)
            count += 1
        }
        #expect(scene.desk.close == .flood && count <= Limits.HTTP2.idleFrames)
    }

    @Test("A client that reports each piece it has read is no flood")
    func busyClient() {
        let scene = HTTP2Scene()
        for at in 0..<UInt32(2_000) {
            scene.send(Frames.headers(at * 2 + 1, Frames.request("GET", "/"), ends: true))
            scene.send(Frames.windowUpdate(0, 100) + Frames.windowUpdate(0, 100) + Frames.ping)
        }
        #expect(scene.desk.close == nil && scene.peer.order.count == 2_000)
    }

    @Test("What breaks the protocol closes with its reason")
    func violations() {
        let scene = HTTP2Scene()
        scene.send(HTTP2Scene.registration(1) + Frames.data(0, [1]))
        #expect(scene.desk.close == .protocolViolation && scene.peer.goAway?.code == 1)
        let bomb = HTTP2Scene()
        let field = [0x40] + Frames.text("a") + Frames.text(String(repeating: "b", count: 4_000))
        let block = Frames.block(Frames.request("GET", "/")) + field + [UInt8](repeating: 0xBE, count: 9_000)
        bomb.send(Frames.frame(1, flags: 5, stream: 1, block))
        #expect(bomb.desk.close == .flood)
    }
}
