import Basics
import ClusterLog
import Testing

/// How an owner proves its ownership, and when the log counts as stalled.
@Suite("the proofs of an owner")
struct LogOwnerProofTests {
    private static func frame(_ number: UInt64) -> FrameName {
        FrameName(claim: OwnerDesk.claim, number: number)
    }
    private func at(_ number: UInt64) -> LogPosition { LogPosition(number) }
    private var rival: Term { Term(Epoch(2), Claim(5)) }

    @Test("an owner without frames proves its ownership every 400 ms, and learns of its successor")
    func renews() {
        var desk = OwnerDesk.owning
        let mark = desk.now.monotonic
        #expect(desk.owner.provedAt == mark)
        #expect(desk.wait(399) == [] && desk.wait(1) == [.append(Self.frame(2))])
        let requested = desk.now.monotonic
        #expect(desk.wait(100) == [] && desk.owner.provedAt == mark, "it is not confirmed")
        #expect(desk.handle(.stored(Self.frame(2), at: at(2))) == [.confirmed(Self.frame(2), at: at(2))])
        #expect(desk.owner.provedAt == requested, "the time of the request counts")
        #expect(desk.wait(299) == [] && desk.wait(1) == [.append(Self.frame(3))])
        #expect(desk.handle(.stored(Self.frame(3), at: at(4))) == [.read(at(3))])
        #expect(desk.handle(.record(LogReaderTests.frame(rival, 1), at: at(3))) == [.lost(to: rival)])
    }

    @Test("a frame that is appended again proves no more than its first request")
    func repeatedProof() {
        var desk = OwnerDesk.owning
        desk.wait(50)
        _ = desk.make()
        let requested = desk.now.monotonic
        #expect(desk.wait(500) == [.read(at(2))] && desk.handle(.end(at(1))) == [.append(Self.frame(2))])
        desk.handle(.stored(Self.frame(2), at: at(2)))
        #expect(desk.owner.provedAt == requested)
    }

    @Test("an owner that renews nothing reads on, and learns of its successor")
    func reads() {
        var desk = OwnerDesk.owning
        desk.owner.renews = false
        #expect(desk.wait(99) == [] && desk.wait(1) == [.read(at(2))])
        #expect(desk.handle(.end(at(1))) == [] && desk.owner.canMake)
        #expect(desk.wait(99) == [] && desk.wait(1) == [.read(at(2))])
        #expect(desk.handle(.record(LogReaderTests.frame(rival, 1), at: at(2))) == [.lost(to: rival)])
    }

    @Test(
        "a frame that the log refuses each time is appended more and more slowly, and the owner is stalled until one is confirmed"
    )
    func refusing() {
        var desk = OwnerDesk.owning
        let since = desk.now.monotonic
        _ = desk.make()
        #expect(desk.owner.stalledSince == since)
        // The first time, another leader may answer at once.
        #expect(desk.handle(.refused(Self.frame(2))) == [.read(at(2))])
        for pause in [200, 400, 500, 500] as [Int64] {
            #expect(desk.handle(.end(at(1))) == [.append(Self.frame(2))])
            #expect(desk.handle(.refused(Self.frame(2))) == [] && desk.wait(pause - 1) == [])
            #expect(desk.wait(1) == [.read(at(2))])
        }
        #expect(desk.owner.stalledSince == since)
        #expect(desk.handle(.end(at(1))) == [.append(Self.frame(2))])
        #expect(desk.handle(.stored(Self.frame(2), at: at(2))) == [.confirmed(Self.frame(2), at: at(2))])
        #expect(desk.owner.stalledSince == nil)
    }

    @Test("a log that does not answer an idle owner is stalled")
    func silent() {
        var desk = OwnerDesk.owning
        #expect(desk.owner.stalledSince == nil && desk.wait(400) == [.append(Self.frame(2))])
        let since = desk.now.monotonic
        for _ in 0..<20 { desk.wait(500) }
        #expect(desk.owner.stalledSince == since)
        desk.handle(.end(at(1)))
        #expect(desk.owner.stalledSince == since, "the frame is not confirmed")
        desk.handle(.stored(Self.frame(2), at: at(2)))
        #expect(desk.owner.stalledSince == nil)
    }

    @Test("an owner whose frames are confirmed late goes on although every read is refused")
    func refusedReads() {
        var desk = OwnerDesk.owning
        desk.isVerified = false
        _ = desk.make()
        #expect(desk.wait(500) == [.read(at(1))] && desk.handle(.readFailed) == [] && !desk.owner.canMake)
        #expect(desk.handle(.stored(Self.frame(2), at: at(2))) == [.confirmed(Self.frame(2), at: at(2))])
        #expect(desk.owner.canMake && desk.owner.stalledSince == nil)
        #expect(desk.wait(400) == [.append(Self.frame(3))])
        desk.handle(.stored(Self.frame(3), at: at(3)))
        // A new connection proves nothing: the last record must be read, then the position of the next frame is proof enough.
        desk.handle(.disconnected)
        #expect(desk.handle(.connected) == [.read(at(3))])
        #expect(desk.handle(.readFailed) == [] && desk.wait(100) == [.read(at(3))] && !desk.owner.canMake)
        let mark = FrameHeader(term: desk.owner.term, number: 1, time: desk.now.wall, previous: 0)
        #expect(desk.handle(.record(.frame(mark), at: at(2))) == [], "an answer to no question")
        var other = OwnerDesk.owning
        other.handle(.disconnected)
        #expect(other.handle(.connected) == [.read(at(2))] && other.handle(.readFailed) == [])
        #expect(other.wait(400) == [.append(Self.frame(2))])
    }

    @Test("looks at the stream of an owner that waits for an answer do not end that it is stalled")
    func stalledLooks() {
        var desk = OwnerDesk.owning
        desk.isVerified = false
        desk.handle(.disconnected)
        desk.handle(.connected)
        let since = desk.now.monotonic
        for _ in 0..<20 {
            desk.handle(.readFailed)
            desk.handle(.removed(first: at(1)))
            desk.handle(.stored(Self.frame(1), at: at(9)))
            desk.wait(500)
        }
        #expect(desk.owner.stalledSince == since)
    }
}
