import Basics
import HTTP2Peer
import Testing

@testable import Wire

/// Timeouts of a client connection.
@Suite struct HTTP2ClientTimeTests {
    typealias Desk = HTTP2ClientDesk
    typealias Frames = HTTP2Frames

    /// The server's answer to a PING.
    private func pong(_ desk: Desk) throws -> [UInt8] {
        Frames.frame(6, flags: 1, try #require(desk.peer.frames(6).last).payload)
    }

    @Test("A server that sends no SETTINGS times out, and written requests have an unknown outcome")
    func noSettings() {
        let desk = Desk(greets: false)
        desk.send()
        desk.pass(seconds: Limits.HTTP2Client.pongSeconds - 1)
        #expect(desk.events().isEmpty)
        desk.pass(seconds: 1)
        #expect(desk.events() == ["1: connectionEnded", "ended: silent"])
        #expect(desk.peer.goAway?.code == 0)
        desk.expectNothingLeft()
    }

    @Test(
        "A silent server with an answer due gets a PING; if it answers, the request waits until its deadline")
    func asked() throws {
        let desk = Desk()
        desk.send()
        desk.pass(seconds: Limits.HTTP2Client.pingSeconds - 1)
        #expect(desk.peer.frames(6).isEmpty)
        desk.pass(seconds: 1)
        #expect(desk.peer.frames(6).count == 1)
        desk.receive(try pong(desk))
        desk.pass(seconds: Limits.HTTP2Client.pingSeconds)
        #expect(desk.peer.frames(6).count == 2)
        desk.receive(try pong(desk))
        desk.pass(seconds: Limits.HTTP2Client.answerSeconds - 2 * Limits.HTTP2Client.pingSeconds)
        #expect(desk.events() == ["1: noAnswer"] && desk.peer.answers[1]?.reset == 8)
        desk.receive(Desk.answer(1, "late"))
        #expect(desk.events().isEmpty && desk.connection.failure == nil)
        desk.expectNothingLeft()
    }

    @Test("A connection ends when a PING is not answered")
    func silent() {
        let desk = Desk()
        desk.send()
        desk.pass(seconds: Limits.HTTP2Client.pingSeconds + Limits.HTTP2Client.pongSeconds - 1)
        #expect(desk.events().isEmpty)
        desk.pass(seconds: 1)
        #expect(desk.events().last == "ended: silent")
        desk.expectNothingLeft()
    }

    @Test("Any bytes from the server count as a sign of life")
    func otherSigns() {
        let desk = Desk()
        desk.send()
        desk.pass(seconds: Limits.HTTP2Client.pingSeconds)
        desk.receive(Frames.headers(1, [(":status", "200")]))
        desk.pass(seconds: Limits.HTTP2Client.pingSeconds - 1)
        #expect(desk.peer.frames(6).count == 1 && desk.connection.failure == nil)
    }

    @Test("An idle connection gets a PING after a long pause, and with the first request after a short one")
    func idle() throws {
        let desk = Desk()
        desk.pass(seconds: Limits.HTTP2Client.idlePingSeconds - 1)
        #expect(desk.peer.frames(6).isEmpty)
        desk.pass(seconds: 1)
        #expect(desk.peer.frames(6).count == 1)
        desk.receive(try pong(desk))
        desk.pass(seconds: Limits.HTTP2Client.staleSeconds - 1)
        desk.send()
        desk.pass(seconds: Limits.HTTP2Client.pingSeconds - 1)
        #expect(desk.peer.frames(6).count == 1)
        desk.receive(Desk.answer(1))
        desk.pass(seconds: Limits.HTTP2Client.staleSeconds)
        desk.send()
        desk.send()
        #expect(desk.peer.frames(6).count == 2)
        desk.pass(seconds: Limits.HTTP2Client.pongSeconds)
        #expect(desk.events().last == "ended: silent")
    }

    @Test("Requests time out one by one, and unwritten ones can be retried")
    func late() throws {
        let desk = Desk()
        desk.send()
        desk.now = desk.now.advanced(seconds: 3)
        desk.send()
        // The server allows only two, so the third one waits within the session.
        desk.send(listens: false)
        desk.receive(Frames.settings([(3, 0)]))
        for _ in 0..<Limits.HTTP2Client.answerSeconds + 4 {
            desk.now = desk.now.advanced(seconds: 1)
            desk.receive(Frames.ping)
            desk.connection.wake(now: desk.now)
            desk.flush()
        }
        #expect(desk.events() == ["1: noAnswer", "3: noAnswer", "5: unprocessed"])
        #expect(desk.peer.answers[5] == nil && desk.connection.failure == nil)
        desk.receive(Frames.settings([(3, 2)]))
        #expect(desk.peer.answers[5] == nil)
        desk.expectNothingLeft()
    }

    @Test("The only deadline of a connection without requests is its liveness check")
    func deadline() {
        let desk = Desk()
        #expect(desk.connection.deadline == desk.now.advanced(seconds: Limits.HTTP2Client.idlePingSeconds))
        desk.send()
        #expect(desk.connection.deadline == desk.now.advanced(seconds: Limits.HTTP2Client.pingSeconds))
        desk.receive(Desk.answer(1))
        desk.pass(seconds: Limits.HTTP2Client.answerSeconds)
        #expect(desk.connection.deadline > desk.now.advanced(seconds: Limits.HTTP2Client.staleSeconds))
    }
}
