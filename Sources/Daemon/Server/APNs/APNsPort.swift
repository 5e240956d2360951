import APNsGateway
import Basics
import Delivery
import Transport

/// The work of one turn of the APNs gateway.
struct APNsParcel: ThreadParcel {
    var deliveries: [GatewayDelivery] = []
    var jobs: [@Sendable (APNsHost) -> Void] = []
}

/// The APNs gateway as other threads see it.
struct APNsPort: Sendable {
    /// The core has at most one unanswered delivery per registration.
    let mailbox: ThreadMailbox<APNsParcel>

    /// Passes deliveries to the gateway, and empties the array.
    func deliver(_ deliveries: inout [GatewayDelivery]) {
        guard !deliveries.isEmpty else { return }
        var batch: [GatewayDelivery] = []
        swap(&batch, &deliveries)
        mailbox.add { $0.deliveries.append(contentsOf: batch) }
    }

    /// Applies a configuration.
    func apply(_ configuration: Configuration) { mailbox.post { $0.apply(configuration) } }

    /// Replaces the credentials.
    func use(_ materials: [APNsMaterial]) { mailbox.post { $0.use(materials) } }

    /// Returns the state of each credential in each of its environments. Returns `nil` if the thread does not answer in time.
    func states(
        withinMilliseconds most: Int64 = Int64(Limits.Operator.answerSeconds) * 1_000
    ) -> [APNsCredentialStatus]? {
        mailbox.ask { $0.credentialStates }.wait(milliseconds: most)
    }

    /// The words for operators when `states` returns `nil`.
    static let silence = "the gateway did not answer within \(Limits.Operator.answerSeconds) s"

    /// Waits for Apple's answers at shutdown, up to `seconds`. A message without one is offered again after the next start.
    func drain(seconds: Int) {
        let latch = Latch<Bool>()
        let most = min(Limits.APNs.drainSeconds, max(1, seconds / 4))
        mailbox.post { $0.drain(seconds: most) { latch.fulfil(true) } }
        _ = latch.wait(milliseconds: Int64(most + 1) * 1_000)
    }

    /// Ends the gateway's thread. Returns when it uses no connection any more.
    func stop() {
        let latch = Latch<Bool>()
        mailbox.post { $0.stop { latch.fulfil(true) } }
        _ = latch.wait()
    }

    /// Sends one request with a throwaway device token, and waits for the outcome. Returns `nil` if the thread does not answer.
    func probe(
        _ material: APNsMaterial, topic: [UInt8], _ environment: APNsEnvironment
    ) -> APNsProbe.Outcome? {
        let latch = Latch<APNsProbe.Outcome>()
        mailbox.post { $0.probe(material, topic: topic, environment) { latch.fulfil($0) } }
        return latch.wait(milliseconds: Int64(Limits.APNs.selfTestSeconds + 1) * 1_000)
    }
}
