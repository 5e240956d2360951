import Basics
import Catalogue
import Delivery

extension Daemon {
    /// The page `/metrics`.
    func metricsPage(now: Now) -> [UInt8] {
        refreshGauges(now: now)
        var series = [MetricSeries(.buildInfo, labels: [Program.version], 1)]
        series += senderFigures.series(now: now.monotonic)
        var page = ByteBuffer()
        metrics.render(series, to: &page)
        return page.copied()
    }

    /// Sets the gauges that no other thread counts.
    func refreshGauges(now: Now) {
        let shard = metrics[.control]
        shard.set(.ready, to: isReady ? 1 : 0)
        let state = drainer.state
        shard.set(.draining, to: state == .serving || state == .drained ? 0 : 1)
        shard.set(.drained, to: state == .drained ? 1 : 0)
        shard.set(.lastBackup, to: Int(storage.backups.lastMade / 1_000))
        shard.set(.clockInDoubt, to: clock.current == nil ? 0 : 1)
        shard.set(.registryBytes, to: storage.threads.registry.bytes)
        shard.set(.registryBytesLimit, to: storage.threads.registry.limit)
        shard.set(.senders, to: senders.directory.count)
        shard.set(.certificateNotAfter, to: Int(certificates.notAfter / 1_000))
        shard.set(.apnsCertificateNotAfter, to: Int((gateways.credentials.firstExpiry ?? 0) / 1_000))
        shard.set(.processStartTime, to: Int(startedAt.wall / 1_000))
        shard.set(.logLinesSuppressed, to: log.suppressed)
        ProcessFigures.refresh(shard)
    }
}
