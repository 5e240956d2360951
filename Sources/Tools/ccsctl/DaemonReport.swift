import Basics
import Catalogue
import Operator

extension ShowClock: ReportedCommand {
    static func text(of answer: Answer) -> String {
        var text = "time      \(Report.time(answer.time))\n"
        if let clock = answer.testClock { text += "test      \(StatusReport.text(of: clock))\n" }
        guard answer.isInDoubt else { return text + "trusted   yes\n" }
        text += "trusted   no: \(Report.cell(answer.problem))\n"
        if let seconds = answer.trustedInSeconds {
            text += "          without confirmation in \(StatusReport.span(seconds))\n"
        }
        return text + "Nothing expires until then: set the clock, or accept it with ccsctl clock accept\n"
    }
}

extension AcceptClock: ReportedCommand {
    static func text(of answer: Answer) -> String {
        "The clock \(answer.wasInDoubt ? "is now trusted" : "was not in doubt"): \(Report.time(answer.time)).\n"
    }
}

extension AdvanceClock: ReportedCommand {
    static func text(of answer: Answer) -> String {
        "The server's time is \(Report.time(answer.time)), \(StatusReport.span(answer.advancedSeconds)) ahead of the machine.\n"
    }
}

extension DrainSessions: ReportedCommand {
    static func text(of answer: Answer) -> String {
        let drained = "\(answer.sessions) sessions were drained.\n"
        // What serves and has drained none was released, or had none.
        if answer.state == ServiceWord.serving.rawValue, answer.sessions == 0 {
            return "No session was drained; the ports of clients are open.\n"
        }
        guard answer.state == ServiceWord.drained.rawValue else { return drained }
        return drained
            + "The ports of clients are closed until ccsctl drain --release or a restart of ccsd.\n"
    }
}

extension ReloadConfiguration: ReportedCommand {
    static func text(of answer: Answer) -> String {
        func line(_ title: String, _ names: [String]) -> String {
            names.isEmpty ? "" : "\(title): \(names.map { Report.cell($0) }.joined(separator: ", "))\n"
        }
        return "The new configuration and certificates are in use.\n" + line("changed", answer.changed)
            + line("needs a restart", answer.needsRestart)
    }
}

extension CheckConfiguration: ReportedCommand {
    static func text(of answer: Answer) -> String {
        answer.findings.map { "\($0.severity.rawValue): \(Report.cell($0.text))\n" }.joined()
            + (answer.isSound ? "The configuration is valid.\n" : "The configuration is not valid.\n")
    }

    static func verdict(on answer: Answer) -> ExitCode { answer.isSound ? .success : .configuration }
}

extension SendMessage: ReportedCommand {
    static func text(of answer: Answer) -> String {
        switch answer.outcome {
        case .ack:
            "ACK for \(Report.cell(answer.messageID)).\n"
                + (answer.registration.map { "The app has a newer token: \(Report.cell($0.revealed))\n" }
                    ?? "")
        case .nack: "NACK \(Report.cell(answer.error)): \(Report.cell(answer.errorDescription))\n"
        }
    }

    static func verdict(on answer: Answer) -> ExitCode { answer.outcome == .ack ? .success : .failure }
}
