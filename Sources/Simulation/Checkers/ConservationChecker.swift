import Store

/// Every message that was accepted has ended once or is pending: the store's own counts, and those of whoever saw each change.
struct ConservationChecker {
    func check(_ state: MemoryState, _ when: String, _ world: World) {
        let audit = state.audit()
        if !audit.holds { world.fail("conservation", "\(when): \(audit)") }
        let pending = world.checkers.endings.pending
        if audit.downstreamPending != pending.downstream || audit.upstreamPending != pending.upstream {
            world.fail("conservation", "\(when): \(audit), and \(pending) are pending")
        }
    }
}
