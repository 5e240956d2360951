import Basics
import Delivery

@testable import NodeProtocol

// What events contain. A case without a generator does not compile.

extension RandomValues {
    mutating func requester() -> Requester {
        var requester = Requester(connection: connection(), requestID: small())
        requester.growth = one()
        return requester
    }

    mutating func content() -> MessageContent {
        var content = MessageContent(
            messageID: bytes(), collapseKey: optional { $0.bytes() }, lifetimeSeconds: integer(),
            priority: one(), wantsReceipt: flag(), delaysWhileIdle: flag(), isDryRun: flag(),
            restrictedPackage: optional { $0.bytes() }, holdsRawData: flag(), isNotification: flag(),
            body: bytes(upTo: 200), apns: optional { $0.bytes() },
            apnsLifetimeSeconds: optional { $0.integer() })
        content.isForSeveral = flag()
        content.sendAt = optional { $0.signed() }
        content.replaces = optional { $0.bytes() }
        return content
    }

    mutating func submission() -> Submission {
        Submission(
            replyTo: replyTo(one()), submitter: optional { $0.connection() },
            entitlement: entitlement(one()), target: name(), content: content())
    }

    private mutating func replyTo(_ number: ReplyToCase) -> ReplyTo {
        switch number {
        case .session: .session(requester())
        case .group: .group(sender(), member())
        case .nobody: .nobody
        }
    }

    private mutating func entitlement(_ number: EntitlementCase) -> Entitlement {
        switch number {
        case .account: .account(sender())
        case .webPush: .webPush(key: bytes())
        case .webPushAccount: .webPushAccount(sender())
        }
    }

    mutating func member() -> GroupSendMember { GroupSendMember(send: small(), index: integer()) }

    mutating func topicSubmission() -> TopicSubmission {
        TopicSubmission(requester: requester(), sender: sender(), target: target(), content: content())
    }

    mutating func groupSubmission() -> GroupSubmission {
        GroupSubmission(
            requester: requester(), sender: sender(), group: group(),
            author: optional { GroupAuthor(own: $0.names()) }, content: content())
    }

    mutating func upstreamSubmission() -> UpstreamSubmission {
        var upstream = UpstreamSubmission(
            requester: requester(), device: device(), sender: sender(), isFCMDomain: flag(),
            category: bytes(), messageID: bytes(), persistentID: bytes(), lifetimeSeconds: integer(),
            body: bytes())
        upstream.group = optional { $0.group() }
        upstream.sentAt = optional { $0.signed() }
        return upstream
    }

    mutating func deviceLogin() -> DeviceLogin {
        DeviceLogin(
            connection: connection(), device: device(), token: digest(),
            received: list { $0.persistentID() }, isIdle: flag())
    }

    mutating func checkIn() -> CheckIn {
        CheckIn(
            requester: requester(), claimed: optional { ($0.device(), $0.digest()) },
            freshDevice: device(), freshToken: number(), freshDigest: digest(), refusesWrongToken: flag())
    }

    mutating func registrationRequest() -> RegistrationRequest {
        var request = RegistrationRequest(
            requester: requester(), device: device(), token: digest(), category: bytes(), subtype: bytes(),
            senderText: bytes(), instance: bytes())
        request.isProved = flag()
        request.scope = scope(one())
        request.endedScopes = endedScopes(one())
        request.apnsToken = bytes()
        request.appVersion = bytes()
        return request
    }

    private mutating func scope(_ number: ScopeCase) -> RegistrationScope {
        switch number {
        case .unrecorded: .unrecorded
        case .unnamed: .unnamed
        case .all: .all
        case .only: .only([1] + bytes())
        }
    }

    private mutating func endedScopes(_ number: EndedScopesCase) -> EndedScopes {
        switch number {
        case .any: .any
        case .unnamed: .unnamed
        case .named: .named
        case .one: .one(scope(one()))
        }
    }

    mutating func webRegistrationRequest() -> WebRegistrationRequest {
        var request = WebRegistrationRequest(
            requester: requester(), endpoint: name(), keys: webKeys(), project: project(one()),
            instance: bytes(), renewed: optional { $0.tokenClaim() })
        request.isProved = flag()
        request.proof = proof(one())
        return request
    }

