import Basics
import Operator
import Transport

/// The commands for the operators of the API.
extension ControlServer {
    func addOperator(_ command: AddOperator) throws(OperatorProblem) -> AddOperator.Answer {
        let (account, token) = try daemon.operators.add(
            command, now: daemon.clock.judgedMachine(.read()).wall)
        return AddOperator.Answer(
            name: account.name, role: account.role, token: token, expiresAt: account.expiresAt)
    }

    func listOperators() -> ListOperators.Answer {
        let now = daemon.clock.judgedMachine(.read())
        return ListOperators.Answer(
            operators: daemon.operators.all(now: now.monotonic).map { account, sessions in
                ListOperators.Row(
                    name: account.name, role: account.role, createdAt: account.createdAt,
                    expiresAt: account.expiresAt, isExpired: account.isExpired(now.wall), sessions: sessions)
            })
    }

    func removeOperator(_ command: RemoveOperator) throws(OperatorProblem) -> RemoveOperator.Answer {
        try daemon.operators.remove(command.name)
        // Streams of the operator end now, not with their next event.
        for mailbox in mailboxes {
            mailbox.post { host in
                for link in host.allLinks { (link as? OperatorLink)?.recheck(host.reactor.now) }
            }
        }
        return RemoveOperator.Answer(name: command.name)
    }
}
