import Basics
import Catalogue
import Client
import ClientProtocol
import Glibc
import Wire

/// `register` and `unregister`.
enum Register {
    /// The instance of an app that registers for the first time: with one from the start, later instances are distinguished.
    static let usualInstance = "ccs-device"

    static func register(_ scene: Scene) throws(Failure) {
        let known = try DeviceState.read(scene.statePath)
        var app = scene.app
        if app.instance == nil {
            let before = known?.registration(of: app)
            app.instance = before == nil ? usualInstance : before?.instance
        }
        guard !app.sender.isEmpty else {
            throw Failure(.usage, "register needs --sender ID", hint: "only web apps (--web) need no sender")
        }
        let made: (identity: DeviceIdentity, token: String)
        do throws(ClientError) {
            made = try DeviceEnrolment.run(
                known?.identity, app, reactor: scene.reactor, endpoint: scene.https)
        } catch { throw Failure(error, scene.https) }
        var state = DeviceState.of(made.identity, known)
        state.store(
            DeviceState.Registration(
                app: app.category, sender: app.sender, token: made.token, instance: app.instance))
        try state.write(scene.statePath)
        try report(made.token, scene)
        guard !scene.invocation.has("--print-token") else { return }
        let members: [JSONValue.Member] = [
            JSONValue.Member("device", .string(String(made.identity.androidID))),
            JSONValue.Member("app", .string(app.category)), JSONValue.Member("sender", .string(app.sender)),
            JSONValue.Member("token", .string(made.token)),
        ]
        scene.output.report(
            "registered", members,
            "device \(made.identity.androidID) registered \(app.category) with sender \(app.sender); its token is\n\(made.token)"
        )
    }

    /// Prints a token and writes it to a file, if requested: at once, so that scripts need not wait.
    static func report(_ token: String, _ scene: Scene) throws(Failure) {
        if let path = scene.invocation.text("--token-file") { try PrivateFile.write(token + "\n", to: path) }
        if scene.invocation.has("--print-token") {
            StandardOutput.write(token + "\n")
        }
    }

    static func unregister(_ scene: Scene) throws(Failure) {
        var state = try DeviceState.require(scene.statePath)
        let app = scene.app
        do throws(ClientError) {
            let client = HTTPClient(reactor: scene.reactor, endpoint: scene.https)
            _ = try DeviceCalls.unregistered(
                try client.answer(to: DeviceCalls.unregister(app, state.identity)))
            client.close()
        } catch { throw Failure(error, scene.https) }
        state.forget(app: app.category, sender: app.sender)
        try state.write(scene.statePath)
        scene.output.report(
            "unregistered",
            [
                JSONValue.Member("app", .string(app.category)),
                JSONValue.Member("sender", .string(app.sender)),
            ],
            "\(app.category) is no longer registered with sender \(app.sender)")
    }
}
