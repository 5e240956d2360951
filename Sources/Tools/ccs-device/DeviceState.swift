import Basics
import Catalogue
import Client
import ClientProtocol
import Glibc
import Wire

/// The identity and registrations of a device, stored in a file that only its owner may read.
struct DeviceState {
    /// One registered app.
    struct Registration {
        var app: String
        var sender: String
        var token: String
        /// The instance ID with which the app registered; `nil` if there was none.
        var instance: String?
        /// The keys and the endpoint path, for a web app.
        var web: WebApp?
        var endpoint: String?
    }

    var identity: DeviceIdentity
    var registrations: [Registration] = []
    /// Received persistent IDs whose acknowledgement is not confirmed.
    var received: [[UInt8]] = []

    /// Creates the state of a new device.
    init(identity: DeviceIdentity) { self.identity = identity }

    /// Returns the state of a device that has checked in, based on its earlier state.
    static func of(_ identity: DeviceIdentity, _ known: DeviceState?) -> DeviceState {
        // If the server created a new device, the earlier registrations no longer exist.
        guard var state = known, state.identity.androidID == identity.androidID else {
            return DeviceState(identity: identity)
        }
        state.identity = identity
        return state
    }

    /// Stores a registration, in place of an older one of the same app and sender. A web app of that name is another app.
    mutating func store(_ registration: Registration) {
        forget(app: registration.app, sender: registration.sender, isWeb: registration.web != nil)
        registrations.append(registration)
    }

    /// Removes the registration of an app and sender.
    mutating func forget(app: String, sender: String, isWeb: Bool = false) {
        registrations.removeAll { $0.app == app && $0.sender == sender && ($0.web != nil) == isWeb }
    }

    /// Returns the registration of an app and sender, or `nil` if it is not registered.
    func registration(of app: DeviceCalls.App) -> Registration? {
        registrations.first { $0.app == app.category && $0.sender == app.sender && $0.web == nil }
    }

    // MARK: JSON

    init?(_ json: JSONValue) {
        guard let id = json["android_id"]?.text.flatMap({ UInt64($0) }), id != 0,
            let token = json["security_token"]?.text.flatMap({ UInt64($0) }), token != 0
        else { return nil }
        identity = DeviceIdentity(androidID: id, securityToken: Redacted(token))
        for entry in json["registrations"]?.elements ?? [] {
            guard let app = entry["app"]?.text, let sender = entry["sender"]?.text,
                let token = entry["token"]?.text
            else { return nil }
            var registration = Registration(app: app, sender: sender, token: token)
            registration.instance = entry["instance"]?.text
            if let web = entry["web"] {
                guard let known = WebApp(json: web) else { return nil }
                registration.web = known
                registration.endpoint = web["endpoint"]?.text
            }
            registrations.append(registration)
        }
        received = (json["received"]?.elements ?? []).compactMap { $0.text.map { Array($0.utf8) } }
    }

    var json: JSONValue {
        [
            "android_id": .string(String(identity.androidID)),
            "security_token": .string(String(identity.securityToken.revealed)),
            "registrations": .array(registrations.map(\.json)),
            "received": .array(received.map { .text($0) }),
        ]
    }

    // MARK: Web apps

    /// Returns the registration of a web app, or `nil` if it is not registered.
    func web(app: String, sender: String) -> Registration? {
        registrations.first { $0.app == app && $0.sender == sender && $0.web != nil }
    }

    /// Decrypts a message. Returns `nil` if no web app of this device can decrypt it.
    func text(of message: DeviceMessage) -> [UInt8]? {
        let subtype = message["subtype"].map { String(decoding: $0, as: UTF8.self) }
        for web in registrations.compactMap(\.web) where subtype == nil || web.subtype == subtype {
            if let text = web.open(message) { return text }
        }
        return nil
    }

    // MARK: File

    /// Reads the file. Returns `nil` if it does not exist.
    static func read(_ path: String) throws(Failure) -> DeviceState? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw failure(path)
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe chunk.withUnsafeMutableBytes {
                unsafe Glibc.read(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure(path) }
            guard count > 0 else { break }
            bytes += chunk[..<count]
            guard bytes.count <= Limits.Client.stateFileBytes else { break }
        }
        guard let json = try? JSONValue(parsing: bytes.raw), let state = DeviceState(json) else {
            throw Failure(
                .badData, "\(path) is not a state file of ccs-device",
                hint: "give another path with --state, or remove the file to start with a new device")
        }
        return state
    }

    /// Reads the file of a registered device. Throws if there is none.
    static func require(_ path: String) throws(Failure) -> DeviceState {
        guard let state = try read(path) else {
            throw Failure(
                .failure, "no device is registered: \(path) does not exist",
                hint: "register one: ccs-device register --sender ID")
        }
        return state
    }

    /// Writes the file atomically.
    func write(_ path: String) throws(Failure) { try PrivateFile.write(json.pretty + "\n", to: path) }

    private static func failure(_ path: String) -> Failure {
        unsafe Failure(.inputOutput, "\(path): \(String(cString: strerror(errno)))")
    }
}

extension DeviceState.Registration {
    var json: JSONValue {
        var members = [
            JSONValue.Member("app", .string(app)), JSONValue.Member("sender", .string(sender)),
            JSONValue.Member("token", .string(token)),
        ]
        if let instance { members.append(JSONValue.Member("instance", .string(instance))) }
        if let web {
            members.append(
                JSONValue.Member(
                    "web",
                    [
                        "subtype": .string(web.subtype), "endpoint": .string(endpoint ?? ""),
                        "private_key": .string(Base64.text(web.privateKey, urlSafe: true)),
                        "auth": .string(Base64.text(web.auth, urlSafe: true)),
                    ]))
        }
        return .object(members)
    }
}

extension WebApp {
    /// Parses a web app in the state file. Returns `nil` if it is invalid.
    init?(json: JSONValue) {
        guard let subtype = json["subtype"]?.text,
            let key = json["private_key"]?.text.flatMap({ Base64.bytes(Array($0.utf8).raw) }),
            let auth = json["auth"]?.text.flatMap({ Base64.bytes(Array($0.utf8).raw) })
        else { return nil }
        self.init(subtype: subtype, privateKey: key, auth: auth)
    }
}
