import Basics
import Testing

@testable import NodeLinks

/// Two sessions with a wire between them that changes what one of them answers. A seed repeats a run.
private final class LinkWorld {
    /// Both ends, in a class so that one can be chosen.
    private final class End {
        var session: LinkSession
        var events: [LinkEvent] = []
        /// Bytes on their way to this end.
        var wire: [UInt8] = []
        var sent: [[UInt8]] = []
        var received: [[UInt8]] = []
        /// Copies of this end: what is still to be written, and whether they are ended.
        var copies: [LinkStreamID: Int] = [:]
        /// Copies of the peer: bytes that arrived and are not stored yet.
        var stored: [LinkStreamID: Int] = [:]
        var ends: [LinkStreamID: Int] = [:]
        var failures: [LinkFailure] = []
        init(_ session: consuming LinkSession) { self.session = session }
    }

    private var random: SeededRandom
    private var milliseconds: Int64 = 0
    private let ends: [End]
    private var isFaulty = true
    /// What the wire did, by its word.
    private(set) var faults: [String: Int] = [:]
    private(set) var problems: [String] = []

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        let now = Instant(nanoseconds: 0)
        ends = [
            End(LinkSession(own: LinkPair.identity(1), peer: NodeNumber(2), now: now)),
            End(LinkSession(own: LinkPair.identity(2), peer: NodeNumber(1), now: now)),
        ]
    }

    private var now: Instant { Instant(nanoseconds: milliseconds * 1_000_000) }
    private func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
    private func chance(_ percent: Int) -> Bool { number(0...99) < percent }

    /// Runs the world. Returns what was wrong; `lie` is a frame that no honest peer sends in the middle of it.
    func run(steps: Int = 250, lie: [UInt8]? = nil) -> [String] {
        for _ in 0..<4 { exchange() }
        for step in 0..<steps {
            act(ends[number(0...1)])
            milliseconds += Int64(number(0...80))
            for end in ends { end.session.tick(now: now, events: &end.events) }
            if let lie, step == steps / 2 { ends[1].wire += lie }
            exchange()
        }
        isFaulty = false
        for _ in 0..<(lie == nil ? 300 : 5) {
            milliseconds += 50
            for end in ends {
                end.session.tick(now: now, events: &end.events)
                for (id, left) in end.copies { write(left, to: id, of: end) }
                for id in end.stored.keys { store(id, of: end) }
            }
            exchange()
        }
        if lie == nil { finish() } else { refuse() }
        return problems
    }

    private func act(_ end: End) {
        switch number(0...9) {
        case 0...2:
            let parcel = (0..<number(0...40)).map { _ in UInt8(number(0...255)) }
            if end.session.send(parcel.raw, queued: 0, events: &end.events) { end.sent.append(parcel) }
        case 3:
            if let id = end.session.openStream([1].raw) { end.copies[id] = number(0...1_500_000) }
        case 4...5:
            if let (id, left) = end.copies.randomElement(using: &random) { write(left, to: id, of: end) }
        case 6...8: if let id = end.stored.keys.randomElement(using: &random) { store(id, of: end) }
        default:
            guard let id = end.stored.keys.randomElement(using: &random), chance(30) else { return }
            end.session.cancelStream(id)
            end.stored[id] = nil
            end.ends[id, default: 0] += 1
        }
    }

    private func write(_ left: Int, to id: LinkStreamID, of end: End) {
        let bytes = [UInt8](repeating: 7, count: min(left, 200_000))
        let taken = end.session.write(bytes.raw, to: id)
        end.copies[id] = left - taken
        guard left == taken else { return }
        end.session.endStream(id, isComplete: true)
        end.copies[id] = nil
    }

    private func store(_ id: LinkStreamID, of end: End) {
        end.session.consume(end.stored[id] ?? 0, of: id)
        end.stored[id] = 0
    }

    // MARK: The wire

    private func exchange() {
        for (end, peer) in [(ends[0], ends[1]), (ends[1], ends[0])] {
            var output = ByteBuffer()
            end.session.drain(into: &output)
            peer.wire += changed(output.copied())
            let count = isFaulty ? number(0...peer.wire.count) : peer.wire.count
            guard count > 0 else { continue }
            let bytes = Array(peer.wire.prefix(count))
            peer.wire.removeFirst(count)
            peer.session.receive(bytes.raw, now: now, events: &peer.events)
        }
        for end in ends { handle(end) }
    }

    /// Returns the frames that arrive for those that were sent: answers get lost, are repeated, or are those of others.
    private func changed(_ bytes: [UInt8]) -> [UInt8] {
        var (at, result) = (0, [UInt8]())
        while at < bytes.count {
            let length = (0..<4).reduce(0) { $0 | Int(bytes[at + $1]) << (8 * $1) }
            let frame = Array(bytes[at..<at + 4 + length])
            at += 4 + length
            let isStranger = isFaulty && chance(20)
            switch LinkFrame.Kind(rawValue: frame[4]) {
            case .pong where isStranger:
                var other = frame
                other[12] = 0x7f
                let forms = [
                    ("never", []), ("twice", frame + frame), ("another's", other + frame), ("late", other),
                ]
                let (word, changed) = forms[number(0...3)]
                faults["pong \(word)", default: 0] += 1
                result += changed
            case .cancel where isStranger:
                var other = frame
                other[8] = 0x7f
                faults["cancel twice, and another's", default: 0] += 1
                result += frame + frame + other
            case .credit where isStranger:
                var other = frame
                other[8] = 0x7f
                faults["another's credit", default: 0] += 1
                result += other + frame
            default: result += frame
            }
        }
        return result
    }

    private func handle(_ end: End) {
        for event in end.events {
            switch event {
            case .up: break
            case .parcel(let bytes): end.received.append(bytes)
            case .failed(let failure): end.failures.append(failure)
            case .stream(.opened(let id, _)): end.stored[id] = 0
            case .stream(.chunk(let id, let bytes)):
                if end.stored[id] == nil { problems.append("a chunk of a copy that is over") }
                end.stored[id]? += bytes.count
            case .stream(.ended(let id, _)):
                end.stored[id] = nil
                end.ends[id, default: 0] += 1
            case .stream(.cancelled(let id)):
                if end.copies.removeValue(forKey: id) == nil { problems.append("a copy is cancelled twice") }
            case .stream(.writable): break
            }
        }
        end.events = []
    }

    // MARK: The end

    private func finish() {
        for (end, peer) in [(ends[0], ends[1]), (ends[1], ends[0])] {
            if !end.session.isUp { problems.append("the link is down: \(end.failures)") }
            if end.sent != peer.received {
                problems.append("parcels: \(end.sent.count), \(peer.received.count)")
            }
            if !end.session.streams.outgoing.isEmpty || !end.session.streams.incoming.isEmpty {
                problems.append("copies are left: \(end.session.streams)")
            }
            if !end.copies.isEmpty || !end.stored.isEmpty { problems.append("a copy waits for ever") }
            if end.ends.values.contains(where: { $0 != 1 }) { problems.append("a copy ends twice") }
        }
    }

    /// After a lie, both ends are over, once and by name.
    private func refuse() {
        let (liar, end) = (ends[0], ends[1])
        guard case .invalid? = end.failures.first, end.failures.count == 1 else {
            return problems.append("the lie is no failure: \(end.failures)")
        }
        if liar.failures != [.refused(.invalid)] { problems.append("the other end: \(liar.failures)") }
        let before = end.received.count
        let isSent = end.session.send([1].raw, queued: 0, events: &end.events)
        let copy = end.session.openStream([1].raw)
        if isSent || copy != nil { problems.append("it is used although it is over") }
        end.session.receive([1, 0, 0, 0, 5].raw, now: now, events: &end.events)
        if !end.events.isEmpty || end.received.count != before {
            problems.append("it reports although it is over")
        }
        if end.session.nextTick != .distantFuture { problems.append("it waits although it is over") }
    }
}

