import Basics
import Delivery
import Transport

/// Whether the machine's clock is trusted.
extension ReactorHost {
    /// Publishes the state of the clock, as the first partition sees it for all; logs an error while the clock is in doubt.
    func publishClock() {
        guard index == 0, let core = turns.leader else { return }
        let before = clock.current
        clock.update(core.core.clock)
        let state = core.core.clockDoubt.map {
            ClockStatus.State(doubt: $0, graceEnds: core.core.clockGraceEnds)
        }
        if state != before { clock.update(state) }
        if let state {
            log.repeating(.error, "clock_in_doubt", ["problem": .text(state.doubt.text)])
        } else if before != nil {
            log.notice("clock_trusted")
        }
    }

    /// Ticks all partitions after the clock was advanced, so that what is due is done at once.
    func clockAdvanced() {
        lastSessionTime = nil
        accept(.tick)
    }

    /// Accepts the clock because a device that connected before the doubt has the same time.
    func confirmClock() {
        log.repeating(.notice, "clock_confirmed_by_device")
        for mailbox in mailboxes { mailbox.post(Parcel(events: [.clockAccepted(by: .device)])) }
    }
}
