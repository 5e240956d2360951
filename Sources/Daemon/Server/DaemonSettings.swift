import Basics
import Delivery
import Glibc
import Transport

extension Configuration {
    /// The folder of the store.
    var storePath: String { "\(dataDirectory)/store" }

    /// The folder of the credentials for APNs.
    var apnsPath: String { "\(dataDirectory)/apns" }

    /// The number of reactor threads.
    var reactorCount: Int { reactors > 0 ? reactors : max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }

    /// The limit of the registry in bytes: the configured one, but at most its share of the disk; 0 disables the limit.
    var registryLimit: Int {
        guard registryBytes > 0, let device = DeviceSpace(of: dataDirectory) else { return registryBytes }
        return max(1, min(registryBytes, device.size / Limits.Registry.shareOfDevice))
    }

    /// How long and how much the message history keeps: at most its share of the disk. `nil` if it is switched off.
    var history: HistoryPort.Settings? {
        guard historyHours > 0, historyBytes > 0 else { return nil }
        let share =
            DeviceSpace(of: dataDirectory).map { $0.size / Limits.History.shareOfDevice } ?? historyBytes
        return HistoryPort.Settings(hours: historyHours, bytes: min(historyBytes, share))
    }

    /// The folder of the message history.
    var historyPath: String { "\(dataDirectory)/history" }

    /// The durations of a drain.
    var drainPace: Drainer.Pace {
        Drainer.Pace(
            graceMilliseconds: Int64(drainGraceSeconds) * 1_000,
            spreadMilliseconds: Int64(drainSpreadSeconds) * 1_000)
    }

    /// The settings of the core that can change at run time.
    var running: RunningSettings {
        var running = RunningSettings()
        running.pendingWindow = pendingWindow
        running.rates = rates
        running.deviceExpirySeconds = deviceExpirySeconds
        running.unusedDeviceSeconds = unusedDeviceSeconds
        running.clockGraceSeconds = clockGraceSeconds
        running.appleData = iosDataOnly == "silent" ? .silent : .store
        return running
    }

    /// The limits for peers that have not logged in.
    var admission: AdmissionSettings {
        var admission = AdmissionSettings()
        admission.failedLogins.perIdentity = failedLoginsPerMinute
        admission.failedLogins.perAddress = failedLoginsPerAddress
        admission.unauthenticatedRequests.perAddress = unauthenticatedRequestsPerAddress
        admission.unauthenticatedRequests.total = unauthenticatedRequestsPerMinute
        admission.anonymousPerAddress = anonymousPerAddress
        admission.beforeLoginBytes = beforeLoginBytes
        admission.proxies = proxyProtocolFrom.compactMap { AddressNetwork($0) }
        return admission
    }

    /// The rate limits of devices, apps and senders.
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

extension Configuration {
    /// Why `adminPort` may not listen outside of loopback, and what to do. `nil` if it may.
    var adminReachProblem: (text: String, hint: String)? {
        if operatorAPI {
            return adminTLS
                ? nil
                : (
                    "but operator_api needs TLS there, since tokens must not be sent in plain text",
                    "set admin_tls: true, or use 127.0.0.1"
                )
        }
        return adminPlainHTTP
            ? nil
            : (
                "but admin_port has \(adminTLS ? "no authentication" : "neither TLS nor authentication")",
                "set admin_plain_http: true if a firewall lets in the monitoring alone, or use 127.0.0.1"
            )
    }
}
