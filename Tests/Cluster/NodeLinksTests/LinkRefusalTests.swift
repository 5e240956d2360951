import Basics
import Glibc
import NodeLinks
import Testing

@testable import Transport

@Suite("strangers at node links", .serialized)
struct LinkRefusalTests {
    private let authority: LinkAuthority

    init() throws { authority = try LinkAuthority() }

    private func words(_ failure: LinkFailure?) -> String? {
        if case .untrusted(let words)? = failure { words } else { nil }
    }

    /// What node 2 reports of a client that introduces itself as node 1, with a certificate or without one.
    private func refusal(_ credentials: LinkCredentials?) throws -> (LinkFailure?, RawPeer) {
        let two = try LinkNode(2, authority.credentials(2))
        let other = try LinkNode(1, authority.credentials(1), at: nil)
        let peer = try RawPeer(other.reactor, to: two.address, credentials, trust: authority.file)
        peer.greet(as: 1)
        #expect(run(other, two) { !two.refused.isEmpty && peer.closed != nil })
        #expect(two.ups.isEmpty && two.refused.count == 1)
        return (two.refused.first, peer)
    }

    @Test(
        "canary: the same client with the right certificate is linked, so only certificates are refused below"
    )
    func accepted() throws {
        let two = try LinkNode(2, authority.credentials(2))
        let other = try LinkNode(1, authority.credentials(1), at: nil)
        let peer = try RawPeer(
            other.reactor, to: two.address, authority.credentials(1), trust: authority.file)
        peer.greet(as: 1)
        #expect(run(other, two) { two.ups == [1] && !peer.received.isEmpty })
        #expect(two.refused.isEmpty && peer.closed == nil)
    }

    @Test("a client without a certificate is refused")
    func none() throws {
        let (failure, peer) = try refusal(nil)
        #expect(words(failure)?.contains("peer did not return a certificate") == true, "\(failure as Any)")
        #expect(peer.received.isEmpty)
    }

    @Test("a client with a certificate of another authority is refused")
    func stranger() throws {
        let other = try LinkAuthority()
        let (failure, peer) = try refusal(other.credentials(1))
        #expect(words(failure) != nil && peer.received.isEmpty, "\(failure as Any)")
    }

    @Test("a client with an expired certificate is refused")
    func expired() throws {
        let old = Now.read().wall - 4_000 * 86_400_000
        let (failure, _) = try refusal(authority.credentials(1, now: old))
        #expect(words(failure)?.contains("expired") == true, "\(failure as Any)")
    }

    @Test("a client whose certificate names a node of another cluster is refused")
    func otherCluster() throws {
        let (failure, peer) = try refusal(authority.credentials(1, cluster: ClusterID(5)))
        #expect(failure == .notANode)
        #expect(peer.received == [2, 0, 0, 0, 2, LinkRefusal.notANode.rawValue])
    }

    @Test("a client whose certificate names a node that must be dialled is refused")
    func direction() throws {
        let (failure, peer) = try refusal(authority.credentials(5))
        #expect(failure == .wrongDirection(NodeNumber(5)))
        #expect(peer.received == [2, 0, 0, 0, 2, LinkRefusal.wrongDirection.rawValue])
        #expect(try refusal(authority.credentials(2)).0 == .wrongDirection(NodeNumber(2)))
    }

    @Test("a client that introduces itself as another node than its certificate names is refused")
    func imposter() throws {
        let three = try LinkNode(3, authority.credentials(3))
        let one = try LinkNode(2, authority.credentials(1), at: nil)
        one.dial(three, as: 3)
        #expect(run(one, three) { !three.refused.isEmpty && !one.downs.isEmpty })
        #expect(three.refused.first == .imposter(NodeNumber(2)) && three.ups.isEmpty)
        #expect(one.downs.first == .refused(.imposter))
    }

    @Test("a server with another node's certificate, or a stranger's, is not trusted")
    func servers() throws {
        let one = try LinkNode(1, authority.credentials(1))
        let three = try LinkNode(3, authority.credentials(3))
        one.dial(three, as: 2)
        #expect(run(one, three) { !one.unlinked.isEmpty })
        #expect(words(one.unlinked.first)?.contains("hostname mismatch") == true, "\(one.unlinked)")
        let foreign = try LinkAuthority()
        let four = try LinkNode(4, foreign.credentials(4))
        let five = try LinkNode(1, authority.credentials(1))
        five.dial(four, as: 4)
        #expect(run(five, four) { !five.unlinked.isEmpty && !four.refused.isEmpty })
        #expect(words(five.unlinked.first) != nil && five.ups.isEmpty, "\(five.unlinked)")
        #expect(words(four.refused.first) != nil, "\(four.refused)")
    }

