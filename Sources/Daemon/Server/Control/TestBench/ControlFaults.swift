import Basics
import Delivery
import Operator
import Reference

/// The commands of faults.
extension ControlServer {
    func addFault(_ command: AddFault) throws(OperatorProblem) -> FaultRow {
        let gate = try faultGate()
        let scope = try scope(of: command)
        let action = try action(of: command)
        guard let fault = gate.add(scope, action, count: command.count) else {
            throw OperatorProblem(
                "there are \(Limits.TestBench.faults) faults, which is the most",
                hint: "remove some with ccsctl faults remove or clear")
        }
        return row(fault)
    }

    func listFaults() throws(OperatorProblem) -> ListFaults.Answer {
        ListFaults.Answer(faults: try faultGate().faults.map { row($0) })
    }

    func removeFault(_ command: RemoveFault) throws(OperatorProblem) -> FaultRow {
        guard let fault = try faultGate().remove(command.fault) else {
            throw OperatorProblem(
                "unknown fault \(command.fault)", hint: "ccsctl faults list shows all of them")
        }
        return row(fault)
    }

    func clearFaults() throws(OperatorProblem) -> ClearFaults.Answer {
        ClearFaults.Answer(removed: try faultGate().removeAll())
    }

    private func faultGate() throws(OperatorProblem) -> FaultGate {
        guard let gate = daemon.bench?.faults else { throw .testBenchIsOff }
        return gate
    }

    private func scope(of command: AddFault) throws(OperatorProblem) -> Fault.Scope {
        switch (command.token, command.sender) {
        case (let token?, nil):
            guard let name = daemon.secrets.seal.tokenName(of: Array(token.revealed.utf8)) else {
                throw OperatorProblem(
                    "invalid token: expected a registration token of this server",
                    hint: "ccsctl virtual-devices list shows those of virtual devices", field: "token")
            }
            return .registration(name)
        case (nil, let sender?):
            try requireSender(sender)
            return .sender(sender)
        case (nil, nil), (_?, _?):
            throw OperatorProblem(
                "a fault needs either token or sender_id", hint: "give one of them, and not both")
        }
    }

    private func action(of command: AddFault) throws(OperatorProblem) -> Fault.Action {
        guard command.error == nil || command.action == .refuse else {
            throw OperatorProblem(
                "error is only for the action refuse", hint: "leave it out, or change the action",
                field: "error")
        }
        guard command.milliseconds == nil || command.action == .delay else {
            throw OperatorProblem(
                "milliseconds is only for the action delay", hint: "leave it out, or change the action",
                field: "milliseconds")
        }
        guard command.retryAfter == nil || command.action == .refuse else {
            throw OperatorProblem(
                "retry_after is only for the action refuse", hint: "leave it out, or change the action",
                field: "retry_after")
        }
        switch command.action {
        case .drop: return .drop
        case .duplicate: return .duplicate
        case .delay:
            guard let milliseconds = command.milliseconds else {
                throw OperatorProblem(
                    "the action delay needs milliseconds",
                    hint: "give a number from 1 to \(Limits.TestBench.delayMilliseconds)",
                    field: "milliseconds")
            }
            return .delay(milliseconds)
        case .refuse:
            guard let error = command.error else {
                throw OperatorProblem(
                    "the action refuse needs an error", hint: "give one such as DEVICE_UNREGISTERED",
                    field: "error")
            }
            guard let refusal = Refusal.named(error) else {
                throw OperatorProblem(
                    "unknown error \"\(error)\": expected an error of a message, or its reason",
                    hint: "the tables of errors in docs/xmpp.md and docs/http.md have all of them",
                    field: "error")
            }
            return .refuse(refusal, retryAfter: command.retryAfter)
        }
    }

    private func row(_ fault: Fault) -> FaultRow {
        var row = FaultRow(
            fault: fault.number, action: .drop, error: nil, reason: nil, milliseconds: nil,
            retryAfter: nil, sender: nil, token: nil, remaining: fault.remaining, hits: fault.hits)
        switch fault.action {
        case .drop: row.action = .drop
        case .duplicate: row.action = .duplicate
        case .delay(let milliseconds): (row.action, row.milliseconds) = (.delay, milliseconds)
        case .refuse(let refusal, let seconds):
            (row.action, row.error, row.reason) = (.refuse, refusal.xmppError, refusal.word)
            row.retryAfter = seconds
        }
        switch fault.scope {
        case .sender(let sender): row.sender = sender
        case .registration(let name):
            row.token = Redacted(String(decoding: daemon.secrets.seal.token(for: name), as: UTF8.self))
        }
        return row
    }
}
