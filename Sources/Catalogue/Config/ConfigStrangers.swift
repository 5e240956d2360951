import Basics

extension ConfigKey {
    /// What holds for those that have not shown yet who they are; 0 disables a limit.
    static let strangers: [ConfigKey: Entry] = [
        .proxyProtocolFrom: Entry(
            type: .networks, preset: .list([]),
            help:
                "Addresses or networks of proxies (192.0.2.7, 10.0.0.0/8) whose connections to the four public ports start with a PROXY header, version 1 or 2; empty: none.",
            reason:
                "Behind HAProxy and the like each client then counts by its own address, in limits, log and listings. From these addresses the header must come, from all others it is never believed.",
            isReloadable: true),
        .failedLoginsPerMinute: limit(
            Limits.failedLoginsPerIdentityAndMinute, unit: "logins",
            help:
                "Failed logins in a minute of one device or sender from one address, after which it is refused unseen; 0 disables the limit.",
            reason: "A guesser is stopped, and others behind the same address are not."),
        .failedLoginsPerAddress: limit(
            Limits.failedLoginsPerAddressAndMinute, unit: "logins",
            help:
                "Failed logins in a minute from one address, or IPv6 network, at one port, after which it is refused at that port; 0 disables the limit.",
            reason:
                "It stops an address that tries many identities. Behind a proxy that sends no PROXY header all clients have one address: disable it there."
        ),
        .anonymousPerAddress: limit(
            Limits.anonymousPerAddress, unit: "connections",
            help:
                "Connections of one address, or IPv6 network, to one port that have not logged in, for each thread; 0 disables the limit.",
            reason:
                "Strangers must not take all memory and descriptors. A reconnect storm behind a proxy that sends no PROXY header may need more."
        ),
    ]

    private static func limit(_ preset: Int, unit: String, help: String, reason: String) -> Entry {
        Entry(
            type: .integer(0...Limits.highestRate), preset: .integer(preset), unit: unit, help: help,
            reason: reason, isReloadable: true)
    }
}
