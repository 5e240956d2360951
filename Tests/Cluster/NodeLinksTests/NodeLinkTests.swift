import Basics
import Glibc
import Testing
import Transport

@testable import NodeLinks

@Suite("links between nodes", .serialized)
struct NodeLinkTests {
    private let authority: LinkAuthority

    init() throws { authority = try LinkAuthority() }

    /// Nodes 1 and 2 with a link.
    private func pair(at address: SocketAddress = .loopback(port: 0)) throws -> (LinkNode, LinkNode) {
        let one = try LinkNode(1, authority.credentials(1), incarnation: 11)
        let two = try LinkNode(2, authority.credentials(2), incarnation: 22, at: address)
        one.dial(two, as: 2)
        #expect(run(one, two) { !one.ups.isEmpty && !two.ups.isEmpty })
        #expect(one.ups == [22] && two.ups == [11])
        return (one, two)
    }

    @Test("two nodes send each other parcels in order, short and long ones")
    func parcels() throws {
        let (one, two) = try pair()
        var sent: [[UInt8]] = [[UInt8](repeating: 7, count: Limits.NodeLinks.parcelBytes)]
        for number in 0..<500 { sent.append([UInt8](repeating: UInt8(number & 255), count: number)) }
        for parcel in sent {
            #expect(one.send(parcel, to: 2))
            #expect(two.send(parcel, to: 1))
        }
        #expect(run(one, two) { one.parcels.count == sent.count && two.parcels.count == sent.count })
        #expect(one.parcels == sent && two.parcels == sent)
        #expect(!one.send([1], to: 3) && one.host?.isUp(NodeNumber(2)) == true)
        #expect(one.host?.status.map(\.node) == [NodeNumber(2)])
        #expect(two.host?.status.first?.incarnation == Incarnation(11))
    }

    @Test("parcels of one turn are reported together")
    func batches() throws {
        let (one, two) = try pair()
        let before = two.reports.count
        for _ in 0..<100 { _ = one.send([1, 2, 3], to: 2) }
        #expect(run(one, two) { two.parcels.count == 100 })
        #expect(two.reports.count - before <= 3)
    }

    @Test("a link works over IPv6", .enabled(if: hasIPv6, "this machine has no IPv6 loopback"))
    func ipv6() throws {
        let (one, two) = try pair(at: .ipv6(0, 1, zone: 0, port: 0))
        #expect(two.address.description.hasPrefix("[::1]:") && one.send([5], to: 2))
        #expect(run(one, two) { two.parcels == [[5]] })
    }

    private static let hasIPv6: Bool = {
        (try? ListeningSocket(tcp: .ipv6(0, 1, zone: 0, port: 0)).address) != nil
    }()

    @Test("a node is found by its name, and an unknown name is reported and looked up again")
    func names() throws {
        let one = try LinkNode(1, authority.credentials(1))
        let two = try LinkNode(2, authority.credentials(2))
        // No name server has to be asked for it.
        one.host?.dial(NodeNumber(3), at: "no-such..host:1")
        #expect(run(one) { one.unlinked.count >= 2 })
        guard case .unreachable(let words)? = one.unlinked.first else {
            Issue.record("\(one.unlinked)")
            return
        }
        #expect(words.contains("no-such..host"))
        one.host?.dial(NodeNumber(2), at: "localhost:\(two.address.port)")
        #expect(run(one, two) { one.ups.count == 1 })
    }

    @Test("an idle link stays up for more than two seconds")
    func idle() throws {
        let (one, two) = try pair()
        let end = Now.read().monotonic.advanced(milliseconds: 2_600)
        #expect(run(one, two) { Now.read().monotonic > end })
        #expect(one.downs == [] && two.downs == [])
        #expect(one.host?.status.first?.roundTripMicroseconds ?? 0 > 0)
    }

    @Test("a node that restarts is linked again, and its new process reported")
    func restart() throws {
        let one = try LinkNode(1, authority.credentials(1))
        let two = try LinkNode(2, authority.credentials(2), incarnation: 22)
        let address = two.address
        one.dial(two, as: 2)
        #expect(run(one, two) { one.ups == [22] })
        two.kill()
        #expect(run(one) { one.downs.count == 1 && one.unlinked.count >= 2 })
        #expect(!one.send([1], to: 2))
        let again = try LinkNode(2, authority.credentials(2), incarnation: 23, at: address)
        #expect(run(one, again) { one.ups == [22, 23] && again.ups.count == 1 })
        #expect(one.send([1], to: 2))
        #expect(run(one, again) { again.parcels == [[1]] })
    }

