import Basics
import Catalogue
import Operator
import Wire

extension VirtualDeviceRow {
    /// The device as lines of text.
    fileprivate var text: String {
        let rows: [(String, String)] = [
            ("Device", "\(device.number)"), ("Token", Report.cell(token?.revealed)),
            ("Sender", Report.cell(sender)), ("App", Report.cell(app)), ("Label", Report.cell(label)),
            ("Connected", connection),
            ("Acknowledges", Report.cell(acknowledges)), ("Received", "\(received)"),
        ]
        return rows.map { $0.0.padded(14) + $0.1 + "\n" }.joined()
    }

    private var connection: String {
        if isForgotten { return "no, forgotten by the server" }
        return isOnline ? Report.cell(isConnected) : "no, offline"
    }
}

extension String {
    fileprivate func padded(_ width: Int) -> String {
        self + String(repeating: " ", count: max(1, width - count))
    }
}

extension ReportedCommand where Answer == VirtualDeviceRow {
    static func text(of answer: VirtualDeviceRow) -> String { answer.text }
}

extension AddVirtualDevice: ReportedCommand {}
extension ChangeVirtualDevice: ReportedCommand {}
extension ReinstallVirtualDevice: ReportedCommand {}
extension UnregisterVirtualDevice: ReportedCommand {}

extension SettleVirtualDevice: ReportedCommand {
    static func text(of answer: Answer) -> String {
        guard answer.isSettled else { return "More is on its way: \(answer.waiting) messages.\n" }
        return answer.waiting == 0
            ? "Nothing more is on its way.\n"
            : "Nothing comes while the device is offline; \(answer.waiting) messages wait for it.\n"
    }

    static func verdict(on answer: Answer) -> ExitCode { answer.isSettled ? .success : .failure }
}

extension RemoveVirtualDevice: ReportedCommand {
    static func text(of answer: VirtualDeviceRow) -> String {
        "The virtual device \(answer.device.number) is removed.\n"
    }
}

extension ListVirtualDevices: ReportedCommand {
    static func text(of answer: Answer) -> String {
        ListReport<VirtualDeviceRow>(
            columns: [
                ("DEVICE", { "\($0.device.number)" }), ("SENDER_ID", { Report.cell($0.sender) }),
                ("APP", { Report.cell($0.app) }), ("LABEL", { Report.cell($0.label) }),
                ("ONLINE", { Report.cell($0.isOnline) }),
                ("CONNECTED", { $0.isForgotten ? "forgotten" : Report.cell($0.isConnected) }),
                ("ACKNOWLEDGES", { Report.cell($0.acknowledges) }),
                ("RECEIVED", { Report.cell($0.received) }), ("TOKEN", { Report.cell($0.token?.revealed) }),
            ], none: "No virtual devices: create one with ccsctl virtual-devices add."
        ).text(answer.devices)
    }
}

extension ReadVirtualDevice: ReportedCommand {
    static func text(of answer: Answer) -> String {
        let table = ListReport<Row>(
            columns: [
                ("NUMBER", { "\($0.number)" }), ("RECEIVED", { Report.time($0.receivedAt) }),
                ("TYPE", { $0.type.rawValue }), ("FROM", { Report.cell($0.from) }),
                ("PERSISTENT_ID", { Report.cell($0.persistentID) }),
                ("REPEATED", { Report.cell($0.isRepeated) }),
                ("DATA", { Report.cell($0.rawData ?? JSONValue.object($0.data).compact) }),
            ], none: "No messages."
        ).text(answer.messages)
        return table + Report.dropped(answer.dropped)
    }
}

extension ListSent: ReportedCommand {
    static func text(of answer: Answer) -> String {
        ListReport<Row>(
            columns: [
                ("NUMBER", { "\($0.number)" }), ("SENT", { Report.time($0.sentAt) }),
                ("MESSAGE_ID", { Report.cell($0.messageID) }), ("STATE", { $0.state.rawValue }),
                ("ERROR", { Report.cell($0.error) }),
            ], none: "No messages."
        ).text(answer.messages)
    }
}

extension SendFromVirtualDevice: ReportedCommand {
    static func text(of answer: Answer) -> String {
        let id = Report.cell(answer.messageID)
        return switch answer.outcome {
        case .stored: "The message \(id) is stored.\n"
        case .waiting: "The message \(id) waits until the device is connected.\n"
        case .refused: "The message \(id) was refused: \(Report.cell(answer.error)).\n"
        }
    }

    static func verdict(on answer: Answer) -> ExitCode { answer.outcome == .refused ? .failure : .success }
}
