import Basics
import Catalogue
import Client
import ClientProtocol
import Transport
import Wire

/// `register --web`: an endpoint with keys, and with a sender a token for which the server encrypts messages.
enum RegisterWeb {
    /// The category with which web app libraries register (mcs-device 5.2).
    private static let usualCategory = "org.chromium.linux"

    static func register(_ scene: Scene) throws(Failure) {
        let known = try DeviceState.read(scene.statePath)
        let category = scene.invocation.text("--app") ?? usualCategory
        let key = try webKey(scene)
        let sender = scene.app.sender
        // Another key, sender or instance is another subscription, with its own keys.
        let owner = sender.isEmpty ? key : sender
        var before = known?.web(app: category, sender: owner)
        if let instance = scene.app.instance, instance != before?.instance { before = nil }
        guard
            let web = before?.web
                ?? WebApp(subtype: "wp:ccs-device#" + Hex.text(SecureRandom.bytes(8)))
        else { throw Failure(.software, "cannot create a key") }
        let app = DeviceCalls.App(
            category: category, sender: key, subtype: web.subtype,
            instance: scene.app.instance ?? (before == nil ? Register.usualInstance : before?.instance))
        var token: String
        let state: DeviceState
        let endpoint: String
        do throws(ClientError) {
            let made = try DeviceEnrolment.run(
                known?.identity, app, reactor: scene.reactor, endpoint: scene.https)
            token = made.token
            endpoint = "\(scene.origin)/fcm/send/\(token)"
            if !sender.isEmpty { token = try subscribe(web, endpoint, sender, scene) }
            var updated = DeviceState.of(made.identity, known)
            updated.store(
                DeviceState.Registration(
                    app: category, sender: owner, token: token, instance: app.instance, web: web,
                    endpoint: endpoint))
            state = updated
        } catch { throw Failure(error, scene.https) }
        try state.write(scene.statePath)
        try Register.report(token, scene)
        guard !scene.invocation.has("--print-token") else { return }
        report(scene, state, category, token, endpoint, web)
    }

    /// Returns the application server's key: a point in the format of a subscription.
    private static func webKey(_ scene: Scene) throws(Failure) -> String {
        let key = scene.invocation.text("--web-key") ?? WebApp.usualKey
        guard let bytes = Base64.bytes(Array(key.utf8).raw), bytes.count == 65, bytes[0] == 4 else {
            throw Failure(.usage, "invalid --web-key: expected a P-256 public key of 65 bytes in base64url")
        }
        return key
    }

    private static func subscribe(
        _ web: WebApp, _ endpoint: String, _ sender: String, _ scene: Scene
    ) throws(ClientError) -> String {
        let client = HTTPClient(reactor: scene.reactor, endpoint: scene.https)
        defer { client.close() }
        return try DeviceCalls.subscribed(
            try client.answer(
                to: DeviceCalls.subscribe(
                    publicKey: web.publicKey, auth: web.auth, endpoint: endpoint, sender: sender)))
    }

    private static func report(
        _ scene: Scene, _ state: DeviceState, _ category: String, _ token: String, _ endpoint: String,
        _ web: WebApp
    ) {
        let p256dh = Base64.text(web.publicKey, urlSafe: true, padded: false)
        let auth = Base64.text(web.auth, urlSafe: true, padded: false)
        let device = String(state.identity.androidID)
        scene.output.report(
            "registered",
            [
                JSONValue.Member("device", .string(device)), JSONValue.Member("app", .string(category)),
                JSONValue.Member("token", .string(token)),
                JSONValue.Member(
                    "subscription",
                    [
                        "endpoint": .string(endpoint),
                        "keys": ["p256dh": .string(p256dh), "auth": .string(auth)],
                    ]),
            ],
            "device \(device) registered \(category) as a web app; its token is\n\(token)\nand its endpoint, for keys \(p256dh) \(auth),\n\(endpoint)"
        )
    }
}
