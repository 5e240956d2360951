import Basics
import Catalogue
import Client
import ClientProtocol
import Glibc
import Wire

/// What makes it the same device next time; kept in a file that only its owner may read.
struct DeviceState {
    /// One app that is registered.
    struct Registration {
        var app: String
        var sender: String
        var token: String
        /// The instance of the app that was named when it registered; `nil` if none was.
        var instance: String?
        /// Where it is a web app: its keys, and the path that its messages are posted to.
        var web: WebApp?
        var endpoint: String?
    }

    var identity: DeviceIdentity
    var registrations: [Registration] = []
    /// Persistent ids received and not known to be acknowledged.
    var received: [[UInt8]] = []

    /// A device that a server has just made.
    init(identity: DeviceIdentity) { self.identity = identity }

    /// The state of a device that has checked in, with what is known of it from before.
    static func of(_ identity: DeviceIdentity, _ known: DeviceState?) -> DeviceState {
        // Where the server did not know the device and made a new one, what was registered before is gone.
        guard var state = known, state.identity.androidID == identity.androidID else {
            return DeviceState(identity: identity)
        }
        state.identity = identity
        return state
    }

    /// Notes a token, in place of an older one of the same app and sender. A web app of that name is another app.
    mutating func note(_ registration: Registration) {
        forget(app: registration.app, sender: registration.sender, isWeb: registration.web != nil)
        registrations.append(registration)
    }

    /// Forgets the token of an app and sender.
    mutating func forget(app: String, sender: String, isWeb: Bool = false) {
        registrations.removeAll { $0.app == app && $0.sender == sender && ($0.web != nil) == isWeb }
    }

    /// The registration of an app and sender; `nil` if it is not registered.
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

    /// The registration of a web app; nil if it is not registered.
    func web(app: String, sender: String) -> Registration? {
        registrations.first { $0.app == app && $0.sender == sender && $0.web != nil }
    }

    /// What an encrypted message says; nil where no web app of this device can read it.
    func text(of message: DeviceMessage) -> [UInt8]? {
        let subtype = message["subtype"].map { String(decoding: $0, as: UTF8.self) }
        for web in registrations.compactMap(\.web) where subtype == nil || web.subtype == subtype {
            if let text = web.open(message) { return text }
        }
        return nil
    }

    // MARK: File

    /// Reads the file; nil if there is none.
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
                .badData, "\(path) is no state file of ccs-device",
                hint: "name another with --state, or remove it: the device is then a new one")
        }
        return state
    }

    /// Reads the file of a device that must have been registered.
    static func require(_ path: String) throws(Failure) -> DeviceState {
        guard let state = try read(path) else {
            throw Failure(
                .failure, "there is no device yet: \(path) does not exist",
                hint: "register one: ccs-device register --sender ID")
        }
        return state
    }

    /// Writes the file, whole or not at all.
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
    /// A web app as it stands in the state file; nil where it is none.
    init?(json: JSONValue) {
        guard let subtype = json["subtype"]?.text,
            let key = json["private_key"]?.text.flatMap({ Base64.bytes(Array($0.utf8).raw) }),
            let auth = json["auth"]?.text.flatMap({ Base64.bytes(Array($0.utf8).raw) })
        else { return nil }
        self.init(subtype: subtype, privateKey: key, auth: auth)
    }
}
