import Operator

extension ShowInstallation: ReportedCommand {
    static func text(of answer: Answer) -> String {
        var text = "installation   \(Report.cell(answer.installation))\n"
        text += "sender         \(Report.cell(answer.sender))\n"
        text += "created        \(Report.time(answer.createdAt))\n"
        text += "last used      \(Report.time(answer.usedAt))\n"
        text += "tokens         \(answer.hasEnded ? "revoked, or deleted by the app" : "valid")\n"
        return text + "registrations  \(answer.registrations)\n"
    }
}

extension RevokeInstallation: ReportedCommand {
    static func text(of answer: Answer) -> String {
        "The tokens of \(Report.cell(answer.installation)) are revoked.\n"
    }
}
