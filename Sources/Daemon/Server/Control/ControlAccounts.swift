import Basics
import Delivery
import Operator

/// The commands for service accounts.
extension ControlServer {
    func addAccount(_ command: AddAccount) throws(OperatorProblem) -> AddAccount.Answer {
        let made = try changing { () throws(Senders.Problem) in
            try daemon.senders.addAccount(
                of: command.sender, publicKey: command.publicKey, now: daemon.clock.now().wall)
        }
        return AddAccount.Answer(
            sender: command.sender, project: made.project, email: made.account.email,
            keyID: made.account.keyID)
    }

    func listAccounts(_ command: ListAccounts) throws(OperatorProblem) -> ListAccounts.Answer {
        if let sender = command.sender { try requireSender(sender) }
        let records = daemon.senders.directory.all.filter {
            command.sender == nil || $0.sender == command.sender
        }
        return ListAccounts.Answer(
            accounts: records.flatMap { record in
                record.accounts.map { account in
                    ListAccounts.Row(
                        sender: record.sender, project: record.projectID, keyID: account.keyID,
                        createdAt: account.createdAt, email: account.email)
                }
            })
    }

    func removeAccount(_ command: RemoveAccount) throws(OperatorProblem) -> RemoveAccount.Answer {
        let removed = try changing { () throws(Senders.Problem) in
            try daemon.senders.removeAccount(of: command.sender, keyID: command.keyID)
        }
        return RemoveAccount.Answer(sender: command.sender, email: removed.email)
    }
}
