extension ConfigKey {
    /// What test suites use.
    static let testing: [ConfigKey: Entry] = [
        .testBench: Entry(
            type: .boolean, preset: .boolean(false),
            help:
                "Whether operators can create virtual devices, which live in the server, and read their inboxes.",
            reason:
                "A test suite asks what an app server has sent. Operators see the messages of virtual devices, so it is off by default."
        ),
        .testClock: Entry(
            type: .boolean, preset: .boolean(false),
            help:
                "Whether operators can move the server's time forward with ccsctl clock advance.",
            reason:
                "A test suite waits seconds instead of days until messages, keys and devices expire. All listeners must be on loopback, and the data directory is for tests from then on."
        ),
    ]
}
