extension ConfigKey {
    /// What test suites use.
    static let testing: [ConfigKey: Entry] = [
        .testBench: Entry(
            type: .boolean, preset: .boolean(false),
            help:
                "Whether operators can create virtual devices, which live in the server, read their inboxes, record what devices send while no app server is connected, and let messages meet faults.",
            reason:
                "A test suite asks what an app server has sent. Operators see messages, and can let messages be lost on purpose, so it is off by default."
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
