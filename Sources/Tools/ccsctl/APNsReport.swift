import Basics
import Catalogue
import Operator

extension AddAPNsCredential: ReportedCommand {
    static func text(of answer: Answer) -> String {
        APNsReport.text(answer.credential)
            + answer.replaced.map { "replaced      \(Report.safe($0))\n" }.joined()
            + APNsReport.text(warnings: answer.warnings) + APNsReport.text(answer.tests)
    }

    /// Apple may be out of reach while credentials are prepared, but what it refuses does not work.
    static func verdict(on answer: Answer) -> ExitCode {
        answer.tests.contains { $0.result == .refused } ? .failure : .success
    }
}

extension ListAPNsCredentials: ReportedCommand {
    static func text(of answer: Answer) -> String {
        let table = ListReport<APNsReport.Line>(
            columns: [
                ("CREDENTIAL", { Report.cell($0.row.credential) }), ("KIND", { $0.row.kind.rawValue }),
                ("APP", { Report.cell($0.row.bundle) }),
                ("SENDER", { Report.cell($0.row.sender.map { String($0.number) }) }),
                ("TEAM", { Report.cell($0.row.team) }), ("ENVIRONMENT", { $0.environment.rawValue }),
                ("EXPIRES", { Report.time($0.row.expiresAt) }),
                ("DAYS_LEFT", { Report.cell($0.row.daysLeft) }), ("APPLE", { APNsReport.health($0.state) }),
            ],
            none:
                "No credentials yet: add one with ccsctl apns add, so that iOS apps get their messages through Apple."
        ).text(APNsReport.lines(answer))
        let refused = answer.states.flatMap { state in
            state.refusedTopics.map {
                "refused topic: \(Report.safe($0)) with \(Report.safe(state.credential)) in \(state.environment.rawValue)\n"
            }
        }
        let problem = answer.problem.map { "unknown health: \(Report.safe($0))\n" } ?? ""
        let unreadable = answer.unreadable.map {
            "unreadable: \(Report.safe($0.file)): \(Report.safe($0.problem))\n"
        }
        return table + refused.joined() + problem + unreadable.joined()
    }

    static func verdict(on answer: Answer) -> ExitCode {
        answer.unreadable.isEmpty && answer.problem == nil ? .success : .failure
    }
}

extension ListAPNsFeedback: ReportedCommand {
    static func text(of answer: Answer) -> String {
        ListReport<APNsFeedbackRow>(
            columns: [
                ("APNS_TOKEN", { Report.cell($0.apnsToken.revealed) }),
                ("ENVIRONMENT", { $0.environment.rawValue }), ("APP", { Report.cell($0.bundle) }),
                ("INVALID_SINCE", { Report.time($0.invalidSince) }), ("SEEN", { Report.time($0.seenAt) }),
                ("REASON", { "\($0.status) \(Report.cell($0.reason))" }),
            ], none: "No device token of this sender has ended in the last 30 days."
        ).text(answer.items, next: answer.next)
    }
}

extension ShowAPNsCredential: ReportedCommand {
    static func text(of answer: Answer) -> String {
        APNsReport.text(answer.credential)
            + (answer.name.map { "name          \(Report.safe($0))\n" } ?? "")
            + (answer.issuer.map { "issuer        \(Report.safe($0))\n" } ?? "")
            + "fingerprint   \(Report.safe(answer.fingerprint))\n"
            + APNsReport.text(warnings: answer.warnings)
    }
}

extension TestAPNsCredential: ReportedCommand {
    static func text(of answer: Answer) -> String { APNsReport.text(answer.tests) }

    static func verdict(on answer: Answer) -> ExitCode {
        answer.tests.allSatisfy { $0.result == .accepted } ? .success : .failure
    }
}

extension RemoveAPNsCredential: ReportedCommand {
    static func text(of answer: Answer) -> String {
        "Credential \(Report.cell(answer.credential)) is removed.\n"
    }
}

/// The parts that the reports on credentials share.
private enum APNsReport {
    /// A credential in one of its environments; the state is `nil` if it is not known.
    struct Line {
        var row: APNsCredentialRow
        var environment: APNsCredentialEnvironment
        var state: APNsStateRow?
    }

    static func lines(_ answer: ListAPNsCredentials.Answer) -> [Line] {
        answer.credentials.flatMap { row in
            row.environments.map { environment in
                let state = answer.states.first {
                    $0.credential == row.credential && $0.environment == environment
                }
                return Line(row: row, environment: environment, state: state)
            }
        }
    }

    /// What Apple thinks of a credential, in words.
    static func health(_ state: APNsStateRow?) -> String {
        guard let state else { return "unknown" }
        switch state.health {
        case .unused: return "unused"
        case .accepted: return state.refusedTopics.isEmpty ? "accepted" : "accepted, not for all topics"
        case .refused:
            guard let status = state.status else { return "refused the connection" }
            return "refused: \(status) \(Report.cell(state.reason))"
        case .clockDoubted: return "doubts the clock of this server"
        }
    }

    static func environments(_ row: APNsCredentialRow) -> String {
        row.environments.map(\.rawValue).joined(separator: ", ")
    }

    static func text(_ row: APNsCredentialRow) -> String {
        var text = "credential    \(Report.cell(row.credential))\nkind          \(row.kind.rawValue)\n"
        text += "app           \(row.bundle.map { Report.safe($0) } ?? "all apps of the team")\n"
        if let sender = row.sender { text += "sender        \(sender.number)\n" }
        if let team = row.team { text += "team          \(Report.safe(team))\n" }
        if let keyID = row.keyID { text += "key ID        \(Report.safe(keyID))\n" }
        text += "environments  \(environments(row))\n"
        if !row.topics.isEmpty {
            text += "topics        \(Report.safe(row.topics.joined(separator: ", ")))\n"
        }
        text += "added         \(Report.time(row.addedAt))\n"
        if let expiresAt = row.expiresAt {
            text += "expires       \(Report.time(expiresAt)), in \(Report.cell(row.daysLeft)) days\n"
        }
        return text
    }

    static func text(warnings: [String]) -> String {
        warnings.map { "warning       \(Report.safe($0))\n" }.joined()
    }

    static func text(_ tests: [APNsTestRow]) -> String {
        tests.map { test in
            let name = test.environment == .sandbox ? "sandbox   " : "production"
            let detail = test.detail.isEmpty ? "" : " (\(Report.safe(test.detail)))"
            return "test          \(name)  \(words(test.result))\(detail)\n"
        }.joined()
    }

    private static func words(_ result: APNsTestRow.Result) -> String {
        switch result {
        case .accepted: "accepted by Apple"
        case .refused: "refused by Apple"
        case .unclear: "no verdict"
        case .notTested: "not tested"
        }
    }
}
