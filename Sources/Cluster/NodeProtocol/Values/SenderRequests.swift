import Basics
import Delivery

// Requests about groups and installations, streams, and what partitions send each other.

extension NodeWriter {
    mutating func write(_ request: GroupRequest) {
        optional(request.requester) { $0.write($1) }
        write(request.sender)
        switch request.operation {
        case .create(let label, let members):
            write(GroupOperationCase.create)
            bytes(label)
            write(members)
        case .add(let number, let label, let members):
            write(GroupOperationCase.add)
            change(number, label, members)
        case .remove(let number, let label, let members):
            write(GroupOperationCase.remove)
            change(number, label, members)
        case .imported(let group, let replaces):
            write(GroupOperationCase.imported)
            writeAny(group)
            flag(replaces)
        case .find(let label):
            write(GroupOperationCase.find)
            bytes(label)
        case .show(let number):
            write(GroupOperationCase.show)
            self.number(number)
        case .reconcile(let number, let gone, let replaced):
            write(GroupOperationCase.reconcile)
            self.number(number)
            write(gone)
            list(replaced) {
                $0.write($1.old)
                $0.write($1.new)
            }
        }
    }

    private mutating func change(_ number: UInt64, _ label: [UInt8]?, _ members: [TokenName]) {
        self.number(number)
        optional(label) { $0.bytes($1) }
        write(members)
    }

    /// A group that may have too many members: the store has no record of such a group.
    mutating func writeAny(_ group: GroupRecord) {
        write(group.name)
        bytes(group.label)
        write(group.members)
        signed(group.createdAt)
    }

    mutating func write(_ stream: ResumableStream) {
        text(stream.id)
        text(stream.jid)
        number(stream.handled)
        number(stream.sent)
        number(stream.confirmed)
        list(stream.unconfirmed) {
            $0.number($1.number)
            $0.bytes($1.bytes)
        }
    }

    mutating func write(_ gone: UpstreamReturn) {
        write(gone.sender)
        write(gone.sequence)
        signed(gone.expiresAt)
        write(gone.author.from)
        bytes(gone.author.messageID)
    }

    mutating func write(_ due: ReceiptDue) {
        write(due.message)
        write(due.tokenPrefix)
        write(due.sequence)
        write(due.sender)
        bytes(due.messageID)
        bytes(due.category)
        signed(due.deliveredAt)
        flag(due.isForwarded)
        optional(due.requester) { $0.write($1) }
    }

    mutating func write(_ answer: GatewayAnswer) {
        write(answer.registration)
        write(answer.sequence)
        switch answer.outcome {
        case .accepted(let environment):
            write(GatewayOutcomeCase.accepted)
            write(environment)
        case .later(let milliseconds, let refusal, let isAttempt):
            write(GatewayOutcomeCase.later)
            signed(milliseconds)
            write(refusal)
            flag(isAttempt)
        case .refused(let refusal):
            write(GatewayOutcomeCase.refused)
            write(refusal)
        case .tokenEnded(let verdict):
            write(GatewayOutcomeCase.tokenEnded)
            write(verdict)
        case .tokenUnknown(let verdict):
            write(GatewayOutcomeCase.tokenUnknown)
            write(verdict)
        case .tokenMismatched(let verdict):
            write(GatewayOutcomeCase.tokenMismatched)
            write(verdict)
        }
    }

    mutating func write(_ answer: MemberAnswer) {
        switch answer {
        case .sent(let canonical):
            write(MemberAnswerCase.sent)
            optional(canonical) { $0.write($1) }
        case .refused(let refusal):
            write(MemberAnswerCase.refused)
            write(refusal)
        }
    }
}

extension NodeReader {
    @_lifetime(self: copy self)
    mutating func groupRequest() throws(NodeProtocolFault) -> GroupRequest {
        let requester = try flag("requester") ? try requester() : nil
        return GroupRequest(requester: requester, sender: try sender(), operation: try groupOperation())
    }