    private mutating func project(_ number: ProjectCase) -> WebRegistrationRequest.Project {
        switch number {
        case .sender: .sender(sender())
        case .label: .label(bytes())
        }
    }

    private mutating func proof(_ number: ProofCase) -> RegistrationProof {
        switch number {
        case .none: .none
        case .device: .device(device(), digest())
        case .installation: .installation(bytes())
        }
    }

    mutating func tokenClaim() -> TokenClaim {
        TokenClaim(name: name(), proof: proof(one()), projects: list { $0.project($0.one()) })
    }

    mutating func topicRequest() -> TopicRequest {
        TopicRequest(
            requester: requester(), name: name(), token: digest(), topic: topic(), isEnd: flag())
    }

    mutating func cancellation() -> Cancellation {
        Cancellation(
            requester: requester(), device: device(), registration: optional { $0.registrationNumber() },
            sender: optional { $0.sender() }, messageID: bytes())
    }

    mutating func tokenRequest() -> TokenRequest {
        TokenRequest(requester: requester(), name: name(), sender: sender(), action: tokenAction(one()))
    }

    mutating func tokenAction(_ number: TokenActionCase) -> TokenRequest.Action {
        switch number {
        case .describe: .describe
        case .subscribe: .subscribe(topic())
        case .unsubscribe: .unsubscribe(topic())
        }
    }

    mutating func deviceImport() -> DeviceImport {
        var rows = DeviceImport(
            requester: requester(), device: device(), replaces: flag(),
            seal: optional { values in TokenSeal(secret: (0..<32).map { _ in values.small() }) })
        rows.record = optional { $0.deviceRecord() }
        rows.registrations = list { $0.registration() }
        rows.subscriptions = list { $0.subscription() }
        return rows
    }

    mutating func groupRequest(_ number: GroupOperationCase) -> GroupRequest {
        GroupRequest(
            requester: optional { $0.requester() }, sender: sender(), operation: groupOperation(number))
    }

    private mutating func groupOperation(_ number: GroupOperationCase) -> GroupRequest.Operation {
        switch number {
        case .create: .create(label: bytes(), members: tokens())
        case .add: .add(number: self.number(), label: optional { $0.bytes() }, members: tokens())
        case .remove: .remove(number: self.number(), label: optional { $0.bytes() }, members: tokens())
        case .imported: .imported(groupRecord(), replaces: flag())
        case .find: .find(label: bytes())
        case .show: .show(number: self.number())
        case .reconcile:
            .reconcile(
                number: self.number(), gone: names(), replaced: list { (old: $0.name(), new: $0.token()) })
        }
    }

    mutating func stream() -> ResumableStream {
        ResumableStream(
            id: text(), jid: text(), handled: small(), sent: small(), confirmed: small(),
            unconfirmed: list { ResumableStream.Stanza(number: $0.small(), bytes: $0.bytes()) })
    }

    mutating func upstreamReturn() -> UpstreamReturn {
        UpstreamReturn(
            sender: sender(), sequence: sequence(), expiresAt: signed(),
            author: UpstreamAuthor(from: name(), messageID: bytes()))
    }

    mutating func receiptDue() -> ReceiptDue {
        var due = ReceiptDue(
            message: name(), sequence: sequence(), sender: sender(), messageID: bytes(), category: bytes(),
            deliveredAt: signed(), isForwarded: flag(), requester: optional { $0.connection() })
        due.tokenPrefix = tokenPrefix()
        return due
    }

    mutating func gatewayAnswer(_ number: GatewayOutcomeCase) -> GatewayAnswer {
        GatewayAnswer(registration: name(), sequence: sequence(), outcome: gatewayOutcome(number))
    }

    private mutating func gatewayOutcome(_ number: GatewayOutcomeCase) -> GatewayOutcome {
        switch number {
        case .accepted: .accepted(one())
        case .later: .later(milliseconds: signed(), apnsRefusal(), isAttempt: flag())
        case .refused: .refused(apnsRefusal())
        case .tokenEnded: .tokenEnded(verdict())
        case .tokenUnknown: .tokenUnknown(verdict())
        case .tokenMismatched: .tokenMismatched(verdict())
        }
    }