    @Test("a node that is known to be there again is dialled at once, not at the pace of the failures before")
    func back() throws {
        let one = try LinkNode(1, authority.credentials(1))
        let two = try LinkNode(2, authority.credentials(2), incarnation: 22)
        let address = two.address
        one.dial(two, as: 2)
        #expect(run(one, two) { one.ups == [22] })
        two.kill()
        #expect(run(one) { one.unlinked.count >= 3 })
        let again = try LinkNode(2, authority.credentials(2), incarnation: 23, at: address)
        guard case .waiting = one.host?.dials[NodeNumber(2)]?.state else {
            Issue.record("it waits after a failure")
            return
        }
        one.dial(again, as: 2)
        guard case .linking = one.host?.dials[NodeNumber(2)]?.state else {
            Issue.record("it is dialled")
            return
        }
        #expect(run(one, again) { one.ups == [22, 23] })
    }

    @Test("a node at a new address is linked there")
    func moved() throws {
        let one = try LinkNode(1, authority.credentials(1))
        let two = try LinkNode(2, authority.credentials(2))
        one.host?.dial(NodeNumber(2), at: "127.0.0.1:1")
        #expect(run(one) { one.unlinked.count >= 1 })
        one.dial(two, as: 2)
        #expect(run(one, two) { one.ups.count == 1 })
        // The same address again changes nothing.
        one.dial(two, as: 2)
        one.host?.forget(NodeNumber(2))
        #expect(run(one, two) { one.downs == [.dropped] && two.downs == [.refused(.dropped)] })
        let end = Now.read().monotonic.advanced(milliseconds: 400)
        #expect(run(one, two) { Now.read().monotonic > end })
        #expect(one.ups.count == 1)
    }

    @Test("the node with the higher number does not dial")
    func direction() throws {
        let one = try LinkNode(1, authority.credentials(1))
        let two = try LinkNode(2, authority.credentials(2))
        two.dial(one, as: 1)
        let end = Now.read().monotonic.advanced(milliseconds: 300)
        #expect(run(one, two) { Now.read().monotonic > end })
        #expect(one.reports.isEmpty && two.reports.isEmpty)
    }

    @Test("a node that stops notifies the others, and is dialled again")
    func stops() throws {
        let (one, two) = try pair()
        two.host?.stop()
        #expect(run(one, two) { one.downs == [.refused(.dropped)] && two.downs == [.dropped] })
        #expect(run(one, two) { !one.unlinked.isEmpty })
        guard case .unreachable? = one.unlinked.first else {
            Issue.record("\(one.unlinked)")
            return
        }
    }

    @Test("a peer that stops without a word is lost after a second and a half, and linked again")
    func halfOpen() throws {
        let (one, two) = try pair()
        // Node 2 gets no turns, as a stopped process.
        let start = Now.read().monotonic
        #expect(run(one) { one.downs == [.silent] })
        let span = Now.read().monotonic.milliseconds(since: start)
        #expect((1_400..<20_000).contains(span), "\(span)")
        #expect(run(one, two) { one.ups.count == 2 && two.ups.count == 2 })
        #expect(two.downs.count == 1 && one.send([1], to: 2))
        #expect(run(one, two) { two.parcels == [[1]] })
    }

    @Test("a peer that reads nothing is disconnected when 64 MiB wait for it")
    func slowReader() throws {
        let (one, _) = try pair()
        let parcel = [UInt8](repeating: 1, count: Limits.NodeLinks.parcelBytes)
        var sent = 0
        while sent < 100, one.send(parcel, to: 2) {
            sent += 1
            one.reactor.turn(waitMilliseconds: 0)
        }
        #expect((7...12).contains(sent), "\(sent)")
        #expect(run(one) { one.downs == [.queueFull] })
        #expect(!one.send([1], to: 2))
    }

