import Basics
import Delivery

extension DeviceClient {
    /// Subscribes an app to a topic or unsubscribes it.
    func subscribe(_ app: Int, _ topic: TopicName, isEnd: Bool) {
        guard let identity, let name = apps[app].name else { return }
        let request = world.checkers.fanOuts.subscriptions.requested(
            name, topic, of: apps[app].audience[0], isEnd: isEnd, world)
        let digest = SimulatedHost.digest(identity.token)
        world.request(
            {
                .subscribe(TopicRequest(requester: $0, name: name, token: digest, topic: topic, isEnd: isEnd))
            },
            { [self] answer in
                world.checkers.fanOuts.subscriptions.closed(request, world)
                // The answer does not name the token, so that it may have been redirected.
                guard case .reply(_, .unregistered) = answer,
                    world.checkers.truth.tokens.newer(than: name).isEmpty
                else { return }
                world.checkers.fanOuts.subscriptions.confirmed(request, for: name, world)
            })
    }

    /// Checks in again after the server has removed the device.
    func vanish() {
        guard world.settings.expiresDevices, let identity else { return }
        world.checkers.expired(identity.device)
        self.identity = nil
        for app in apps.indices { apps[app].name = nil }
        received = []
        unconfirmed = []
        if let port { leave(port) } else { start() }
    }
}
