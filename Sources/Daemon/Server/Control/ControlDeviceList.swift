import Basics
import Delivery
import Operator
import Store

/// The list of devices, which reads the store in steps, so that a page takes bounded memory and time with any number of devices.
extension ControlServer {
    func listDevices(_ command: ListDevices) throws(OperatorProblem) -> ListDevices.Answer {
        var page = DevicePage(rows: [], examined: 0, after: command.after)
        while true {
            let room = Limits.Operator.examinedDevices - page.examined
            let step = min(Limits.Operator.devicesPerRead, room)
            let after = page.after
            let found = try reading { () throws(StoreError) in
                try daemon.storage.store.devices(after: after, limit: step)
            }
            if try examine(found, command, &page) { break }
            if found.count < step { return page.answer(next: nil) }
            guard page.examined < Limits.Operator.examinedDevices else { break }
        }
        let last = page.after
        let isLast = try reading { () throws(StoreError) in
            try daemon.storage.store.devices(after: last, limit: 1).isEmpty
        }
        return page.answer(next: isLast ? nil : last)
    }

    /// The rows so far, and the last examined device.
    private struct DevicePage {
        var rows: [ListDevices.Row]
        var examined: Int
        var after: DeviceID?

        func answer(next: DeviceID?) -> ListDevices.Answer {
            ListDevices.Answer(devices: rows, examined: examined, nextAfter: next)
        }
    }

    /// Adds the devices that meet the conditions. Returns whether the page is full.
    private func examine(
        _ records: [DeviceRecord], _ command: ListDevices, _ page: inout DevicePage
    ) throws(OperatorProblem) -> Bool {
        let candidates = records.filter { command.filter.allows($0.seenAt) }
        let devices = candidates.map(\.device)
        let online = try ask { $0.connected(among: devices) }.reduce(into: Set()) { $0.formUnion($1) }
        let present = candidates.filter { command.filter.allows(isOnline: online.contains($0.device)) }
        // Only those that may be listed are read: without conditions on their content, those that the page has room for.
        let isPlain = !command.filter.needsState
        let wanted = isPlain ? Array(present.prefix(command.limit - page.rows.count)) : present
        let states = daemon.storage.store.load(wanted.map { .device($0.device) })
        let base = page.examined
        for (record, result) in zip(wanted, states) {
            // As in any list, a device that cannot be read is left out; the audit names its record.
            guard case .success(.device(let state)) = result, command.filter.allows(state) else { continue }
            page.rows.append(ListDevices.Row(record, state, isOnline: online.contains(record.device)))
            guard page.rows.count == command.limit else { continue }
            page.after = record.device
            page.examined = base + records.count { $0.device <= record.device }
            return true
        }
        page.examined += records.count
        page.after = records.last?.device ?? page.after
        return false
    }
}

extension ListDevices.Filter {
    /// Whether the registrations or messages of a device matter.
    fileprivate var needsState: Bool { sender != nil || app != nil || channel != nil || isWaiting }

    /// Whether a device with this last contact is wanted. One whose contact is unknown meets no condition on it.
    fileprivate func allows(_ contact: UnixMilliseconds) -> Bool {
        guard seenBefore != nil || seenAfter != nil else { return true }
        guard let contact = ControlServer.contact(contact) else { return false }
        return contact < seenBefore ?? .max && contact >= seenAfter ?? .min
    }

    fileprivate func allows(isOnline: Bool) -> Bool {
        switch presence {
        case .online: isOnline
        case .offline: !isOnline
        case nil: true
        }
    }

    fileprivate func allows(_ state: DeviceState) -> Bool {
        guard !isWaiting || state.mailbox.contains(where: { $0.kind == .message }) else { return false }
        guard sender != nil || app != nil || channel != nil else { return true }
        let category = app.map { Array($0.utf8) }
        return state.registrations.contains { registration in
            sender.map { registration.allows($0) } ?? true
                && category.map { registration.category == $0 } ?? true
                && channel.map { registration.deliveryChannel == $0 } ?? true
        }
    }
}

extension ListDevices.Row {
    fileprivate init(_ record: DeviceRecord, _ state: DeviceState, isOnline: Bool) {
        let channels = Set(state.registrations.map(\.deliveryChannel))
        self.init(
            device: record.device, createdAt: record.createdAt, seenAt: ControlServer.contact(record.seenAt),
            isOnline: isOnline, registrations: state.registrations.count,
            channels: DeliveryChannel.allCases.filter { channels.contains($0) },
            waiting: state.mailbox.count { $0.kind == .message })
    }
}

extension Registration {
    /// The channel for operators; a push endpoint, whose messages the app server encrypts, counts as a web app.
    fileprivate var deliveryChannel: DeliveryChannel {
        switch channel {
        case .apns: .apns
        case .webPush: .web
        case .mcs: sender == nil ? .web : .mcs
        }
    }
}