    @Test("a peer that reads slowly gets everything while the queue has room")
    func patientReader() throws {
        let (one, two) = try pair()
        let parcel = [UInt8](repeating: 1, count: Limits.NodeLinks.queueBytes / 16)
        var sent = 0
        #expect(
            run(one, two) {
                if sent - two.parcels.count < 8, sent < 40, one.send(parcel, to: 2) { sent += 1 }
                return two.parcels.count == 40
            })
        #expect(one.downs == [])
    }

    @Test("a peer that connects again replaces its earlier connection")
    func replaced() throws {
        let two = try LinkNode(2, authority.credentials(2))
        let other = try LinkNode(1, authority.credentials(1), at: nil)
        let credentials = try authority.credentials(1)
        let first = try RawPeer(other.reactor, to: two.address, credentials, trust: authority.file)
        first.greet(as: 1, incarnation: 1)
        #expect(run(other, two) { two.ups == [1] })
        let second = try RawPeer(other.reactor, to: two.address, credentials, trust: authority.file)
        second.greet(as: 1, incarnation: 2)
        #expect(run(other, two) { two.ups == [1, 2] && first.closed != nil })
        #expect(two.downs == [.replaced] && second.closed == nil)
        #expect(two.send([9], to: 1))
        #expect(run(other, two) { second.received.suffix(6) == [2, 0, 0, 0, 5, 9] })
    }

    @Test("a file of 20 MiB is copied at the pace of its receiver, while parcels pass")
    func copies() throws {
        let (one, two) = try pair()
        let file = (0..<20_971_520).map { UInt8(truncatingIfNeeded: $0 >> 5) }
        let stream = try #require(one.host?.openStream([1, 2, 3], to: NodeNumber(2)))
        var (sent, handled, parcels) = (0, 0, 0)
        var copy: [UInt8] = []
        var ended: Bool?
        #expect(
            run(one, two) {
                if sent < file.count {
                    let rest = file.raw.extracting(sent..<min(file.count, sent + 300_000))
                    sent += one.host?.write(rest, to: stream, of: NodeNumber(2)) ?? 0
                    if sent == file.count { one.host?.end(stream, of: NodeNumber(2), isComplete: true) }
                    if one.send([7], to: 2) { parcels += 1 }
                }
                for case .stream(let node, let event) in two.reports[handled...] {
                    switch event {
                    case .chunk(let id, let bytes):
                        copy += bytes
                        two.host?.consume(bytes.count, of: id, from: node)
                    case .ended(_, let isComplete): ended = isComplete
                    case .opened, .writable, .cancelled: break
                    }
                }
                handled = two.reports.count
                return ended != nil
            })
        #expect(ended == true && copy == file && two.parcels.count == parcels && parcels > 10)
        #expect(one.downs == [])
    }

    @Test("credentials that cannot be used are refused at once")
    func credentials() throws {
        var credentials = try authority.credentials(1)
        credentials.key = try authority.credentials(2).key
        #expect(throws: TransportError.self) { try LinkNode(1, credentials) }
        credentials = try authority.credentials(1)
        credentials.authorityFile = authority.folder + "/none.pem"
        #expect(throws: TransportError.self) { try LinkNode(1, credentials) }
        let (one, two) = try pair()
        #expect(throws: TransportError.self) { try one.host?.use(credentials) }
        try one.host?.use(authority.credentials(1))
        #expect(one.send([1], to: 2))
        #expect(run(one, two) { two.parcels == [[1]] })
    }

    @Test("new credentials are those of the next connections, in both directions")
    func reloaded() throws {
        // Each trusts the authority, and has a certificate of another one at first.
        var foreign = try LinkAuthority().credentials(1)
        foreign.authorityFile = authority.file
        let dialling = try LinkNode(1, foreign)
        let two = try LinkNode(2, authority.credentials(2))
        dialling.dial(two, as: 2)
        #expect(run(dialling, two) { !dialling.unlinked.isEmpty })
        try dialling.host?.use(authority.credentials(1))
        #expect(run(dialling, two) { dialling.ups.count == 1 })

        var other = try LinkAuthority().credentials(4)
        other.authorityFile = authority.file
        let three = try LinkNode(3, authority.credentials(3))
        let listening = try LinkNode(4, other)
        three.dial(listening, as: 4)
        #expect(run(three, listening) { !three.unlinked.isEmpty })
        try listening.host?.use(authority.credentials(4))
        #expect(run(three, listening) { three.ups.count == 1 })
    }

    @Test("a removed node is refused by name and never reported as linked or lost, until it is admitted")
    func removed() throws {
        let one = try LinkNode(1, authority.credentials(1), incarnation: 11)
        let two = try LinkNode(2, authority.credentials(2), incarnation: 22)
        two.host?.bar(NodeNumber(1))
        one.dial(two, as: 2)
        #expect(run(one, two) { two.refused.count >= 2 })
        #expect(two.ups.isEmpty && two.downs.isEmpty && two.refused.allSatisfy { $0 == .removed })
        #expect(two.host?.isUp(NodeNumber(1)) == false && two.host?.status.isEmpty == true)
        two.host?.admit(NodeNumber(1))
        #expect(run(one, two) { two.ups == [11] })
        #expect(two.downs.isEmpty)
        two.host?.bar(NodeNumber(1))
        #expect(run(one, two) { two.refused.count >= 3 && two.downs == [.removed] })
        #expect(two.ups == [11], "it was linked once")
    }

    @Test("a node dials neither itself nor the nodes below it, which dial it")
    func downwards() throws {
        let (one, two) = (
            try LinkNode(1, authority.credentials(1), incarnation: 11),
            try LinkNode(2, authority.credentials(2), incarnation: 22)
        )
        two.dial(two, as: 2)
        two.dial(one, as: 1)
        #expect(two.host?.dials.isEmpty == true)
        two.host?.dial(NodeNumber(3), at: "nothing")
        #expect(two.host?.dials.isEmpty == true, "no address")
    }
}
