import Basics

extension ConfigKey {
    /// Limits for peers that have not authenticated; 0 disables one.
    static let unauthenticated: [ConfigKey: Entry] = [
        .proxyProtocolFrom: Entry(
            type: .networks, preset: .list([]),
            help:
                "Addresses or networks of proxies (192.0.2.7, 10.0.0.0/8) whose connections to the four public ports start with a PROXY header, version 1 or 2; empty: none.",
            reason:
                "Behind a proxy such as HAProxy, limits, log and listings then use the address of each client. Connections from these addresses must send the header; from all others it is never accepted.",
            isReloadable: true),
        .failedLoginsPerMinute: limit(
            Limits.Login.failuresPerIdentityAndMinute, unit: "logins",
            help:
                "Failed logins per minute of one device or sender from one address, beyond which the connections of further ones are ended at once; 0 disables the limit.",
            reason:
                "Secrets are checked first, so it stops guessing without affecting anyone with a valid secret: neither others behind the same address nor the device or sender itself. It counts the tokens of the operator API as well; further wrong ones get 429."
        ),
        .failedLoginsPerAddress: limit(
            Limits.Login.failuresPerAddressAndMinute, unit: "logins",
            help:
                "Failed logins per minute from one address, or IPv6 network, at one port, beyond which the connections of further ones are ended at once; 0 disables the limit.",
            reason:
                "It stops an address that tries many identities. Logins with a valid secret are accepted nevertheless, so a proxy without a PROXY header, behind which all clients share one address, shuts no client out."
        ),
        .anonymousPerAddress: limit(
            Limits.Connection.anonymousPerAddress, unit: "connections",
            help:
                "Connections without a login from one address, or IPv6 network, to one port, per thread, beyond which the oldest of them is closed; 0 disables the limit.",
            reason:
                "Unauthenticated peers must not exhaust memory and file descriptors. A reconnect storm behind a proxy without a PROXY header may need more."
        ),
        .beforeLoginBytes: Entry(
            type: .integer(0...1_099_511_627_776), preset: .integer(Limits.Connection.beforeLoginBytes),
            unit: "bytes",
            help:
                "Memory for all connections without a login, \(Limits.Connection.beforeLoginCost) bytes each, beyond which the oldest of them is closed; 0 disables the limit.",
            reason:
                "A TLS handshake that has begun costs memory, also when it is never finished. A client that logs in needs its place for moments, so peers that only wait are closed first, whatever their number of addresses.",
            isReloadable: true),
        .unauthenticatedRequestsPerAddress: limit(
            Limits.Registry.requestsPerAddressAndMinute, unit: "requests",
            help:
                "Check-ins, registrations and subscriptions per minute from one address, or IPv6 network, for devices that have never logged in; 0 disables the limit.",
            reason:
                "These requests need no authentication, and each uses disk space. A new device needs two or three. Requests that add nothing to the registry, and those of devices that have logged in, do not count, so a reconnect storm is not affected."
        ),
        .unauthenticatedRequestsPerMinute: limit(
            Limits.Registry.requestsPerMinute, unit: "requests",
            help:
                "Check-ins, registrations and subscriptions per minute from all addresses together, for devices that have never logged in; 0 disables the limit.",
            reason:
                "The sweep for unused devices can remove this number. Further ones get 429 with Retry-After, or the protocol's request to try again. Moving many devices to this server at once may need more."
        ),
        .registryBytes: Entry(
            type: .integer(0...1_125_899_906_842_624), preset: .integer(Limits.Registry.bytes), unit: "bytes",
            help:
                "Disk space for devices, registrations, subscriptions, groups and senders, at most half of the disk, beyond which none are added; 0 disables the limit.",
            reason:
                "A full disk would stop messages too. At the limit new devices, registrations, subscriptions and group members are refused with the reason registry_full; existing ones are served and renewed. The default is enough for some 30 million devices with two apps each.",
            isReloadable: true),
        .unusedDeviceSeconds: Entry(
            type: .integer(0...1_000_000_000), preset: .integer(Limits.Device.unusedSeconds), unit: "seconds",
            help:
                "Time after its check-in at which a device is removed that has neither logged in nor registered; 0 disables the removal.",
            reason: "Clients do both within seconds; one that returns later checks in again.",
            isReloadable: true),
    ]

    private static func limit(_ preset: Int, unit: String, help: String, reason: String) -> Entry {
        Entry(
            type: .integer(0...Limits.Message.highestRate), preset: .integer(preset), unit: unit, help: help,
            reason: reason, isReloadable: true)
    }
}
