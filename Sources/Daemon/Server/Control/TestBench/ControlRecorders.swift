import Basics
import ClientProtocol
import Delivery
import Operator
import TestBench
import Wire

/// The commands of the recorders.
extension ControlServer {
    func addRecorder(_ command: AddRecorder) throws(OperatorProblem) -> RecorderRow {
        try requireSender(command.sender)
        return row(try onBench { bench, completed in bench.record(command.sender, completed: completed) })
    }

    func listRecorders() throws(OperatorProblem) -> ListRecorders.Answer {
        let states = try onBench { bench, completed in completed(.success(bench.recorderStates())) }
        return ListRecorders.Answer(recorders: states.map { row($0) })
    }

    private func row(_ state: RecorderState) -> RecorderRow {
        RecorderRow(
            sender: state.sender, isConnected: state.isConnected,
            hasWebhook: daemon.senders.directory[state.sender]?.usesWebhook == true,
            received: state.received, dropped: state.dropped)
    }

    func readRecorder(_ command: ReadRecorder, _ call: Call) throws(OperatorProblem) -> ReadRecorder.Answer {
        let messages = try waiting(command.wait, for: command.count, call) { bench, wait, completed in
            bench.recorded(
                for: command.sender, after: command.after, limit: command.limit, wait, completed: completed)
        }
        let state = try onBench { bench, completed in
            completed(
                Result { () throws(TestBenchProblem) in try bench.state(ofRecorder: command.sender) })
        }
        return ReadRecorder.Answer(
            messages: messages.map { ReadRecorder.Row($0) }, received: state.received, dropped: state.dropped)
    }

    func clearRecorder(_ command: ClearRecorder) throws(OperatorProblem) -> ClearRecorder.Answer {
        ClearRecorder.Answer(
            removed: try onBench { bench, completed in
                completed(
                    Result { () throws(TestBenchProblem) in try bench.clearRecorder(of: command.sender) })
            })
    }

    func removeRecorder(_ command: RemoveRecorder) throws(OperatorProblem) -> RecorderRow {
        row(
            try onBench { bench, completed in
                completed(
                    Result { () throws(TestBenchProblem) in try bench.removeRecorder(of: command.sender) })
            })
    }
}

extension ReadRecorder.Row {
    fileprivate init(_ entry: InboxMessage<RecordedMessage>) {
        let content = entry.message.content
        let isReceipt = entry.message.kind == .receipt
        self.init(
            number: entry.number, receivedAt: entry.receivedAt, type: isReceipt ? .receipt : .message,
            messageID: Self.text(content.messageID),
            token: isReceipt ? nil : Redacted(Self.text(content.from)),
            app: content.category.isEmpty ? nil : Self.text(content.category),
            timeToLive: content.lifetimeSeconds, isRepeated: entry.isRepeated,
            data: content.pairs.map { JSONValue.Member($0.key, .string($0.value)) })
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
