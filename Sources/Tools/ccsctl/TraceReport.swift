import Basics
import Operator

extension TraceDevice: ReportedCommand {
    static func text(of line: Line) -> String {
        switch line {
        case .started(let start): "Tracing device \(start.device.number); Ctrl-C ends it.\n"
        case .step(let step): text(of: step)
        }
    }

    private static func text(of step: Step) -> String {
        let time = Report.time(step.time).dropFirst(11).prefix(12)
        let arrow =
            switch step.direction {
            case "downstream": "down"
            case "upstream": "up  "
            default: "    "
            }
        let word = Report.cell(step.step)
        var text = "\(time)  \(arrow)  "
        text += word + String(repeating: " ", count: max(0, 13 - word.count))
        let rest = [
            step.messageID.map { Report.cell($0) }, step.sender.map { "sender \(Report.cell($0))" },
            step.registration.map { "registration \($0)" }, step.detail.map { Report.cell($0) },
            step.persistentID.map { Report.cell($0) },
        ]
        text += rest.compactMap { $0 }.joined(separator: "  ")
        while text.hasSuffix(" ") { text.removeLast() }
        return text + "\n"
    }

    static func text(of answer: Answer) -> String {
        var text = "\(answer.lines) steps"
        if answer.leftOut > 0 {
            text += "; \(answer.leftOut) more were left out because the output was read too slowly"
        }
        return text + ".\n"
    }
}
