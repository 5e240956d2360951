import Delivery

/// Finds the steps of each message among those that are encoded together.
struct StepChains {
    /// The first step of a message, plus one, by a hash of its position; 0 if there is none.
    private var heads: [Int32] = []
    /// The following step of the same message; -1 after the last.
    private(set) var next: [Int32] = []
    /// Of the first step of a message, its last one; -1 at all others.
    private var tails: [Int32] = []
    /// Where the text of each step begins.
    private(set) var text: [Int32] = []

    /// Chains steps, whose text begins at `start`. Returns where it ends.
    mutating func chain(_ steps: ArraySlice<HistoryStep>, text start: Int) -> Int {
        prepare(steps.count)
        let mask = UInt64(truncatingIfNeeded: heads.count &- 1)
        var textAt = start
        var at = 0
        for index in steps.indices {
            next[at] = -1
            tails[at] = Int32(truncatingIfNeeded: at)
            text[at] = Int32(truncatingIfNeeded: textAt)
            textAt &+= Int(steps[index].idBytes) &+ Int(steps[index].detailBytes)
            if steps[index].sequence != 0 {
                add(at, steps[index], steps, mask)
            }
            at &+= 1
        }
        return textAt
    }

    @inline(__always)
    private mutating func add(
        _ at: Int, _ step: borrowing HistoryStep, _ steps: borrowing ArraySlice<HistoryStep>, _ mask: UInt64
    ) {
        let place = Int(truncatingIfNeeded: HistoryHash.mix(step.sequence ^ step.owner &<< 20) & mask)
        let head = Int(heads[place]) &- 1
        if head >= 0 {
            let first = steps.startIndex &+ head
            if steps[first].sequence == step.sequence, steps[first].kind == step.kind,
                steps[first].owner == step.owner
            {
                next[Int(tails[head])] = Int32(truncatingIfNeeded: at)
                tails[head] = Int32(truncatingIfNeeded: at)
                tails[at] = -1
                return
            }
        }
        heads[place] = Int32(truncatingIfNeeded: at &+ 1)
    }

    /// Whether a step is the first of its message.
    @inline(__always)
    func isFirst(_ at: Int) -> Bool { tails[at] >= 0 }

    private mutating func prepare(_ count: Int) {
        var size = 64
        while size < 2 * count { size *= 2 }
        if heads.count == size {
            for at in heads.indices { heads[at] = 0 }
        } else {
            heads = Array(repeating: 0, count: size)
        }
        if next.count < count {
            next = Array(repeating: 0, count: count)
            tails = next
            text = next
        }
    }
}
