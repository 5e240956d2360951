import Basics
import Operator

extension AddOperator: ReportedCommand {
    static func text(of answer: Answer) -> String {
        "operator  \(Report.cell(answer.name)) (\(answer.role.rawValue))\n"
            + "token     \(Report.cell(answer.token.revealed))\n"
            + "expires   \(answer.expiresAt.map { Report.time($0) } ?? "never")\n"
            + "\nKeep the token: only its digest is stored, so it cannot be shown again.\n"
    }
}

extension ListOperators: ReportedCommand {
    static func text(of answer: Answer) -> String {
        ListReport<Row>(
            columns: [
                ("NAME", { Report.cell($0.name) }), ("ROLE", { $0.role.rawValue }),
                ("CREATED", { Report.time($0.createdAt) }), ("EXPIRES", { Report.time($0.expiresAt) }),
                ("EXPIRED", { Report.cell($0.isExpired) }), ("SESSIONS", { Report.cell($0.sessions) }),
            ], none: "No operators yet: add one with ccsctl operators add."
        ).text(answer.operators)
    }
}

extension RemoveOperator: ReportedCommand {
    static func text(of answer: Answer) -> String {
        "Operator \(Report.cell(answer.name)) is removed; the token is invalid.\n"
    }
}
