/// Every login is answered, however many come at once, unless its connection or the process goes first.
struct LoginChecker {
    /// How long an answer may take: two commits of a storm, one under way and one behind it, before and after the device is read
    /// again, and the way there and back. A session gives up at that time by itself.
    static let deviceNanoseconds: Int64 = 9_500_000_000
    /// The same for an app server, whose login has many steps, and whose session may stop reading in between.
    static let appServerNanoseconds: Int64 = 30_000_000_000

    /// A device has no answer to a login of that time, sent to that process.
    func unanswered(_ device: Int, since start: Int64, process: Int, _ world: World) {
        guard process == world.boots, world.server != nil,
            world.clock.nanoseconds - start >= Self.deviceNanoseconds
        else { return }
        world.fail("logins", "device \(device) was never answered")
    }

    /// An app server has none after all that time.
    func unanswered(_ link: AppServerClient.Link, process: Int, _ world: World) {
        guard process == world.boots, world.server != nil, !link.isReady, !link.isCut, !link.isDrained,
            !link.isClosing
        else { return }
        world.fail("logins", "connection \(link.number) of an app server was never answered")
    }
}