/// `LinkSession` with answers that are late, repeated, missing, or those of others.
@Suite("node links in the simulation") struct LinkSimulationTests {
    @Test("strange answers lose, repeat and delay nothing, and nothing is left at the end")
    func seeds() {
        var faults: [String: Int] = [:]
        for seed in 0..<12 as Range<UInt64> {
            let world = LinkWorld(seed: seed)
            let found = world.run()
            #expect(found.isEmpty, "seed \(seed): \(found.prefix(5))")
            faults.merge(world.faults) { $0 + $1 }
        }
        #expect(faults.count == 6 && faults.values.allSatisfy { $0 >= 3 }, "\(faults)")
    }

    /// Frames of a copy, or about one, that was never begun or can not be so.
    private static let lies: [[UInt8]] = [
        // The end and a chunk of another's copy, a credit beyond the window, and a second introduction.
        [6, 0, 0, 0, 9, 0, 0, 0, 0x7f, 1], [6, 0, 0, 0, 7, 0, 0, 0, 0x7f, 1],
        [13, 0, 0, 0, 8, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], [2, 0, 0, 0, 77, 0],
    ]

    @Test("a peer that lies is cut off once and by name, and nothing goes on after that", arguments: lies)
    func liar(lie: [UInt8]) {
        for seed in 0..<5 as Range<UInt64> {
            let found = LinkWorld(seed: seed).run(steps: 40, lie: lie)
            #expect(found.isEmpty, "seed \(seed): \(found)")
        }
    }
}
