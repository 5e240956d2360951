import Basics
import Delivery
import Operator

/// The commands for senders.
extension ControlServer {
    func addSender(_ command: AddSender) throws(OperatorProblem) -> AddSender.Answer {
        let (sender, key) = try changing { () throws(Senders.Problem) in
            try daemon.senders.add(
                command.sender, label: command.label, project: command.project, key: command.key?.revealed,
                now: daemon.clock.now().wall)
        }
        let project = daemon.senders.directory[sender]?.projectID ?? ""
        return AddSender.Answer(sender: sender, project: project, key: Redacted(key))
    }

    func listSenders() -> ListSenders.Answer {
        ListSenders.Answer(
            senders: daemon.senders.directory.all.map { record in
                ListSenders.Row(
                    sender: record.sender, label: record.label, project: record.projectID,
                    keys: record.keys.count, createdAt: record.createdAt, isSuspended: record.isSuspended)
            })
    }

    func rotateKey(_ command: RotateKey) throws(OperatorProblem) -> RotateKey.Answer {
        let (key, end) = try changing { () throws(Senders.Problem) in
            try daemon.senders.rotateKey(
                command.sender, overlapSeconds: command.overlapSeconds, key: command.key?.revealed,
                now: daemon.clock.now().wall)
        }
        return RotateKey.Answer(sender: command.sender, key: Redacted(key), oldKeysExpireAt: end)
    }

    func suspendSender(_ command: SuspendSender) throws(OperatorProblem) -> SenderState {
        try setSuspended(true, command.sender)
    }

    func resumeSender(_ command: ResumeSender) throws(OperatorProblem) -> SenderState {
        try setSuspended(false, command.sender)
    }

    private func setSuspended(_ isSuspended: Bool, _ sender: SenderID) throws(OperatorProblem) -> SenderState
    {
        let isChanged = try changing { () throws(Senders.Problem) in
            try daemon.senders.setSuspended(isSuspended, sender)
        }
        return SenderState(sender: sender, isSuspended: isSuspended, isChanged: isChanged)
    }

    func removeSender(_ command: RemoveSender) throws(OperatorProblem) -> RemoveSender.Answer {
        try changing { () throws(Senders.Problem) in try daemon.senders.remove(command.sender) }
        return RemoveSender.Answer(sender: command.sender)
    }
}
