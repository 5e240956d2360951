import Basics
import ClusterLog
import ClusterLogSupport

/// A stranger who can read and write the log, and is no node.
extension LogWorld {
    /// Writes a record: one that the log has, as it is or changed, or a forged frame.
    func intrude() {
        let forged = FrameHeader(
            term: forgedTerm(), number: UInt64.random(in: 1...8, using: &random), time: now().wall,
            previous: UInt64.random(in: 0...8, using: &random))
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            guard let copy = log.records.randomElement(using: &random) else { return }
            _ = log.store(copy, &random)
        case 1:
            guard var changed = log.records.randomElement(using: &random),
                let at = changed.indices.randomElement(using: &random)
            else { return }
            changed[at] ^= UInt8.random(in: 1...255, using: &random)
            _ = log.store(changed, &random)
        case 2: _ = log.store(Array("no frame".utf8), &random)
        default:
            let content: [UInt8] = forged.kind == .mark ? [] : [1, 2, 3, 4, 5, 6, 7, 8]
            _ = log.store(forged.frame(with: content, in: strangersKey), &random)
        }
    }

    /// The term of the first owner that is found, the one after it, or one far away.
    private func forgedTerm() -> Term {
        let term = nodes.lazy.compactMap { $0.owner?.term }.first ?? Term(Epoch(1), Claim(7))
        switch Int.random(in: 0..<3, using: &random) {
        case 0: return term
        case 1: return Term(term.epoch.next, Claim(random.next()))
        default: return Term(Epoch(1 << 61), Claim(random.next()))
        }
    }
}
