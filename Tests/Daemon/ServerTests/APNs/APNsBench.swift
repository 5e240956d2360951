import APNsGateway
import Basics
import BasicsSupport
import Catalogue
import Delivery
import Testing
import Transport

@testable import Server

/// The gateway's thread and Apple's stand-in, both run by the test in turns.
final class APNsBench {
    let apple: AppleStandIn
    let host: APNsHost
    let metrics = Metrics(shards: 1)
    private let taken: Box<[GatewayAnswer]>

    /// A value that closures change.
    final class Box<Value> {
        var value: Value
        init(_ value: Value) { self.value = value }
    }

    init(apple: AppleStandIn? = nil, _ change: (inout Configuration) -> Void = { _ in }) throws {
        let apple = try apple ?? AppleStandIn()
        self.apple = apple
        var configuration = Configuration()
        configuration[.apnsProductionAddress] = .text("localhost:\(apple.port)")
        configuration[.apnsSandboxAddress] = .text("localhost:\(apple.port)")
        configuration[.apnsCAFile] = .text(apple.authorityFile)
        change(&configuration)
        let taken = Box<[GatewayAnswer]>([])
        self.taken = taken
        host = APNsHost(
            reactor: try Reactor(index: 0), configuration: configuration,
            tally: APNsTally(shard: metrics.shards[0]), log: .silent
        ) { taken.value += $0 }
        host.change(
            APNsSettings { (delivery, _) throws(APNsRefusal) in
                guard let token = delivery.deviceToken else { throw APNsRefusal(.invalid) }
                return APNsRequest(
                    deviceToken: token, environment: delivery.environment,
                    topic: delivery.app.parts.category, pushType: .alert, priority: 10, expiration: 0,
                    collapseID: Array("c".utf8), id: "00000000-0000-4000-8000-00000000000a",
                    payload: Array("{\"aps\":{\"alert\":\"a\"}}".utf8))
            })
    }

    deinit { host.reactor.end() }

    /// The answers so far.
    var answers: [GatewayAnswer] { taken.value }

    /// Uses one key for all apps.
    func addKey() throws -> APNsMaterial {
        let folder = try ServerFolder()
        try folder.run("openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out key.p8")
        let key = try SmallFile.read("\(folder.path)/key.p8", limit: 10_000)
        let material = APNsMaterial(
            credential: APNsCredential(
                id: APNsCredentialID("key"),
                kind: .key(keyID: "ABC123DEFG", teamID: "TEAM123456", bundles: []),
                environments: [.production, .sandbox]),
            secret: .key(Redacted(key), keyID: "ABC123DEFG", teamID: "TEAM123456"))
        host.use([material])
        return material
    }

    /// Posts a delivery to each device token.
    func deliver(_ tokens: [String]) {
        var deliveries = tokens.enumerated().map { at, token in
            var parts = RegisteredApp.Parts(category: Array("com.example.app".utf8))
            parts.apnsToken = Array("p_\(token)".utf8)
            let device = DeviceID(UInt64(at + 1))
            return GatewayDelivery(
                message: StoredMessage(
                    device: device, sequence: SequenceNumber(UInt64(at + 1)), salt: 1,
                    registration: RegistrationNumber(1), sender: nil, messageID: [0x6d],
                    acceptedAt: 0, expiresAt: .max, body: []),
                registration: RegistrationName(device: device, number: RegistrationNumber(1)),
                app: RegisteredApp(parts), registeredAt: 0, isStored: true)
        }
        host.port.deliver(&deliveries)
    }

    /// A device token that begins with these digits.
    static func token(_ start: String) -> String {
        start + String(repeating: "a", count: 64 - start.count)
    }

    /// Runs both sides until a condition holds. Returns false after a minute.
    func turns(until condition: () -> Bool) -> Bool {
        let end = Now.read().monotonic.advanced(seconds: 60)
        while !condition() {
            guard Now.read().monotonic < end else { return false }
            host.reactor.turn(waitMilliseconds: 2)
            apple.reactor.turn(waitMilliseconds: 2)
        }
        return true
    }
}
