import Basics
import COpenSSL
import Testing

@testable import Transport

/// Expects that a reactor has no connections, timers, counted addresses or work for the next turn.
///
/// Timers of the reactor itself (`bodies`) remain.
func expectNothingLeft(in reactor: Reactor, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(reactor.connectionCount == 0, sourceLocation: sourceLocation)
    #expect(reactor.connections.allSatisfy { $0 == nil }, sourceLocation: sourceLocation)
    #expect(reactor.freeSlots.count == reactor.connections.count, sourceLocation: sourceLocation)
    #expect(reactor.wheel.count == reactor.bodies, sourceLocation: sourceLocation)
    #expect(reactor.closedConnections.isEmpty && reactor.dirty.isEmpty, sourceLocation: sourceLocation)
    for case let acceptor? in reactor.acceptors {
        #expect(acceptor.connections == 0 && acceptor.anonymous.isEmpty, sourceLocation: sourceLocation)
    }
}

/// Resources of closed connections.
@Suite struct LeftBehindTests {
    /// How a connection of the server ends.
    enum Ending: CaseIterable {
        case close, abort, peerCloses, peerAborts, refused, handshakeFails
    }

    @Test(
        "A connection leaves no timer, counted address or slot however it ends", arguments: Ending.allCases)
    func endings(_ ending: Ending) throws {
        var pace = PaceSettings()
        pace.anonymousPerAddress = 2
        let loop = try Loopback(pace: pace)
        let reactor = loop.reactor
        for _ in 0..<3 {
            let owners = [Recorder(), Recorder()]
            loop.refuses = ending == .refused
            for owner in owners {
                let tls = ending == .handshakeFails ? nil : loop.client
                if ending == .handshakeFails { owner.onOpen = { $0.send("no TLS at all") } }
                _ = try reactor.connect(to: loop.address, tls: tls, delegate: owner)
            }
            if ending != .refused, ending != .handshakeFails {
                #expect(reactor.turns { owners.allSatisfy { $0.opened == 1 } })
                #expect(reactor.turns { reactor.connectionCount == 4 })
                for case let end? in reactor.connections {
                    end.deadline = Now.read().monotonic.advanced(seconds: 3_600)
                }
                let accepted = reactor.connections.compactMap { $0 }.filter { $0.listener == "test" }
                let own = reactor.connections.compactMap { $0 }.filter { $0.listener == .outgoing }
                #expect(accepted.count == 2 && own.count == 2)
                switch ending {
                case .close: accepted.forEach { $0.close(.connectionDraining) }
                case .abort: accepted.forEach { $0.abort(.operatorRequest) }
                case .peerCloses: own.forEach { $0.close(.operatorRequest) }
                default: own.forEach { $0.abort(.operatorRequest) }
                }
            }
            #expect(
                reactor.turns { owners.allSatisfy { !$0.closed.isEmpty } && reactor.connectionCount == 0 })
            expectNothingLeft(in: reactor)
        }
        // No connection of the address is counted any more.
        loop.refuses = false
        for _ in 0..<2 { _ = try loop.connect(Recorder()) }
    }

    @Test("The reason of a close stays when something else ends the connection later")
    func reason() throws {
        var pace = PaceSettings()
        pace.outboundBytes = 64 << 20
        let loop = try Loopback(tls: false, pace: pace)
        let connection = try loop.connect(Recorder())
        connection.isReading = false
        let accepted = try #require(loop.server.connections.first)
        accepted.send([UInt8](repeating: 1, count: 16 << 20))
        accepted.close(.connectionDraining)
        loop.reactor.turn(waitMilliseconds: 0)
        #expect(loop.server.closed.isEmpty, "canary: it must still be sending")
        accepted.abort(.idle)
        #expect(loop.reactor.turns { !loop.server.closed.isEmpty })
        #expect(loop.server.closed == [.connectionDraining])
    }

    @Test(
        "TLS 1.2 has no channel binding when the extended master secret is missing (canary: otherwise it has)",
        arguments: [true, false])
    func channelBinding(isExtended: Bool) throws {
        let loop = try Loopback()
        let client = try #require(loop.client)
        SSL_CTX_ctrl(client.raw, SSL_CTRL_SET_MAX_PROTO_VERSION, TLSVersion.tls12.number, nil)
        // SSL_OP_NO_EXTENDED_MASTER_SECRET, a macro: SSL_OP_BIT(0).
        if !isExtended { _ = SSL_CTX_set_options(client.raw, 1) }
        let connection = try loop.connect(Recorder())
        let accepted = try #require(loop.server.connections.first)
        #expect(accepted.tlsVersion == "TLSv1.2")
        #expect((accepted.channelBinding != nil) == isExtended)
        #expect(connection.channelBinding == accepted.channelBinding)
    }
}
