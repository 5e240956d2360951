import Basics
import Delivery

extension NodeReader {
    @_lifetime(self: copy self)
    mutating func event() throws(NodeProtocolFault) -> Event {
        let number: EventCase = try numbered()
        switch number {
        case .device: return .device(try device(), try deviceEvent())
        case .sender: return .sender(try sender(), try senderEvent())
        case .group: return .group(try sender(), try groupEvent())
        case .topic: return .topic(try sender(), try topicEvent())
        case .installation: return .installation(try byteArray("installation"), try installationEvent())
        }
    }

    /// Reads an event in an event.
    @_lifetime(self: copy self)
    mutating func innerEvent() throws(NodeProtocolFault) -> Event {
        depth += 1
        defer { depth -= 1 }
        guard depth < Limits.NodeProtocol.eventDepth else {
            throw .tooLong(
                "events in an event", length: depth + 1, limit: Limits.NodeProtocol.eventDepth)
        }
        return try event()
    }

    @_lifetime(self: copy self)
    private mutating func deviceEvent() throws(NodeProtocolFault) -> DeviceEvent {
        let number: DeviceEventCase = try numbered()
        switch number {
        case .submitted: return .submitted(try submission())
        case .login: return .login(try deviceLogin())
        case .acknowledged: return .acknowledged(try connection(), try sequences())
        case .writable: return .writable(try connection())
        case .congested: return .congested(try connection())
        case .idleChanged: return .idleChanged(try connection(), isIdle: try flag("idle"))
        case .closed: return .closed(try connection())
        case .upstreamReceived: return .upstreamReceived(try upstreamSubmission())
        case .upstreamAnswered: return .upstreamAnswered(try registration(), try requester())
        case .upstreamReturned: return .upstreamReturned(try upstreamReturn())
        case .receiptStored: return .receiptStored(try sequence())
        case .receiptRefused: return .receiptRefused(try sequence())
        case .checkIn: return .checkIn(try checkIn())
        case .register: return .register(try registrationRequest())
        case .unregister: return .unregister(try registrationRequest())
        case .registerWeb: return .registerWeb(try webRegistrationRequest())
        case .unregisterToken: return .unregisterToken(try tokenClaim(), try requester())
        case .subscribe: return .subscribe(try topicRequest())
        case .token: return .token(try tokenRequest())
        case .installationFound: return .installationFound(try installationRequest(), try names())
        case .forget: return .forget(try requester())
        case .imported: return .imported(try deviceImport())
        case .gatewayAnswered: return .gatewayAnswered(try gatewayAnswer())
        case .gatewayDue: return .gatewayDue(try registration())
        case .markedForGateway: return .markedForGateway
        case .unseen: return .unseen
        }
    }

    @_lifetime(self: copy self)
    private mutating func sequences() throws(NodeProtocolFault) -> [SequenceNumber] {
        let count = try count("sequence numbers")
        var sequences: [SequenceNumber] = []
        sequences.reserveCapacity(count)
        for _ in 0..<count { sequences.append(try sequence()) }
        return sequences
    }

    @_lifetime(self: copy self)
    private mutating func senderEvent() throws(NodeProtocolFault) -> SenderEvent {
        let number: SenderEventCase = try numbered()
        switch number {
        case .login: return .login(try connection(), key: try digest())
        case .keysRequested: return .keysRequested(try connection())
        case .bound: return .bound(try connection())
        case .draining: return .draining(try connection())
        case .congested: return .congested(try connection())
        case .writable: return .writable(try connection())
        case .closed: return .closed(try connection())
        case .streamManaged: return .streamManaged(try connection(), id: try text("stream"))
        case .streamDetached: return .streamDetached(try connection(), try stream())
        case .streamRequested: return .streamRequested(try connection(), id: try text("stream"))
        case .upstreamFinished: return .upstreamFinished(try connection(), try sequence(), try numbered())
        case .upstreamResolved: return .upstreamResolved(try upstreamSubmission(), from: try token())
        case .groupUpstream: return .groupUpstream(try groupSubmission())
        case .upstreamReturnFinished:
            return .upstreamReturnFinished(try sequence(), hasFailed: try flag("failed"))
        case .receiptDue: return .receiptDue(try receiptDue())
        }
    }

    @_lifetime(self: copy self)
    private mutating func groupEvent() throws(NodeProtocolFault) -> GroupEvent {
        let number: GroupEventCase = try numbered()
        switch number {
        case .requested: return .requested(try groupRequest())
        case .submitted: return .submitted(try groupSubmission())
        case .memberAnswered: return .memberAnswered(try member(), try memberAnswer())
        }
    }

    @_lifetime(self: copy self)
    private mutating func topicEvent() throws(NodeProtocolFault) -> TopicEvent {
        let number: TopicEventCase = try numbered()
        switch number {
        case .submitted: return .submitted(try topicSubmission())
        case .answered: return .answered(run: try small("run"), try numbered())
        }
    }

    @_lifetime(self: copy self)
    private mutating func installationEvent() throws(NodeProtocolFault) -> InstallationEvent {
        let number: InstallationEventCase = try numbered()
        switch number {
        case .requested: return .requested(try installationRequest())
        case .unused: return .unused(before: try signed(), unlinkedBefore: try signed())
        }
    }
}
