import Basics
import Delivery
import Operator
import Store
import Wire

/// The export: pages of rows, each read at once.
extension ControlServer {
    func exportRecords(_ command: ExportRecords) throws(OperatorProblem) -> ExportRecords.Answer {
        try exportRecords(command, bytes: Limits.Backup.exportedBytes)
    }

    /// Returns a page, which ends early when its rows reach this number of bytes.
    func exportRecords(
        _ command: ExportRecords, bytes: Int
    ) throws(OperatorProblem) -> ExportRecords.Answer {
        var page = ExportPage(limit: bytes)
        try reading { () throws(StoreError) in
            switch command.part {
            case .secrets: try fillSecrets(&page)
            case .senders: try fillSenders(&page, after: command.after)
            case .devices: try fillDevices(&page, from: command.after, command.limit)
            case .installations: try fillInstallations(&page, after: command.after, command.limit)
            case .groups: try fillGroups(&page, after: command.after, command.limit)
            }
        }
        return ExportRecords.Answer(rows: page.rows, next: page.next)
    }

    private func fillSecrets(_ page: inout ExportPage) throws(StoreError) {
        for name in ExportedSecret.Name.allCases {
            guard let value = try daemon.storage.store.setting(name.rawValue) else { continue }
            page.add(.secret(ExportedSecret(name: name, value: Redacted(value))))
        }
    }

    private func fillSenders(_ page: inout ExportPage, after: String?) throws(StoreError) {
        let start = after.flatMap { UInt64($0) } ?? 0
        let secrets = daemon.gateways.webhookSecrets
        let senders = try daemon.storage.store.senders().filter { $0.sender.number > start }
        page.add(
            senders, isLast: true, { .sender(SenderRow($0, secrets)) },
            position: { "\($0.sender.number)" })
    }

    /// Fills a page with devices and all their rows. `5` stands for the devices after number 5, `5/300` for device 5 from its row
    /// 300 on: one device may have more rows than a page.
    private func fillDevices(
        _ page: inout ExportPage, from position: String?, _ limit: Int
    ) throws(StoreError) {
        let parts = (position ?? "").split(separator: "/").compactMap { UInt64($0) }
        let (first, skipped) = (parts.first, parts.count == 2 ? parts[1] : nil)
        let start = first.flatMap { skipped == nil ? $0 : $0 > 0 ? $0 - 1 : nil }
        let devices = try daemon.storage.store.devices(after: start.map { DeviceID($0) }, limit: limit)
        for device in devices.map(\.device) {
            guard case .device(let state) = try daemon.storage.store.load(.device(device)),
                let record = state.record
            else { continue }
            let count = 1 + state.registrations.count + state.subscriptions.count
            var at = device.number == first ? Int(clamping: skipped ?? 0) : 0
            while at < count {
                guard !page.isFull else {
                    page.next = "\(device.number)/\(at)"
                    return
                }
                page.add(state.row(at, record))
                at += 1
            }
        }
        page.next = devices.count == limit ? devices.last.map { "\($0.device.number)" } : nil
    }

    private func fillInstallations(
        _ page: inout ExportPage, after: String?, _ limit: Int
    ) throws(StoreError) {
        let found = try daemon.storage.store.installations(after: after.map { Array($0.utf8) }, limit: limit)
        page.add(
            found, isLast: found.count < limit, { .installation($0.record) },
            position: { String(decoding: $0.record.id, as: UTF8.self) })
    }

    private func fillGroups(_ page: inout ExportPage, after: String?, _ limit: Int) throws(StoreError) {
        let parts = (after ?? "").split(separator: "/").compactMap { UInt64($0) }
        let start = parts.count == 2 ? GroupName(sender: SenderID(parts[0]), number: parts[1]) : nil
        let found = try daemon.storage.store.groups(after: start, limit: limit)
        page.add(
            found, isLast: found.count < limit, { .group($0) },
            position: { "\($0.name.sender.number)/\($0.name.number)" })
    }
}

/// The rows of one page of an export.
private struct ExportPage {
    private(set) var rows: [[JSONValue.Member]] = []
    /// Where the next page starts. `nil` after the last one.
    var next: String?
    private var bytes = 0
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// Whether no other row may follow: the line of a response is limited.
    var isFull: Bool { bytes >= limit }

    mutating func add(_ row: RegistryRow) {
        let json = row.json
        bytes += json.compact.utf8.count
        rows.append(json.members ?? [])
    }

    /// Adds entries, as far as they fit. `position` names an entry, after which the next page starts.
    mutating func add<Entry>(
        _ entries: [Entry], isLast: Bool, _ row: (Entry) -> RegistryRow, position: (Entry) -> String
    ) {
        for (at, entry) in entries.enumerated() {
            guard !isFull else { return next = position(entries[at - 1]) }
            add(row(entry))
        }
        next = isLast ? nil : entries.last.map(position)
    }
}

extension DeviceState {
    /// Returns one of its rows: the device, its registrations, then their subscriptions.
    fileprivate func row(_ at: Int, _ record: DeviceRecord) -> RegistryRow {
        if at == 0 { return .device(record) }
        let at = at - 1
        return at < registrations.count
            ? .registration(registrations[at])
            : .subscription(subscriptions[at - registrations.count])
    }
}