    @Test("a dialling node whose certificate is refused reports that the certificates do not fit")
    func refusedClient() throws {
        let two = try LinkNode(2, authority.credentials(2))
        var credentials = try LinkAuthority().credentials(1)
        // It trusts node 2, which does not trust it.
        credentials.authorityFile = authority.file
        let one = try LinkNode(1, credentials)
        one.dial(two, as: 2)
        #expect(run(one, two) { !one.unlinked.isEmpty && !two.refused.isEmpty })
        #expect(words(one.unlinked.first)?.contains("alert") == true, "\(one.unlinked)")
    }

    @Test("a client without TLS is refused, and one that sends nothing after three seconds")
    func silent() throws {
        let two = try LinkNode(2, authority.credentials(2))
        let sockets = (0..<2).map { _ in socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) }
        defer { for number in sockets { close(number) } }
        for number in sockets {
            #expect(two.address.withSocketAddress { connect(number, $0, $1) } == 0)
        }
        let request = Array("GET / HTTP/1.1\r\n\r\n".utf8)
        #expect(send(sockets[0], request, request.count, 0) == request.count)
        #expect(run(two) { two.refused.count == 2 })
        #expect(words(two.refused.first) != nil, "\(two.refused)")
        #expect(two.refused.last == .handshakeDeadline)
    }

    @Test("a peer that sends no hello after TLS is refused after three seconds")
    func noHello() throws {
        let two = try LinkNode(2, authority.credentials(2))
        let other = try LinkNode(1, authority.credentials(1), at: nil)
        let peer = try RawPeer(
            other.reactor, to: two.address, authority.credentials(1), trust: authority.file)
        #expect(run(other, two) { peer.closed != nil })
        #expect(two.refused == [.handshakeDeadline])
    }

    @Test("one address has at most eight connections that have not introduced themselves")
    func strangers() throws {
        let two = try LinkNode(2, authority.credentials(2))
        let sockets = (0..<9).map { _ in socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) }
        defer { for number in sockets { close(number) } }
        for number in sockets {
            #expect(two.address.withSocketAddress { connect(number, $0, $1) } == 0)
        }
        #expect(run(two) { !two.refusedAtAccept.isEmpty })
        #expect(two.refusedAtAccept == [.addressFull])
    }

    @Test("garbage, oversize frames and frames before the hello end a link by name")
    func garbage() throws {
        func failure(_ bytes: [UInt8], greets: Bool) throws -> LinkFailure? {
            let two = try LinkNode(2, authority.credentials(2))
            let other = try LinkNode(1, authority.credentials(1), at: nil)
            let peer = try RawPeer(
                other.reactor, to: two.address, authority.credentials(1), trust: authority.file)
            if greets { peer.greet(as: 1) }
            peer.send(bytes)
            #expect(run(other, two) { peer.closed != nil })
            #expect(peer.received.suffix(6) == [2, 0, 0, 0, 2, LinkRefusal.invalid.rawValue])
            return two.downs.first ?? two.refused.first
        }
        #expect(try failure([0, 1, 2, 3, 4, 5, 6], greets: false) == .invalid(.order(4)))
        #expect(try failure([0xff, 0xff, 0xff, 0x7f, 5], greets: true) == .invalid(.length(0x7fff_ffff)))
        #expect(try failure([1, 0, 0, 0, 77], greets: true) == .invalid(.kind(77)))
    }

    @Test("only a link that is up does not count as a stranger")
    func counted() throws {
        let two = try LinkNode(2, authority.credentials(2))
        let other = try LinkNode(1, authority.credentials(1), at: nil)
        let credentials = try authority.credentials(1)
        // Each replaces the one before it.
        for number in 1...12 as ClosedRange<UInt64> {
            let peer = try RawPeer(other.reactor, to: two.address, credentials, trust: authority.file)
            peer.greet(as: 1, incarnation: number)
            #expect(run(other, two) { two.ups.last == number })
        }
        #expect(two.refusedAtAccept.isEmpty && two.refused.isEmpty)
    }
}
