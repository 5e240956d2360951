import Basics
import Delivery
import Operator
import Transport
import Wire

/// A connection on the control socket: requests of one line of JSON each, answered in order.
///
/// Commands run on their own threads, since they wait for the store and for reactors. A connection runs one at a time.
final class ControlLink: Link, CommandLink {
    private let control: ControlServer
    private var input = ByteBuffer()
    /// The bytes of `input` that have no end of a line: a long request arrives in many parts.
    private var searched = 0
    private var isBusy = false
    var running = RunningCommand()

    init(connection: Connection, host: ReactorHost, control: ControlServer) {
        self.control = control
        super.init(kind: .control, connection: connection, host: host)
        isLoggedIn = false
    }

    override func connection(_ connection: Connection, received bytes: RawSpan, now: Now) {
        guard input.count + bytes.byteCount <= Limits.Operator.requestBytes else {
            reply(
                .problem(OperatorProblem("the request is longer than \(Limits.Operator.requestBytes) bytes")))
            connection.close(.tooLarge)
            return
        }
        input.append(bytes)
        startNext()
    }

    private func startNext() {
        guard !isBusy, let line = takeLine() else { return }
        isBusy = true
        let id = connection.id
        let caller = ControlCaller(connection)
        let mailbox = control.mailboxes[host.index]
        let control = control
        do {
            try Threads.start(name: "ccsd-control") {
                control.run(line, connection: id, caller: caller) { answer in
                    mailbox.post { host in (host.link(id) as? ControlLink)?.reply(answer) }
                }
                mailbox.post { host in (host.link(id) as? ControlLink)?.finished() }
            }
        } catch {
            reply(.problem(OperatorProblem(error.description, hint: "try again")))
            finished()
        }
    }

    private func finished() {
        isBusy = false
        running.finished()
        startNext()
    }

    private func takeLine() -> [UInt8]? {
        while searched < input.count, input.bytes.byte(at: searched) != UInt8(ascii: "\n") { searched += 1 }
        guard searched < input.count else { return nil }
        let line = [UInt8](copying: input.bytes.extracting(0..<searched))
        input.removeFirst(searched + 1)
        searched = 0
        return line
    }

    private func reply(_ reply: OperatorReply) {
        reply.json.append(to: &connection.outbox.bytes)
        connection.outbox.bytes.append("\n")
        connection.outbox.endRecord()
        connection.setNeedsFlush()
    }

    override func connection(_ connection: Connection, outboundIsCongested: Bool, now: Now) {
        running.isCongested = outboundIsCongested
    }

    override func connectionClosed(_ connection: Connection, reason: CloseReason, now: Now) {
        running.callerLeft()
        super.connectionClosed(connection, reason: reason, now: now)
    }

    override func perform(_ command: SessionCommand, now: Now) {
        switch command {
        case .reply, .submission:
            if let step = running.take(command, now: host.clock.judged(now)) {
                reply(OperatorReply(TraceDevice.Line.step(step)))
            }
        case .connection(.close(let reason)): connection.close(reason)
        case .connection(.drain), .connection(.endWhenIdle), .connection(.refundQuota),
            .connection(.retryAfter):
            break
        case .appServer, .device:
            assertionFailure("command for another kind of session: \(command)")
            connection.close(.internalError)
        }
    }
}
