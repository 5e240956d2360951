import Basics
import Delivery

extension NodeWriter {
    /// Writes an event. Each names its owner first.
    mutating func write(_ event: Event) {
        switch event {
        case .device(let device, let event):
            write(EventCase.device)
            write(device)
            write(event)
        case .sender(let sender, let event):
            write(EventCase.sender)
            write(sender)
            write(event)
        case .group(let sender, let event):
            write(EventCase.group)
            write(sender)
            write(event)
        case .topic(let sender, let event):
            write(EventCase.topic)
            write(sender)
            write(event)
        case .installation(let id, let event):
            write(EventCase.installation)
            bytes(id)
            write(event)
        case .partition: preconditionFailure("an event of a partition was sent to another node")
        }
    }

    /// Writes an event in an event.
    mutating func writeInner(_ event: Event) {
        depth += 1
        precondition(depth < Limits.NodeProtocol.eventDepth, "events contain each other too deeply")
        write(event)
        depth -= 1
    }

    private mutating func write(_ event: DeviceEvent) {
        switch event {
        case .submitted(let submission): begin(DeviceEventCase.submitted) { $0.write(submission) }
        case .login(let login): begin(DeviceEventCase.login) { $0.write(login) }
        case .acknowledged(let connection, let sequences):
            write(DeviceEventCase.acknowledged)
            write(connection)
            list(sequences) { $0.write($1) }
        case .writable(let connection): begin(DeviceEventCase.writable) { $0.write(connection) }
        case .congested(let connection): begin(DeviceEventCase.congested) { $0.write(connection) }
        case .idleChanged(let connection, let isIdle):
            write(DeviceEventCase.idleChanged)
            write(connection)
            flag(isIdle)
        case .closed(let connection): begin(DeviceEventCase.closed) { $0.write(connection) }
        case .upstreamReceived(let upstream): begin(DeviceEventCase.upstreamReceived) { $0.write(upstream) }
        case .upstreamAnswered(let number, let requester):
            write(DeviceEventCase.upstreamAnswered)
            write(number)
            write(requester)
        case .upstreamReturned(let gone): begin(DeviceEventCase.upstreamReturned) { $0.write(gone) }
        case .receiptStored(let sequence): begin(DeviceEventCase.receiptStored) { $0.write(sequence) }
        case .receiptRefused(let sequence): begin(DeviceEventCase.receiptRefused) { $0.write(sequence) }
        case .checkIn(let checkIn): begin(DeviceEventCase.checkIn) { $0.write(checkIn) }
        case .register(let request): begin(DeviceEventCase.register) { $0.write(request) }
        case .unregister(let request): begin(DeviceEventCase.unregister) { $0.write(request) }
        case .registerWeb(let request): begin(DeviceEventCase.registerWeb) { $0.write(request) }
        case .unregisterToken(let claim, let requester):
            write(DeviceEventCase.unregisterToken)
            write(claim)
            write(requester)
        case .subscribe(let request): begin(DeviceEventCase.subscribe) { $0.write(request) }
        case .token(let request): begin(DeviceEventCase.token) { $0.write(request) }
        case .installationFound(let request, let names):
            write(DeviceEventCase.installationFound)
            write(request)
            write(names)
        case .forget(let requester): begin(DeviceEventCase.forget) { $0.write(requester) }
        case .imported(let rows): begin(DeviceEventCase.imported) { $0.write(rows) }
        case .gatewayAnswered(let answer): begin(DeviceEventCase.gatewayAnswered) { $0.write(answer) }
        case .gatewayDue(let number): begin(DeviceEventCase.gatewayDue) { $0.write(number) }
        case .markedForGateway: write(DeviceEventCase.markedForGateway)
        case .unseen: write(DeviceEventCase.unseen)
        }
    }

    private mutating func begin(_ number: some Numbered, _ fields: (inout NodeWriter) -> Void) {
        write(number)
        fields(&self)
    }

    private mutating func write(_ event: SenderEvent) {
        switch event {
        case .login(let connection, let key):
            write(SenderEventCase.login)
            write(connection)
            write(key)
        case .keysRequested(let connection): begin(SenderEventCase.keysRequested) { $0.write(connection) }
        case .bound(let connection): begin(SenderEventCase.bound) { $0.write(connection) }
        case .draining(let connection): begin(SenderEventCase.draining) { $0.write(connection) }
        case .congested(let connection): begin(SenderEventCase.congested) { $0.write(connection) }
        case .writable(let connection): begin(SenderEventCase.writable) { $0.write(connection) }
        case .closed(let connection): begin(SenderEventCase.closed) { $0.write(connection) }
        case .streamManaged(let connection, let id):
            write(SenderEventCase.streamManaged)
            write(connection)
            text(id)
        case .streamDetached(let connection, let stream):
            write(SenderEventCase.streamDetached)
            write(connection)
            write(stream)
        case .streamRequested(let connection, let id):
            write(SenderEventCase.streamRequested)
            write(connection)
            text(id)
        case .upstreamFinished(let connection, let sequence, let outcome):
            write(SenderEventCase.upstreamFinished)
            write(connection)
            write(sequence)
            write(outcome)
        case .upstreamResolved(let upstream, let name):
            write(SenderEventCase.upstreamResolved)
            write(upstream)
            write(name)
        case .groupUpstream(let submission): begin(SenderEventCase.groupUpstream) { $0.write(submission) }
        case .upstreamReturnFinished(let sequence, let hasFailed):
            write(SenderEventCase.upstreamReturnFinished)
            write(sequence)
            flag(hasFailed)
        case .receiptDue(let due): begin(SenderEventCase.receiptDue) { $0.write(due) }
        }
    }

    private mutating func write(_ event: GroupEvent) {
        switch event {
        case .requested(let request): begin(GroupEventCase.requested) { $0.write(request) }
        case .submitted(let submission): begin(GroupEventCase.submitted) { $0.write(submission) }
        case .memberAnswered(let member, let answer):
            write(GroupEventCase.memberAnswered)
            write(member)
            write(answer)
        }
    }

    private mutating func write(_ event: TopicEvent) {
        switch event {
        case .submitted(let submission): begin(TopicEventCase.submitted) { $0.write(submission) }
        case .answered(let run, let answer):
            write(TopicEventCase.answered)
            number(run)
            write(answer)
        }
    }

    private mutating func write(_ event: InstallationEvent) {
        switch event {
        case .requested(let request): begin(InstallationEventCase.requested) { $0.write(request) }
        case .unused(let before, let unlinkedBefore):
            write(InstallationEventCase.unused)
            signed(before)
            signed(unlinkedBefore)
        }
    }
}
