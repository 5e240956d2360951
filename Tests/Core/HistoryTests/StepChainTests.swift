import Basics
import Delivery
import Testing

@testable import History

/// Which steps are of one message.
@Suite struct StepChainTests {
    private static let position: UInt64 = 7

    private func step(_ kind: HistoryStep.Kind, of owner: UInt64) -> HistoryStep {
        var step = HistoryStep(kind, .stored, sequence: Self.position, at: 1_000)
        if kind.isOfDevice { step.device = owner } else { step.sender = owner }
        return step
    }

    /// The steps that are the first ones of their message.
    private func firsts(_ steps: [HistoryStep]) -> [Int] {
        var chains = StepChains()
        _ = chains.chain(steps.span, text: 0)
        return steps.indices.filter { chains.isFirst($0) }
    }

    @Test("steps with one position in two mailboxes are of two messages, also if their hashes are equal")
    func mailboxes() throws {
        func place(_ owner: UInt64) -> UInt64 { HistoryHash.mix(Self.position ^ owner &<< 20) & 63 }
        let other = try #require((2...10_000).first { place($0) == place(1) })
        #expect(firsts([step(.downstream, of: 1), step(.downstream, of: other)]) == [0, 1])
        #expect(firsts([step(.downstream, of: 1), step(.downstream, of: 1)]) == [0], "canary")
    }

    @Test("a device and a sender may have the same number")
    func kinds() {
        #expect(firsts([step(.downstream, of: 1), step(.upstream, of: 1)]) == [0, 1])
        #expect(firsts([step(.upstream, of: 1), step(.receipt, of: 1)]) == [0, 1])
    }
}
