extension ConfigKey {
    /// What test suites use.
    static let testing: [ConfigKey: Entry] = [
        .testBench: Entry(
            type: .boolean, preset: .boolean(false),
            help:
                "Whether operators can create virtual devices, which live in the server, and read their inboxes.",
            reason:
                "A test suite asks what an app server has sent. Operators see the messages of virtual devices, so it is off by default."
        )
    ]
}
