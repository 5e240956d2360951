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
        entry.updateLink { $0.isIdle = isIdle }
        turn.traceConnection(entry.device, isIdle ? .idle : .active)
        guard !isIdle, entry.mailbox.delayed > 0 else { return }
        redeliver(from: entry.release(&turn) { $0.state.isDelayed }, entry, &turn)
    }
}
