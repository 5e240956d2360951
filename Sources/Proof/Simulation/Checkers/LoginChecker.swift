/// Every login is answered, even when many come at once, unless its connection or the process ends first.
struct LoginChecker {
    /// Maximum time to answer: two slow commits, one in progress and one queued, before and after the device is read again, plus
    /// the network. A session closes by itself at that time.
    static let deviceNanoseconds: Int64 = 9_500_000_000
    /// The same for an app server, whose login has several steps, and whose session may pause reading in between.
    static let appServerNanoseconds: Int64 = 30_000_000_000

    /// Fails if a device's login to the current process is too old to be unanswered.
    func unanswered(_ device: Int, since start: Int64, process: Int, _ world: World) {
        guard process == world.boots, world.server != nil,
            world.clock.nanoseconds - start >= Self.deviceNanoseconds
        else { return }
        world.fail("logins", "device \(device) was never answered")
    }

    /// Fails if an app server's login to the current process is unanswered, unless its connection ends.
    func unanswered(_ link: AppServerClient.Link, process: Int, _ world: World) {
        guard process == world.boots, world.server != nil, !link.isReady, !link.isCut, !link.isDrained,
            !link.isClosing
        else { return }
        world.fail("logins", "connection \(link.number) of an app server was never answered")
    }
}
