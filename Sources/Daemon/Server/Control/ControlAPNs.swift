import APNsGateway
import Basics
import Crypto
import Delivery
import Operator
import Sessions
import Store

/// The commands for credentials for APNs.
extension ControlServer {
    func addAPNsCredential(_ command: AddAPNsCredential) throws(OperatorProblem) -> AddAPNsCredential.Answer {
        if let sender = command.sender { try requireSender(sender) }
        let now = daemon.clock.judgedMachine(.read()).wall
        let file: APNsCredentialFile
        do throws(APNsFileProblem) {
            file = try APNsCredentialFile.read(
                command.file, privateKey: command.privateKey, password: command.password, now: now)
        } catch { throw OperatorProblem(error.text, hint: error.hint) }
        let fresh = try StoredAPNsCredential(file, for: command, now: now)
        let tests = test(fresh, topic: command.testBundle)
        try requireBetter(fresh, tests)
        let (added, replaced) = try daemon.gateways.credentials.add(fresh)
        daemon.log.notice(
            "apns_credential_added",
            [
                "credential": .text(added.id), "bundle_id": .text(added.bundle ?? ""),
                "environments": .text(added.environments.map(\.rawValue).joined(separator: ",")),
                "replaced": .text(replaced.joined(separator: ",")),
            ])
        return AddAPNsCredential.Answer(
            credential: added.row(now: now), replaced: replaced, warnings: added.warnings(now: now),
            tests: tests)
    }

    /// Throws if Apple refuses a credential that would replace one in use, which may work.
    private func requireBetter(
        _ credential: StoredAPNsCredential, _ tests: [APNsTestRow]
    ) throws(OperatorProblem) {
        guard tests.allSatisfy({ $0.result == .refused }), let first = tests.first,
            let present = daemon.gateways.credentials.displaced(by: credential)
        else { return }
        throw OperatorProblem(
            "Apple refuses the credential: \(first.detail); \(present) is still in use, and nothing is changed",
            hint: "correct it, or remove \(present) first with ccsctl apns remove to add it all the same")
    }

    func listAPNsCredentials() -> ListAPNsCredentials.Answer {
        let now = daemon.clock.judgedMachine(.read()).wall
        let states = daemon.gateways.apns.states()
        return ListAPNsCredentials.Answer(
            credentials: daemon.gateways.credentials.all.map { $0.row(now: now) },
            states: states?.map { APNsStateRow($0) } ?? [],
            problem: states == nil ? APNsPort.silence : nil,
            unreadable: daemon.gateways.credentials.unreadable.map {
                .init(file: $0.file, problem: $0.problem)
            })
    }

    /// Returns a page of a sender's feedback list.
    func listAPNsFeedback(_ command: ListAPNsFeedback) throws(OperatorProblem) -> ListAPNsFeedback.Answer {
        try requireSender(command.sender)
        let since = try command.since.map { text throws(OperatorProblem) in
            guard let position = FeedbackPage.position(Array(text.utf8)) else {
                throw OperatorProblem(
                    "invalid since: \(text)",
                    hint: "expected milliseconds since 1970, or the next of an earlier page")
            }
            return position
        }
        let start = FeedbackPage.start(since: since, now: daemon.clock.now().wall)
        let found = try reading { () throws(StoreError) in
            try daemon.storage.store.feedback(of: command.sender, after: start, limit: command.limit + 1)
        }
        let page = found.prefix(command.limit)
        let rows = page.map { entry in
            APNsFeedbackRow(
                registration: Redacted(
                    String(decoding: daemon.secrets.seal.token(for: entry.token), as: UTF8.self)),
                apnsToken: Redacted(String(decoding: entry.deviceToken, as: UTF8.self)),
                environment: APNsCredentialEnvironment(entry.environment),
                bundle: String(decoding: entry.bundle, as: UTF8.self),
                invalidSince: entry.verdict.invalidSince, seenAt: entry.seenAt,
                status: entry.verdict.status, reason: entry.verdict.reason)
        }
        let last = found.count > command.limit ? page.last.map { FeedbackPosition($0) } : nil
        return ListAPNsFeedback.Answer(items: rows, next: last.map { FeedbackPage.text($0) })
    }

