import Basics
import Delivery
import Glibc
import Transport

extension Configuration {
    /// Directory of the store.
    var storePath: String { "\(dataDirectory)/store" }

    /// Reactor threads there will be.
    var reactorCount: Int { reactors > 0 ? reactors : max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }

    /// Bytes of the registry from which on nothing new is added: as set, but at most its share of the device; 0: no limit.
    var registryLimit: Int {
        guard registryBytes > 0, let device = DeviceSpace(of: dataDirectory) else { return registryBytes }
        return max(1, min(registryBytes, device.size / Limits.Registry.shareOfDevice))
    }

    /// How long the parts of a drain take.
    var drainPace: Drainer.Pace {
        Drainer.Pace(
            graceMilliseconds: Int64(drainGraceSeconds) * 1_000,
            spreadMilliseconds: Int64(drainSpreadSeconds) * 1_000)
    }

    /// What the core may be told while it runs.
    var running: RunningSettings {
        var running = RunningSettings()
        running.pendingWindow = pendingWindow
        running.rates = rates
        running.deviceExpirySeconds = deviceExpirySeconds
        running.unusedDeviceSeconds = unusedDeviceSeconds
        running.clockGraceSeconds = clockGraceSeconds
        return running
    }

    /// What holds for those that have not logged in.
    var door: DoorSettings {
        var door = DoorSettings()
        door.failedLogins.perIdentity = failedLoginsPerMinute
        door.failedLogins.perAddress = failedLoginsPerAddress
        door.strangers.perAddress = strangerRequestsPerAddress
        door.strangers.total = strangerRequestsPerMinute
        door.anonymousPerAddress = anonymousPerAddress
        door.proxies = proxyProtocolFrom.compactMap { AddressNetwork($0) }
        return door
    }

    /// How much a device, an app or a sender may send or be sent.
    var rates: Rates {
        var rates = Rates()
        rates.deviceShort = Rate(deviceMessagesPerMinute, perSeconds: 60)
        rates.deviceLong = Rate(deviceMessagesPerHour, perSeconds: 3_600)
        rates.sender = Rate(senderMessagesPerMinute, perSeconds: 60)
        rates.collapsible = Rate(
            collapsibleBurst, perSeconds: max(1, collapsibleBurst) * collapsibleRefillSeconds)
        rates.deviceUpstream = Rate(deviceUpstreamPerMinute, perSeconds: 60)
        rates.senderUpstream = Rate(senderUpstreamPerMinute, perSeconds: 60)
        rates.topicChanges = Rate(topicChangesPerSecond, perSeconds: 1)
        return rates
    }
}
