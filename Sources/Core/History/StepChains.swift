import Delivery

/// Finds the steps of each message among those that are encoded together.
struct StepChains {
    /// A step's place among those of its message.
    struct Link {
        /// The following step of the same message; -1 after the last.
        var next: Int32 = -1
        /// Of the first step of a message, its last one; -1 at all others.
        var tail: Int32 = -1
        /// Where the step's text begins.
        var text: Int32 = 0
    }

    /// The first step of a message, plus one, by a hash of its position; 0 if there is none.
    private var heads: [Int32] = []
    private var links: [Link] = []

    /// Chains steps, whose text begins at `start`. Returns where it ends.
    mutating func chain(_ steps: borrowing Span<HistoryStep>, text start: Int) -> Int {
        prepare(steps.count)
        let mask = UInt64(truncatingIfNeeded: heads.count &- 1)
        var textAt = start
        for at in steps.indices {
            links[at] = Link(
                next: -1, tail: Int32(truncatingIfNeeded: at), text: Int32(truncatingIfNeeded: textAt))
            textAt &+= Int(steps[at].idBytes) &+ Int(steps[at].detailBytes)
            if steps[at].sequence != 0 { add(at, steps, mask) }
        }
        return textAt
    }

    @inline(__always)
    private mutating func add(_ at: Int, _ steps: borrowing Span<HistoryStep>, _ mask: UInt64) {
        let (sequence, kind, owner) = (steps[at].sequence, steps[at].kind, steps[at].owner)
        let place = Int(truncatingIfNeeded: HistoryHash.mix(sequence ^ owner &<< 20) & mask)
        let head = Int(heads[place]) &- 1
        guard head >= 0, steps[head].sequence == sequence, steps[head].kind == kind,
            steps[head].owner == owner
        else {
            heads[place] = Int32(truncatingIfNeeded: at &+ 1)
            return
        }
        links[Int(links[head].tail)].next = Int32(truncatingIfNeeded: at)
        links[head].tail = Int32(truncatingIfNeeded: at)
        links[at].tail = -1
    }

    /// The link of a step.
    @inline(__always)
    subscript(at: Int) -> Link { links[at] }

    /// Whether a step is the first of its message.
    @inline(__always)
    func isFirst(_ at: Int) -> Bool { links[at].tail >= 0 }

    private mutating func prepare(_ count: Int) {
        var size = 64
        while size < 2 * count { size *= 2 }
        if heads.count == size {
            for at in heads.indices { heads[at] = 0 }
        } else {
            heads = Array(repeating: 0, count: size)
        }
        if links.count < count { links = Array(repeating: Link(), count: count) }
    }
}