    func showAPNsCredential(
        _ command: ShowAPNsCredential
    ) throws(OperatorProblem) -> ShowAPNsCredential.Answer {
        let now = daemon.clock.judgedMachine(.read()).wall
        let found = try daemon.gateways.credentials.credential(command.credential)
        switch found.material {
        case .certificate(let certificate):
            return ShowAPNsCredential.Answer(
                credential: found.row(now: now), name: certificate.name, issuer: certificate.issuer,
                fingerprint: Hex.text(certificate.fingerprint), warnings: found.warnings(now: now))
        case .key(let key, _, _):
            return ShowAPNsCredential.Answer(
                credential: found.row(now: now), fingerprint: Hex.text(key.fingerprint), warnings: [])
        }
    }

    func testAPNsCredential(
        _ command: TestAPNsCredential
    ) throws(OperatorProblem) -> TestAPNsCredential.Answer {
        let found = try daemon.gateways.credentials.credential(command.credential)
        return TestAPNsCredential.Answer(tests: test(found, topic: command.testBundle))
    }

    func removeAPNsCredential(
        _ command: RemoveAPNsCredential
    ) throws(OperatorProblem) -> RemoveAPNsCredential.Answer {
        try daemon.gateways.credentials.remove(command.credential)
        return RemoveAPNsCredential.Answer(credential: command.credential)
    }

    /// Tests a credential in each environment that it is used for.
    private func test(_ credential: StoredAPNsCredential, topic: String?) -> [APNsTestRow] {
        let topic = topic ?? credential.bundle ?? ""
        let tester = daemon.gateways.credentials.selfTester
        return credential.environments.map { environment in
            let answer = tester.test(credential, topic: topic, in: environment)
            let verdict = answer.verdict(topic: topic)
            return APNsTestRow(
                environment: APNsCredentialEnvironment(environment), result: verdict.result,
                detail: verdict.detail)
        }
    }
}

extension StoredAPNsCredential {
    /// Creates the credential of a command from the content of its file. Throws if the arguments do not fit the file.
    init(
        _ file: APNsCredentialFile, for command: AddAPNsCredential, now: UnixMilliseconds
    ) throws(OperatorProblem) {
        serial = 0
        addedAt = now
        sender = command.sender
        var allowed: [APNsEnvironment] = [.production, .sandbox]
        switch file {
        case .certificate(let certificate):
            guard command.keyID == nil, command.team == nil else {
                throw OperatorProblem(
                    "key_id and team_id belong to a .p8 key, but the file is a certificate",
                    hint: "leave them out")
            }
            if let wanted = command.bundle, wanted != certificate.bundle {
                throw OperatorProblem(
                    "the certificate is for \(certificate.bundle), not for \(wanted)",
                    hint: "leave out bundle_id")
            }
            material = .certificate(certificate)
            bundle = certificate.bundle
            if !certificate.allowsSandbox { allowed = [.production] }
            if !certificate.allowsProduction { allowed = [.sandbox] }
        case .key(let key):
            guard let keyID = command.keyID, let team = command.team else {
                throw OperatorProblem(
                    "a .p8 key needs key_id and team_id",
                    hint:
                        "give --team-id, which Apple shows under Membership, and --key-id unless the file has Apple's name, AuthKey_KEYID.p8"
                )
            }
            material = .key(key, keyID: keyID, team: team)
            bundle = command.bundle
        }
        environments = allowed
        if let wanted = command.environment.map({ APNsEnvironment($0) }) {
            guard allowed.contains(wanted) else {
                throw OperatorProblem(
                    "the certificate is for \(allowed.map(\.rawValue).joined()) only, not for \(wanted.rawValue)",
                    hint: "create a certificate for both environments at Apple, or leave out --environment")
            }
            environments = [wanted]
        }
    }

    /// What an operator should look at.
    fileprivate func warnings(now: UnixMilliseconds) -> [String] {
        guard case .certificate(let certificate) = material else { return [] }
        return certificate.warnings(now: now)
    }
}

extension APNsStateRow {
    /// Describes the state of a credential to operators.
    init(_ state: APNsCredentialStatus) {
        let health: Health
        var verdict: APNsVerdict?
        switch state.health {
        case .unused: health = .unused
        case .accepted: health = .accepted
        case .refused(let refusal):
            health = .refused
            verdict = refusal
        case .clockDoubted: health = .clockDoubted
        }
        self.init(
            credential: state.id.name, environment: APNsCredentialEnvironment(state.environment),
            health: health, status: verdict?.status, reason: verdict?.reason,
            refusedTopics: state.refusedTopics.map { String(decoding: $0, as: UTF8.self) },
            connections: state.connections, requestsInFlight: state.requestsInFlight,
            waiting: state.waiting, failingSeconds: state.failingSeconds,
            tokenAgeSeconds: state.tokenAgeSeconds)
    }
}
