import Store

/// Every accepted message has ended once or is pending, by the store's own counts and by those of the checkers.
struct ConservationChecker {
    func check(_ state: MemoryState, _ when: String, _ world: World) {
        let audit = state.audit()
        if !audit.holds { world.fail("conservation", "\(when): \(audit)") }
        let pending = world.checkers.endings.pending
        if audit.downstreamPending != pending.downstream || audit.upstreamPending != pending.upstream {
            world.fail("conservation", "\(when): \(audit), but \(pending) are pending")
        }
    }
}
