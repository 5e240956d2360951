import Basics
import Catalogue
import Operator
import Wire

extension AddRecorder: ReportedCommand {
    static func text(of answer: RecorderRow) -> String {
        if answer.isConnected, answer.hasWebhook {
            return
                "The sender \(answer.sender.number) has a webhook, which gets its messages in place of the recorder: pause it with ccsctl senders webhook pause \(answer.sender.number).\n"
        }
        return answer.isConnected
            ? "Messages to the sender \(answer.sender.number) are recorded while no app server is connected.\n"
            : "The recorder of the sender \(answer.sender.number) is not logged in yet: see the log of ccsd.\n"
    }

    static func verdict(on answer: RecorderRow) -> ExitCode { answer.isConnected ? .success : .failure }
}

extension RemoveRecorder: ReportedCommand {
    static func text(of answer: RecorderRow) -> String {
        "Messages to the sender \(answer.sender.number) are not recorded any more.\n"
    }
}

extension ListRecorders: ReportedCommand {
    static func text(of answer: Answer) -> String {
        ListReport<RecorderRow>(
            columns: [
                ("SENDER_ID", { Report.cell($0.sender) }), ("CONNECTED", { Report.cell($0.isConnected) }),
                ("WEBHOOK", { Report.cell($0.hasWebhook) }),
                ("RECEIVED", { Report.cell($0.received) }), ("DROPPED", { Report.cell($0.dropped) }),
            ], none: "Nothing is recorded: begin with ccsctl recorders add."
        ).text(answer.recorders)
    }
}

extension ReadRecorder: ReportedCommand {
    static func text(of answer: Answer) -> String {
        let table = ListReport<Row>(
            columns: [
                ("NUMBER", { "\($0.number)" }), ("RECEIVED", { Report.time($0.receivedAt) }),
                ("TYPE", { $0.type.rawValue }), ("MESSAGE_ID", { Report.cell($0.messageID) }),
                ("APP", { Report.cell($0.app) }), ("REPEATED", { Report.cell($0.isRepeated) }),
                ("DATA", { Report.cell(JSONValue.object($0.data).compact) }),
            ], none: "No messages."
        ).text(answer.messages)
        return table + Report.dropped(answer.dropped)
    }
}

extension ClearRecorder: ReportedCommand {
    static func text(of answer: Answer) -> String { "\(answer.removed) messages are removed.\n" }
}

extension Report {
    /// A line on messages that an inbox had no room for, if there are any.
    static func dropped(_ count: Int) -> String {
        count == 0 ? "" : "\(count) older messages were dropped: the inbox had no room for them.\n"
    }
}
