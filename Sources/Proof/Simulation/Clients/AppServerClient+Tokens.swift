import Basics
import Delivery

extension AppServerClient {
    /// Imports the Apple token of an app.
    func importToken(of app: AppleApp) {
        app.importToken(sender) { [self] name in
            if !imported.contains(name) { imported.append(name) }
        }
    }

    /// Sends to an imported registration.
    func sendToImported(_ number: Int) {
        guard !imported.isEmpty else { return }
        let target = imported[Int(world.random(0...Int64(imported.count - 1)))]
        send(
            DownstreamDraft(
                number: number, target: .registration(target),
                collapseKey: world.chance(1, in: 3) ? UInt8(world.random(0...2)) : nil,
                lifetimeSeconds: world.chance(1, in: 4) ? 10 : 3_600))
    }

    /// Subscribes an app to a topic of its sender, or unsubscribes it.
    func changeTopic(_ name: RegistrationName, _ topic: TopicName, isEnd: Bool) {
        let request = world.checkers.fanOuts.subscriptions.requested(
            name, topic, of: sender, isEnd: isEnd, world)
        world.request(
            { [self] in
                .token(
                    TokenRequest(
                        requester: $0, name: name, sender: sender,
                        action: isEnd ? .unsubscribe(topic) : .subscribe(topic)))
            },
            { [self] answer in
                world.checkers.fanOuts.subscriptions.closed(request, world)
                switch answer {
                case .reply(_, .token(let report)):
                    world.reached(.topicChanged)
                    let found = report.registration.name
                    if report.topics.contains(where: { $0.topic != topic || $0.name != found }) {
                        world.fail("topics", "an app server got the state of another subscription")
                    }
                    world.checkers.checkSubscriber(found, of: name, since: request.madeAt, world)
                    world.checkers.fanOuts.subscriptions.confirmed(request, for: found, world)
                case .reply(_, .tokenRefused(let refusal)): refused(name, refusal)
                default: break
                }
            })
    }

    private func refused(_ name: RegistrationName, _ refusal: TokenRefusal) {
        switch refusal {
        case .unavailable, .rateExceeded: break
        case .notRegistered where world.checkers.truth.mayBeGone(name): break
        case .notRegistered where TokenChecker.isOver(name, world.checkers.truth, world): break
        default: world.fail("topics", "a subscription of an app was refused as \(refusal.rawValue)")
        }
    }
}
