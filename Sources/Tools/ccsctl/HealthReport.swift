import Catalogue
import Operator

extension CheckHealth: ReportedCommand {
    static func text(of answer: Answer) -> String {
        guard !answer.findings.isEmpty else { return "ccsd is healthy: \(Report.cell(answer.state)).\n" }
        return answer.findings.map { finding in
            "\(finding.cause.rawValue): \(Report.safe(finding.problem))\n  \(Report.safe(finding.action))\n"
        }.joined()
    }

    static func verdict(on answer: Answer) -> ExitCode {
        answer.findings.first?.cause.exitCode ?? (answer.isHealthy ? .success : .failure)
    }
}

extension ShowFigures: ReportedCommand {
    static func text(of answer: Answer) -> String {
        TopScreen(previous: nil, current: answer).lines(width: nil, height: nil).joined(separator: "\n")
            + "\n"
    }
}