    mutating func apnsRefusal() -> APNsRefusal { APNsRefusal(one(), optional { $0.verdict() }) }

    mutating func memberAnswer(_ number: MemberAnswerCase) -> MemberAnswer {
        switch number {
        case .sent: .sent(canonical: optional { $0.token() })
        case .refused: .refused(refusal(one()))
        }
    }

    mutating func installationRequest(_ number: InstallationActionCase, depth: Int = 1) -> InstallationRequest
    {
        let action = installationAction(number, depth: depth)
        var request = InstallationRequest(
            requester: requester(), installation: bytes(), sender: optional { $0.sender() }, action: action,
            mark: optional { $0.number() })
        request.isBound = flag()
        return request
    }

    private mutating func installationAction(
        _ number: InstallationActionCase, depth: Int
    ) -> InstallationRequest.Action {
        switch number {
        case .subscribe: .subscribe(topic())
        case .unsubscribe: .unsubscribe(topic())
        case .address: .address(tokenAction(one()))
        case .send: .send(content())
        case .remove: .remove
        case .vouch: .vouch(for: innerEvent(depth: depth))
        case .claim: .claim(for: innerEvent(depth: depth), by: device())
        case .create: .create(offer())
        case .vouched: .vouched(offer(), isProved: flag())
        case .refresh: .refresh(digest())
        case .end: .end(digest())
        case .revoke: .revoke
        case .imported: .imported(installation(), replaces: flag())
        case .apple: .apple(appleRegistration())
        }
    }

    /// An event in an event: usually a request of a device, at times another request of an installation.
    private mutating func innerEvent(depth: Int) -> Event {
        guard depth + 1 < Limits.NodeProtocol.eventDepth, flag() else { return event(.register) }
        return .installation(bytes(), .requested(installationRequest(.vouch, depth: depth + 1)))
    }

    private mutating func offer() -> InstallationOffer {
        InstallationOffer(
            refresh: digest(), other: optional { (id: $0.bytes(), refresh: $0.digest()) },
            shown: optional { $0.digest() }, device: optional { ($0.device(), $0.digest()) })
    }

    private mutating func appleRegistration() -> AppleRegistration {
        var address = AppleRegistration(
            bundle: bytes(), token: bytes(), freshDevice: device(), freshDigest: digest(), isImport: flag())
        address.appVersion = bytes()
        return address
    }

    mutating func refusal(_ number: RefusalCase) -> Refusal {
        switch number {
        case .missingTarget: .missingTarget
        case .wrongType: .wrongType(field: text(), expected: text(), found: text())
        case .outOfRange:
            .outOfRange(field: text(), value: text(), lowest: integer(), highest: integer())
        case .notAllowed: .notAllowed(field: text(), value: text(), allowed: text())
        case .tooLarge: .tooLarge(field: text(), bytes: integer(), limit: integer())
        case .reservedKey: .reservedKey(text())
        case .conflict: .conflict(field: text(), reason: text())
        case .repeatedMessageID: .repeatedMessageID
        case .badAck: .badAck(ackFault(one()))
        case .invalidToken: .invalidToken
        case .senderMismatch: .senderMismatch
        case .notRegistered: .notRegistered
        case .packageMismatch: .packageMismatch
        case .senderSuspended: .senderSuspended
        case .deviceRateExceeded: .deviceRateExceeded
        case .senderRateExceeded: .senderRateExceeded
        case .topicRateExceeded: .topicRateExceeded
        case .storeDamaged: .storeDamaged
        case .unknownMessage: .unknownMessage
        case .messageSent: .messageSent
        case .scheduleFull: .scheduleFull(one())
        case .unavailable: .unavailable
        case .internalError: .internalError
        case .draining: .draining
        case .apns: .apns(apnsRefusal())
        }
    }

    private mutating func ackFault(_ number: AckFaultCase) -> Refusal.AckFault {
        switch number {
        case .missing: .missing(field: text())
        case .notAString: .notAString(field: text(), found: text())
        case .unknown: .unknown(messageID: text())
        }
    }
}
