import Basics
import Delivery

// Records of the store.

extension RandomValues {
    mutating func message(shared: SharedReference? = nil) -> StoredMessage {
        if shared == nil, below(3) == 0 { return report() }
        let kind: StoredMessage.Kind = flag() ? .message : .discardedMarker(count: count())
        let fields = MessageFields(
            messageID: bytes(), collapseKey: optional { $0.bytes() },
            body: shared == nil ? bytes(upTo: 200) : [],
            apns: optional { shared == nil ? $0.bytes() : [] })
        var message = StoredMessage(
            device: device(), sequence: sequence(), salt: small(), registration: registrationNumber(),
            sender: shared.map(\.name.sender) ?? optional { $0.sender() }, kind: kind, fields: fields,
            acceptedAt: signed(), expiresAt: signed(), priority: flag() ? .high : .normal,
            wantsReceipt: flag(), delaysWhileIdle: flag())
        message.shared = shared
        return message
    }

    /// The report of an expired upstream message, which has no pairs.
    private mutating func report() -> StoredMessage {
        StoredMessage(
            device: device(), sequence: sequence(), salt: small(), registration: registrationNumber(),
            sender: sender(), kind: .sendError(of: sequence()), messageID: bytes(), acceptedAt: signed(),
            expiresAt: signed(), body: [])
    }

    mutating func upstream() -> StoredUpstream {
        var upstream = StoredUpstream(
            sender: sender(), sequence: sequence(), kind: flag() ? .message : .receipt(sentAt: signed()),
            from: name(), isFCMDomain: flag(), category: bytes(), messageID: bytes(),
            persistentID: bytes(), expiresAt: signed(), lifetimeSeconds: count(), body: bytes())
        upstream.tokenPrefix = tokenPrefix()
        return upstream
    }

    mutating func deviceRecord() -> DeviceRecord {
        DeviceRecord(
            device: device(), token: digest(), createdAt: signed(), seenAt: signed(),
            nextRegistration: number(), hasLoggedIn: flag())
    }

    mutating func registration() -> Registration {
        var registration = Registration(
            name: name(), category: bytes(), subtype: bytes(), senderText: bytes(),
            sender: optional { $0.sender() }, otherSenders: list { $0.sender() }, instance: bytes(),
            web: optional { $0.webKeys() }, createdAt: signed())
        registration.scope = scope()
        registration.isProved = flag()
        registration.apnsToken = bytes()
        registration.appVersion = bytes()
        if flag() { registration.apnsState = tokenState() }
        if let prefix = tokenPrefix() {
            registration.instance = prefix.bytes
            registration.isTokenPrefixed = true
        }
        return registration
    }

    mutating func scope() -> RegistrationScope {
        [.unrecorded, .unnamed, .all, .only([7] + bytes())][below(4)]
    }

    mutating func webKeys() -> WebKeys {
        while true {
            let point = [4] + (0..<64).map { _ in small() as UInt8 }
            if let keys = WebKeys(publicKey: point, auth: (0..<16).map { _ in small() }) { return keys }
        }
    }

    mutating func verdict() -> APNsVerdict {
        APNsVerdict(status: count(), reason: text(), invalidSince: optional { $0.signed() })
    }

    private mutating func tokenState() -> APNsTokenState {
        var state = APNsTokenState()
        state.confirmedAt = optional { $0.signed() }
        state.unknownSince = optional { $0.signed() }
        state.mismatchedSince = optional { $0.signed() }
        state.end = optional { APNsTokenState.End(verdict: $0.verdict(), seenAt: $0.signed()) }
        return state
    }

    mutating func serverKey() -> ServerKey {
        ServerKey(
            digest: digest(), createdAt: signed(), expiresAt: optional { $0.signed() },
            scram: optional {
                SCRAMVerifier(
                    storedKey: $0.digest().bytes, serverKey: $0.digest().bytes, salt: $0.bytes(),
                    iterations: max(1, $0.count()))
            })
    }

    mutating func senderRecord() -> SenderRecord {
        SenderRecord(
            sender: sender(), label: text(), keys: list { $0.serverKey() }, createdAt: signed(),
            isSuspended: flag(), project: text(),
            accounts: list {
                ServiceAccount(
                    email: $0.text(), keyID: $0.text(), publicKey: $0.bytes(), createdAt: $0.signed())
            }, webhook: optional { $0.webhook() })
    }

    mutating func webhook() -> WebhookRecord {
        WebhookRecord(
            url: text(),
            secrets: list {
                WebhookRecord.Secret(
                    sealed: $0.bytes(), createdAt: $0.signed(), expiresAt: $0.optional { $0.signed() })
            }, state: WebhookRecord.State.allCases[count() % 3], createdAt: signed())
    }

    mutating func installation() -> InstallationRecord {
        InstallationRecord(
            id: installationID(), sender: optional { $0.sender() }, refresh: optional { $0.digest() },
            createdAt: signed(), usedAt: signed())
    }

    mutating func feedback() -> APNsFeedback {
        var feedback = APNsFeedback(
            sender: sender(), seenAt: signed(), registration: name(), bundle: bytes(), apnsToken: bytes(),
            verdict: verdict())
        feedback.tokenPrefix = tokenPrefix()
        return feedback
    }

    mutating func groupRecord() -> GroupRecord {
        GroupRecord(
            name: group(), label: bytes(),
            members: [token()] + list(upTo: Limits.Group.members - 1) { $0.token() }, createdAt: signed())
    }

    mutating func topicProgress() -> TopicProgress {
        TopicProgress(reached: number(), isOffered: flag())
    }

    mutating func bodyName() -> SharedBodyName {
        flag() ? .topic(messageName()) : .request(sender(), sequence())
    }

    mutating func sharedBody() -> SharedBody {
        SharedBody(
            reference: SharedReference(bodyName(), path: bytes()), body: bytes(),
            apns: optional { $0.bytes() })
    }

    mutating func topicEntry() -> TopicEntry {
        var entry = TopicEntry(
            sequence: sequence(),
            kind: flag() ? .message : .discarded(count: count(), through: self.sequence()),
            message: topicMessage())
        if entry.kind != .message { (entry.message.body, entry.message.apns) = ([], nil) }
        return entry
    }

    mutating func topicMessage() -> TopicMessage {
        TopicMessage(
            name: messageName(), salt: small(), target: target(), messageID: bytes(),
            collapseKey: optional { $0.bytes() }, priority: flag() ? .high : .normal, wantsReceipt: flag(),
            delaysWhileIdle: flag(), restrictedPackage: optional { $0.bytes() }, acceptedAt: -5,
            expiresAt: Int64(count()), body: bytes(upTo: 200), apns: optional { $0.bytes() })
    }

    mutating func subscription() -> Subscription {
        Subscription(name: name(), sender: sender(), topic: topic(), since: signed())
    }
}
