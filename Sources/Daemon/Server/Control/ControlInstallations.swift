import Basics
import Delivery
import Operator
import Store

/// The commands for Firebase installations.
extension ControlServer {
    /// Returns a page of the installations in the order of their IDs.
    func listInstallations(_ command: ListInstallations) throws(OperatorProblem) -> ListInstallations.Answer {
        let after = command.after.map { Array($0.utf8) }
        let found = try reading { () throws(StoreError) in
            try daemon.storage.store.installations(after: after, limit: command.limit + 1)
        }
        let rows = found.prefix(command.limit).map { row($0.record, $0.registrations) }
        return ListInstallations.Answer(
            installations: rows, nextAfter: found.count > command.limit ? rows.last?.installation : nil)
    }

    func showInstallation(_ command: ShowInstallation) throws(OperatorProblem) -> InstallationRow {
        let id = Array(command.installation.utf8)
        let loaded = try reading { () throws(StoreError) in
            try daemon.storage.store.load(
                .installation(id, limit: Limits.Installation.registrations, isForChange: false))
        }
        guard case .installation(_, let record?, let names, _) = loaded else {
            throw unknown(command.installation)
        }
        return row(record, names.count)
    }

    /// Revokes the tokens of an installation; its registrations remain until the app gets another installation.
    func revokeInstallation(
        _ command: RevokeInstallation, _ call: Call
    ) throws(OperatorProblem) -> InstallationRow {
        let answer = try submit(from: call.connection) { requester in
            .installation(
                InstallationRequest(
                    requester: requester, installation: Array(command.installation.utf8), sender: nil,
                    action: .revoke))
        }
        switch answer {
        case .reply(_, .installation(let record, let registrations)): return row(record, registrations)
        case .reply(_, .registrationRefused(.notRegistered)): throw unknown(command.installation)
        default:
            throw OperatorProblem(
                "the change was not confirmed, and may still take effect",
                hint: "see the log of ccsd for the reason, then repeat the command")
        }
    }

    private func row(_ record: InstallationRecord, _ registrations: Int) -> InstallationRow {
        InstallationRow(
            installation: String(decoding: record.id, as: UTF8.self), sender: record.sender,
            hasEnded: record.refresh == nil, createdAt: record.createdAt,
            usedAt: Self.contact(record.usedAt), registrations: registrations)
    }

    private func unknown(_ installation: String) -> OperatorProblem {
        OperatorProblem(
            "unknown installation \(installation)",
            hint:
                "ccsctl installations list shows all installations; unused ones expire")
    }
}