    @_lifetime(self: copy self)
    private mutating func groupOperation() throws(NodeProtocolFault) -> GroupRequest.Operation {
        let number: GroupOperationCase = try numbered()
        switch number {
        case .create: return .create(label: try byteArray("label"), members: try tokens())
        case .add:
            return .add(number: try self.number(), label: try optionalBytes("label"), members: try tokens())
        case .remove:
            return .remove(
                number: try self.number(), label: try optionalBytes("label"), members: try tokens())
        case .imported: return .imported(try anyGroup(), replaces: try flag("replacement"))
        case .find: return .find(label: try byteArray("label"))
        case .show: return .show(number: try self.number())
        case .reconcile:
            let (group, gone) = (try self.number(), try names())
            let count = try count("replaced members", least: 5)
            var replaced: [(old: RegistrationName, new: TokenName)] = []
            for _ in 0..<count { replaced.append((old: try name(), new: try token())) }
            return .reconcile(number: group, gone: gone, replaced: replaced)
        }
    }

    @_lifetime(self: copy self)
    mutating func anyGroup() throws(NodeProtocolFault) -> GroupRecord {
        let name = try group()
        return GroupRecord(
            name: name, label: try byteArray("label"), members: try tokens(), createdAt: try signed())
    }

    @_lifetime(self: copy self)
    mutating func stream() throws(NodeProtocolFault) -> ResumableStream {
        var stream = ResumableStream(
            id: try text("stream"), jid: try text("JID"), handled: try small("count of stanzas"),
            sent: try small("count of stanzas"), confirmed: try small("count of stanzas"), unconfirmed: [])
        let count = try count("stanzas", least: 2)
        for _ in 0..<count {
            let number: UInt32 = try small("number of a stanza")
            stream.unconfirmed.append(
                ResumableStream.Stanza(number: number, bytes: try byteArray("stanza")))
        }
        return stream
    }

    @_lifetime(self: copy self)
    mutating func upstreamReturn() throws(NodeProtocolFault) -> UpstreamReturn {
        let (sender, sequence, end, from) = (try sender(), try sequence(), try signed(), try name())
        return UpstreamReturn(
            sender: sender, sequence: sequence, expiresAt: end,
            author: UpstreamAuthor(from: from, messageID: try byteArray("message ID")))
    }

    @_lifetime(self: copy self)
    mutating func receiptDue() throws(NodeProtocolFault) -> ReceiptDue {
        let (token, sequence, sender) = (try token(), try sequence(), try sender())
        var due = ReceiptDue(
            message: token.registration, sequence: sequence, sender: sender,
            messageID: try byteArray("message ID"),
            category: try byteArray("category"), deliveredAt: try signed(),
            isForwarded: try flag("forwarded"), requester: try flag("requester") ? try connection() : nil)
        due.tokenPrefix = token.prefix
        return due
    }

    @_lifetime(self: copy self)
    mutating func gatewayAnswer() throws(NodeProtocolFault) -> GatewayAnswer {
        let (name, sequence) = (try name(), try sequence())
        return GatewayAnswer(registration: name, sequence: sequence, outcome: try gatewayOutcome())
    }

    @_lifetime(self: copy self)
    private mutating func gatewayOutcome() throws(NodeProtocolFault) -> GatewayOutcome {
        let number: GatewayOutcomeCase = try numbered()
        switch number {
        case .accepted: return .accepted(try numbered())
        case .later:
            return .later(
                milliseconds: try signed(), try apnsRefusal(), isAttempt: try flag("attempt"))
        case .refused: return .refused(try apnsRefusal())
        case .tokenEnded: return .tokenEnded(try verdict())
        case .tokenUnknown: return .tokenUnknown(try verdict())
        case .tokenMismatched: return .tokenMismatched(try verdict())
        }
    }

    @_lifetime(self: copy self)
    mutating func memberAnswer() throws(NodeProtocolFault) -> MemberAnswer {
        let number: MemberAnswerCase = try numbered()
        switch number {
        case .sent: return .sent(canonical: try flag("token") ? try token() : nil)
        case .refused: return .refused(try refusal())
        }
    }
}
