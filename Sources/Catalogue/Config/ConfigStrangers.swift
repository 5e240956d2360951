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
            Limits.Login.failuresPerIdentityAndMinute, unit: "logins",
            help:
                "Failed logins in a minute of one device or sender from one address, after which it is refused unseen; 0 disables the limit.",
            reason: "A guesser is stopped, and others behind the same address are not."),
        .failedLoginsPerAddress: limit(
            Limits.Login.failuresPerAddressAndMinute, unit: "logins",
            help:
                "Failed logins in a minute from one address, or IPv6 network, at one port, after which it is refused at that port; 0 disables the limit.",
            reason:
                "It stops an address that tries many identities. Behind a proxy that sends no PROXY header all clients have one address: disable it there."
        ),
        .anonymousPerAddress: limit(
            Limits.Connection.anonymousPerAddress, unit: "connections",
            help:
                "Connections of one address, or IPv6 network, to one port that have not logged in, for each thread; 0 disables the limit.",
            reason:
                "Strangers must not take all memory and descriptors. A reconnect storm behind a proxy that sends no PROXY header may need more."
        ),
        .strangerRequestsPerAddress: limit(
            Limits.Registry.requestsPerAddressAndMinute, unit: "requests",
            help:
                "Check-ins, registrations and subscriptions in a minute from one address, or IPv6 network, that would add to the registry for devices that have never logged in; 0 disables the limit.",
            reason:
                "Anybody may ask for these, and each takes room on the disk. A new device needs two or three. Devices that have logged in do not count, so no reconnect storm meets it."
        ),
        .strangerRequestsPerMinute: limit(
            Limits.Registry.requestsPerMinute, unit: "requests",
            help: "The same from all addresses together; 0 disables the limit.",
            reason:
                "As many as the search for unused devices can take away again. More are answered with 429 and Retry-After, or told to try again; bringing many devices here at once may need more."
        ),
        .registryBytes: Entry(
            type: .integer(0...1_125_899_906_842_624), preset: .integer(Limits.Registry.bytes), unit: "bytes",
            help:
                "Room on the disk that devices, registrations, subscriptions, groups and senders may take before nothing new is added, at most half of the device; 0 disables the limit.",
            reason:
                "A full disk would stop messages too. At the limit new devices, registrations, subscriptions and group members are refused by name (registry_full); what is there is served and renewed. The default is enough for some 30 million devices with two apps each.",
            isReloadable: true),
        .unusedDeviceSeconds: Entry(
            type: .integer(0...1_000_000_000), preset: .integer(Limits.Device.unusedSeconds), unit: "seconds",
            help:
                "Time after its check-in at which a device is forgotten that neither logged in nor registered; 0: never.",
            reason: "A client does both within seconds; one that comes later checks in again.",
            isReloadable: true),
    ]

    private static func limit(_ preset: Int, unit: String, help: String, reason: String) -> Entry {
        Entry(
            type: .integer(0...Limits.Message.highestRate), preset: .integer(preset), unit: unit, help: help,
            reason: reason, isReloadable: true)
    }
}
