import Basics
import Catalogue
import Operator
import Wire

extension FaultRow {
    /// The messages that meet it.
    fileprivate var scope: String {
        if let sender { return "of the sender \(sender.number)" }
        return "to \(Report.cell(token?.revealed))"
    }

    /// What happens to them.
    fileprivate var effect: String {
        switch action {
        case .refuse:
            "refuse \(Report.cell(error)) (\(Report.cell(reason)))"
                + (retryAfter.map { ", Retry-After \($0)" } ?? "")
        case .delay: "delay \(milliseconds ?? 0) ms"
        case .drop, .duplicate: action.rawValue
        }
    }
}

extension AddFault: ReportedCommand {
    static func text(of answer: FaultRow) -> String {
        "Fault \(answer.fault): \(answer.effect), for the next \(answer.remaining) messages \(answer.scope).\n"
    }
}

extension RemoveFault: ReportedCommand {
    static func text(of answer: FaultRow) -> String {
        "The fault \(answer.fault) is removed; it has acted on \(answer.hits) messages.\n"
    }
}

extension ListFaults: ReportedCommand {
    static func text(of answer: Answer) -> String {
        ListReport<FaultRow>(
            columns: [
                ("FAULT", { "\($0.fault)" }), ("EFFECT", { $0.effect }), ("MESSAGES", { $0.scope }),
                ("REMAINING", { "\($0.remaining)" }), ("HITS", { "\($0.hits)" }),
            ], none: "No faults: add one with ccsctl faults add."
        ).text(answer.faults)
    }
}

extension ClearFaults: ReportedCommand {
    static func text(of answer: Answer) -> String { "\(answer.removed) faults are removed.\n" }
}

extension ResetTestBench: ReportedCommand {
    static func text(of answer: Answer) -> String {
        "removed \(answer.devices) devices, \(answer.recorders) recorders and \(answer.faults) faults\n"
    }
}
