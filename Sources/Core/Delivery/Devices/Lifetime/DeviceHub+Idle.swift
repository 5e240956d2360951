import Basics

/// Messages that wait until the device is active (`delay_while_idle`, ccs-xmpp 6, mcs-device 3.5).
///
/// A connected device is active until it reports that it is idle. While it is idle, such messages are treated like those of an
/// offline device: they collapse, are capped and expire, and a now-or-never message is dropped. All others are sent at once.
extension DeviceHub {
    /// Whether a message would have to wait until the device is active.
    func waits(_ delaysWhileIdle: Bool, for entry: DeviceEntry) -> Bool {
        delaysWhileIdle && entry.link?.isIdle == true
    }

    mutating func idleChanged(
        _ connection: ConnectionID, _ entry: DeviceEntry, isIdle: Bool, _ turn: inout Turn
    ) {
        guard let link = entry.link, link.connection == connection, link.isIdle != isIdle else { return }
        entry.setIdle(isIdle)
        turn.traceConnection(entry.device, isIdle ? .idle : .active)
        if !isIdle { releaseDelayed(entry, &turn) }
    }

    /// Delivers from the first message that waited for the device to be active.
    private mutating func releaseDelayed(_ entry: DeviceEntry, _ turn: inout Turn) {
        guard entry.mailbox.delayed > 0 else { return }
        var first: SequenceNumber?
        for index in entry.mailbox.slots.indices where entry.mailbox.slots[index].state.isDelayed {
            entry.setState(entry.mailbox.slots[index].state.unsent, at: index, &turn)
            first = first ?? entry.mailbox.slots[index].entry.sequence
        }
        turn.demand(
            entry.mailbox.delayed == 0, "messages are still delayed for an active device", of: entry)
        redeliver(from: first, entry, &turn)
    }
}
