import Basics
import ClusterLog
import ClusterLogSupport
import Testing

/// Planted faults: each is found in some of the first worlds.
@Suite("canaries of the replicated log")
struct LogCanaryTests {
    private func findings(of kind: String, _ plant: (LogWorld) -> Void) -> Bool {
        (0..<60 as Range<UInt64>).contains { seed in
            let world = LogWorld(seed: seed, LogSimulationTests.settings(seed))
            plant(world)
            return world.run().contains { $0.hasPrefix(kind) }
        }
    }

    @Test("frames that a stranger makes with the secret of the cluster are found")
    func knownSecret() {
        #expect(findings(of: "") { $0.strangersKey = $0.key })
    }

    @Test("an owner that confirms on any answer is found")
    func anyAnswer() {
        #expect(
            findings(of: "confirmed") { world in
                world.tamper = { event, node, _ in
                    guard case .stored(let name, _) = event, let owner = node.owner, owner.state == .owning,
                        name.number == owner.reader.number + 1
                    else { return event }
                    return .stored(name, at: owner.reader.position.next)
                }
            })
    }

    @Test("an owner that takes a refusal for an answer is found")
    func refusal() {
        #expect(
            findings(of: "confirmed") { world in
                world.tamper = { event, node, _ in
                    guard case .refused(let name) = event, let owner = node.owner, owner.state == .owning,
                        name.number == owner.reader.number + 1
                    else { return event }
                    return .stored(name, at: owner.reader.position.next)
                }
            })
    }

    @Test("an owner that goes on after the mark of another is found")
    func deposed() {
        #expect(
            findings(of: "confirmed") { world in
                world.tamper = { event, node, _ in
                    guard case .record(.frame(let header), let position) = event, header.kind == .mark,
                        node.owner?.state == .owning, header.term != node.owner?.term
                    else { return event }
                    return .record(.foreign, at: position)
                }
            })
    }

    @Test("a claim that ignores an earlier mark of its epoch is found")
    func ignoredMark() {
        #expect(
            findings(of: "owners") { world in
                world.tamper = { event, node, _ in
                    guard case .record(.frame(let header), let position) = event, header.kind == .mark,
                        node.owner?.state == .claiming, header.term != node.owner?.term
                    else { return event }
                    return .record(.foreign, at: position)
                }
            })
    }

    @Test("two nodes with the same claim are found")
    func equalClaims() {
        #expect(findings(of: "owners") { $0.drawClaim = { _ in Claim(1) } })
    }

    @Test("a claim that serves before it has read up to its mark is found")
    func unread() {
        #expect(
            findings(of: "readers") { world in
                world.tamper = { event, node, _ in
                    guard case .record(.frame(let header), let position) = event, header.kind == .commit,
                        node.owner?.state == .claiming
                    else { return event }
                    return .record(.foreign, at: position)
                }
            })
    }

    @Test("frames that are appended again with other bytes are found")
    func otherBytes() {
        #expect(
            findings(of: "readers") { world in
                var appended: Set<[UInt8]> = []
                world.tamperFrame = { frame, _ in
                    guard !appended.insert(frame).inserted,
                        case .frame(let header) = FrameHeader.read(bytes: frame, in: world.key),
                        header.kind == .commit
                    else { return frame }
                    return header.frame(with: [UInt8](repeating: 0xee, count: 8), in: world.key)
                }
            })
    }

    @Test("an owner that never appends again is found")
    func neverAgain() {
        #expect(
            findings(of: "progress") { world in
                var appended: Set<FrameName> = []
                world.tamperEffects = { effects, _ in
                    effects.removeAll { effect in
                        guard case .append(let name) = effect else { return false }
                        return !appended.insert(name).inserted
                    }
                }
            })
    }

    @Test("an owner that reads on after a late answer, before it goes on, is found where reads are refused")
    func readsOn() {
        let longest = LogSimulationTests.longestPause(1) { world in
            world.tamper = { event, node, _ in
                guard case .stored = event, let owner = node.owner, !owner.canMake else { return event }
                return nil
            }
        }
        #expect(longest > 5_000)
    }

    @Test("an owner that does not look for what was not answered is found")
    func neverReads() {
        #expect(
            findings(of: "progress") { world in
                world.tamperEffects = { effects, _ in
                    effects.removeAll { if case .read = $0 { true } else { false } }
                }
            })
    }

    @Test("a reader that applies frames out of order is found")
    func outOfOrder() {
        #expect(
            findings(of: "readers") { world in
                world.rule = { reader, record, position in
                    let verdict = reader.read(record, at: position)
                    guard case .void(.notNext) = verdict, case .frame(let header) = record else {
                        return verdict
                    }
                    return .applies(header)
                }
            })
    }

    @Test("a reader that applies the frames of a deposed owner is found")
    func otherTerms() {
        #expect(
            findings(of: "readers") { world in
                world.rule = { reader, record, position in
                    let verdict = reader.read(record, at: position)
                    guard case .void(.otherTerm) = verdict, case .frame(let header) = record else {
                        return verdict
                    }
                    return .applies(header)
                }
            })
    }

    @Test("a reader that lets a second mark of an epoch begin it again is found")
    func secondMark() {
        #expect(
            // The frames of the first one are those of a rival.
            findings(of: "") { world in
                world.rule = { reader, record, position in
                    let verdict = reader.read(record, at: position)
                    guard case .void(.lateMark) = verdict, case .frame(let header) = record,
                        header.term.epoch == reader.term?.epoch
                    else { return verdict }
                    reader = LogReader(term: header.term, number: 1, position: position)
                    return .begins(header.term)
                }
            })
    }

    @Test("a start that skips what was not flushed is found")
    func skippedStart() {
        #expect(
            findings(of: "readers") { world in
                world.tamperStart = { node in
                    guard let term = node.reader.term else { return }
                    node.reader = LogReader(
                        term: term, number: node.reader.number + 1, position: node.reader.position.next)
                }
            })
    }

    @Test("a log that forgets what it has stored is found")
    func forgetful() {
        #expect(findings(of: "") { $0.log.forgets = true })
    }

    @Test("the oracle separates void frames from valid ones")
    func oracle() {
        let key = LogKey(cluster: 0, partition: 0)
        func frame(_ epoch: UInt64, _ claim: UInt64, _ number: UInt64, _ content: UInt64) -> [UInt8] {
            var entries = ByteBuffer()
            if number > 1 { entries.append(word: content) }
            return FrameHeader(term: Term(Epoch(epoch), Claim(claim)), number: number, time: 0)
                .frame(entries.bytes, in: key)
        }
        let records = [
            frame(1, 1, 1, 0), frame(1, 1, 3, 9), frame(1, 1, 2, 5), frame(1, 2, 1, 0), frame(1, 2, 2, 9),
            frame(1, 1, 3, 6), frame(2, 3, 1, 0), frame(1, 1, 4, 9), [1, 2, 3], frame(2, 3, 2, 7),
            frame(2, 3, 2, 9),
        ]
        let valid = LogCheckers.valid(records, in: key)
        #expect(valid.map(\.content) == [5, 6, 7] && valid.map(\.position) == [3, 6, 10])
    }
}
