import APNsGateway
import Basics
import Delivery
import Store

/// Apps, the app server, and what befalls the process.
extension CoreWorld: GatewayWorldCore {
    /// Runs until nothing is left to do. Returns what the checkers have found.
    func run() -> [String] {
        apple.core = self
        boot()
        let end = apple.settings.faultMilliseconds
        for number in 0..<Int(number(3...12)) { addPhone(number) }
        for _ in 0..<number(0...4) {
            let losesPower = chance(50)
            always(number(1_000...end)) { [self] in crash(losesPower: losesPower) }
        }
        always(end + 30_000) { [self] in becomeCalm() }
        let found = apple.run()
        disk.checkAudit("at the end")
        checkers.mustHold(
            isFinished,
            "progress: at the end, m\(disk.waiting) wait, \(apple.gateway.unanswered) at the gateway, requests: \(hasRequests)"
        )
        checkers.finish(
            at: apple.time, disk.state.tallies.reduce(into: MilestoneCounts()) { $0.add($1.downstream) })
        return found + checkers.found
    }

    var isFinished: Bool {
        isUp && isDone && !hasRequests && !disk.hasMessages && apple.gateway.unanswered == 0
    }

    private func addPhone(_ number: Int) {
        let kind: Phone.Kind =
            number % 2 == 0 ? .good : Phone.Kind.allCases.randomElement(using: &random) ?? .good
        let phone = Phone(number, kind, isSandbox: chance(50))
        phones.append(phone)
        always(self.number(0...3_000)) { [self] in register(phone) }
        let end = apple.settings.faultMilliseconds
        for _ in 0..<self.number(2...8) { always(self.number(3_000...end)) { [self] in submit(to: phone) } }
        guard kind == .mortal else { return }
        always(self.number(5_000...end)) { [self] in phone.removedAt = Samples.epoch + apple.time }
        if chance(50) { always(self.number(20_000...end)) { [self] in reinstall(phone) } }
    }

    /// After the faults: every app is installed and gets messages.
    private func becomeCalm() {
        for phone in phones where phone.removedAt != nil { reinstall(phone) }
        always(20_000) { [self] in
            // What the others wait for must come without a further message.
            for phone in phones where chance(50) { for _ in 0..<2 { submit(to: phone) } }
            isDone = true
        }
    }

    // MARK: Registrations

    private func reinstall(_ phone: Phone) {
        guard phone.removedAt != nil else { return }
        phone.removedAt = nil
        register(phone)
    }

    /// Registers an app, as often as it takes.
    private func register(_ phone: Phone) {
        let fresh = DeviceID(UInt64(number(1 << 59...(1 << 60))))
        let digest = SecretDigest(bytes: (0..<32).map { _ in UInt8(truncatingIfNeeded: number(0...255)) })
        phone.isReviving = true
        request { [phone] requester in
            .installation(
                InstallationRequest(
                    requester: requester,
                    installation: Array("installation0000000\(100 + phone.number)".utf8),
                    sender: Self.sender,
                    action: .apple(
                        AppleRegistration(
                            bundle: phone.bundle, token: phone.token, freshDevice: fresh,
                            freshDigest: digest))))
        } _: { [self, phone] answer in
            guard case .reply(_, .registered(let token)) = answer else {
                return always(number(1_000...3_000)) { [self] in register(phone) }
            }
            phone.isReviving = false
            phone.name = token.registration
        }
    }

    // MARK: Messages

    private func submit(to phone: Phone) {
        guard let name = phone.name else { return }
        let lifetime = chance(60) ? 2_419_200 : chance(50) ? Int(number(20...300)) : 0
        let key = lifetime > 0 && chance(20) ? Array("key\(number(0...1))".utf8) : nil
        let message = checkers.submitted(
            CoreCheckers.Message(
                phone: phone, lifetimeSeconds: lifetime, collapseKey: key, submittedAt: apple.time))
        let isDead = { [self] in !phone.isReviving && phone.removedAt != nil && disk.hasEnded(name) }
        let wasDead = isDead()
        request { requester in
            .submitted(
                Submission(
                    requester: requester, entitlement: .account(Self.sender), target: name,
                    content: MessageContent(
                        messageID: Array("\(message)".utf8), collapseKey: key, lifetimeSeconds: lifetime,
                        isNotification: true, body: [])))
        } _: { [self] answer in
            checkers.answered(message, answer, wasDead: wasDead && isDead(), at: apple.time)
        }
    }

    // MARK: Apple

    func answered(_ answer: GatewayAnswer) { gatewayAnswered(answer) }

    func sent(_ send: APNsSend) {
        guard let phone = phone(of: send), let name = phone.name, !phone.isReviving else { return }
        checkers.mustHold(
            !disk.hasEnded(name), "dead: m\(send.request.id) is sent to an app whose token has ended")
    }

    func appleAnswer(to send: APNsSend, in environment: APNsEnvironment) -> APNsAnswer {
        guard let phone = phone(of: send) else {
            checkers.report("requests: an unknown device token")
            return APNsAnswer(status: 400, body: Samples.body("BadDeviceToken"))
        }
        let answer = phone.answer(in: environment)
        if answer.status == 200 { checkers.forwarded(Int(send.request.id) ?? -1, at: apple.time) }
        return answer
    }

    private func phone(of send: APNsSend) -> Phone? {
        phones.first { $0.digits.utf8.elementsEqual(send.request.deviceToken.bytes) }
    }
}
