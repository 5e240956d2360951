import Basics
import ClientProtocol
import Transport
import Wire

/// The file with the identities of the virtual devices, and the senders that are recorded. Only its owner may read it, since it has their secrets.
enum VirtualDeviceFile {
    /// What the file has.
    struct Content {
        var devices: [VirtualDeviceRecord] = []
        /// The senders with a recorder.
        var recorded: [SenderID] = []
    }

    /// Reads the file; empty if there is none.
    static func read(_ path: String) throws(TestBenchProblem) -> Content {
        guard SmallFile.stamp(path) != nil else { return Content() }
        let bytes: [UInt8]
        do throws(TransportError) {
            bytes = try SmallFile.read(path, limit: Limits.TestBench.fileBytes)
        } catch { throw .file(error.description) }
        guard let json = try? JSONValue(parsing: bytes.raw), let rows = json["devices"]?.elements else {
            throw .file("\(path) is not a file of virtual devices: remove it to start without any")
        }
        let recorded = json["recorded"]?.elements ?? []
        return Content(
            devices: rows.compactMap { VirtualDeviceRecord($0) },
            recorded: recorded.compactMap { $0.text.flatMap { UInt64($0) } }.map { SenderID($0) })
    }

    /// Replaces the file.
    static func write(_ content: Content, to path: String) throws(TestBenchProblem) {
        let json: JSONValue = [
            "devices": .array(content.devices.map(\.json)),
            "recorded": .array(content.recorded.map { .string("\($0.number)") }),
        ]
        do throws(TransportError) {
            try SmallFile.replace(path, with: Array((json.pretty + "\n").utf8), mode: 0o600)
        } catch { throw .file(error.description) }
    }
}

extension VirtualDeviceRecord {
    fileprivate init?(_ json: JSONValue) {
        guard let id = json["android_id"]?.text.flatMap({ UInt64($0) }), id != 0,
            let secret = json["security_token"]?.text.flatMap({ UInt64($0) }), secret != 0,
            let sender = json["sender_id"]?.text.flatMap({ UInt64($0) }), let app = json["app"]?.text
        else { return nil }
        identity = DeviceIdentity(androidID: id, securityToken: Redacted(secret))
        self.sender = SenderID(sender)
        self.app = app
        token = json["token"]?.text
        label = json["label"]?.text ?? ""
        isOnline = json["online"]?.boolean ?? true
        acknowledges = json["acknowledges"]?.boolean ?? true
        isForgotten = json["forgotten"]?.boolean ?? false
    }

    fileprivate var json: JSONValue {
        [
            "android_id": .string("\(identity.androidID)"),
            "security_token": .string("\(identity.securityToken.revealed)"),
            "sender_id": .string("\(sender.number)"), "app": .string(app),
            "token": token.map { .string($0) } ?? .null, "label": .string(label),
            "online": .boolean(isOnline), "acknowledges": .boolean(acknowledges),
            "forgotten": .boolean(isForgotten),
        ]
    }
}
