import Basics
import Delivery
import Transport
import Webhooks

/// The start of the webhooks.
extension Startup {
    /// Makes the webhooks, whose thread starts with the first endpoint.
    func makeWebhooks(
        _ poster: EventPoster, _ seal: TokenSeal, _ senders: Senders, _ clock: ClockStatus
    ) -> WebhookPort {
        let (log, shard) = (log, metrics[.webhooks])
        let outlets = WebhookHost.Outlets(
            report: { poster.post($0) },
            recordGone: { sender in
                // On a thread of its own, since it waits for the store; the gateway repeats it if this fails.
                try? Threads.start(name: "ccsd-webhook") { senders.recordGone(sender) }
            })
        let port = WebhookPort(log: log) { port, client in
            let writer = WebhookWriter(seal: seal) { text, key in Digest.hmacSHA256(key: key, text) }
            return WebhookHost(
                port: port, client: client,
                gateway: WebhookGateway(writer: writer, seed: SecureRandom.number()), outlets: outlets,
                clock: clock, tally: WebhookTally(shard: shard), log: log)
        }
        port.apply(CURLSettings(configuration))
        return port
    }

    /// Gives the partitions and the webhooks the senders, also after each change.
    func connect(_ senders: Senders, to factory: PartitionFactory, _ gateways: Daemon.Gateways) {
        let (webhooks, secrets) = (gateways.webhooks, gateways.webhookSecrets)
        senders.observe { directory in
            factory.use(directory)
            webhooks.use(secrets.endpoints(of: directory))
        }
        webhooks.use(secrets.endpoints(of: senders.directory))
    }
}

extension Configuration {
    /// Which endpoints webhooks may have.
    var webhookReach: WebhookReach {
        WebhookReach(allowsPrivate: webhookPrivateAddresses, allowsPlainLoopback: testBench)
    }
}

extension CURLSettings {
    /// Takes the part of a configuration for webhooks.
    init(_ configuration: Configuration) {
        self.init(
            authorities: configuration.webhookCAFile, reach: configuration.webhookReach)
    }
}
