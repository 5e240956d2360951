import Basics
import BasicsSupport
import Client
import ClientProtocol
import ClientSupport
import Foundation
import Transport
import Wire

@testable import TestBench

/// The thread of a test bench with a server in place of ccsd, on one reactor.
final class BenchScene {
    static let sender = SenderID(100)
    static let device = DeviceID(5)

    let reactor: Reactor
    let host: BenchHost
    let file: String
    /// The frames of one device, each with its answers.
    let script: DeviceScript
    /// Answers the calls for check-in and registration, by their text. `nil` closes the connection.
    var web: (String) -> [UInt8]? = BenchScene.enrolling
    /// The calls so far.
    private(set) var calls: [String] = []
    /// Answers an app server after its login.
    var answerAppServer: (String) -> String? = { _ in "" }
    let devices: ScriptedServer
    private let https: ScriptedServer
    let appServers: ScriptedServer

    /// Starts a test bench with the content of an earlier one's file.
    init(
        _ content: VirtualDeviceFile.Content = .init(), hasAppServers: Bool = true, file: String? = nil,
        answer: @escaping (MCS.Message) -> [MCS.Message]? = DeviceScript.greeting
    ) throws {
        reactor = try Reactor(index: 0)
        let name = "bench-\(SecureRandom.number()).json"
        self.file = file ?? FileManager.default.temporaryDirectory.appendingPathComponent(name).path
        if file == nil { try VirtualDeviceFile.write(content, to: self.file) }
        let script = DeviceScript(answer)
        self.script = script
        let devices = try ScriptedServer(on: reactor) { script.respond($1) }
        self.devices = devices
        weak var scene: BenchScene?
        let https = try ScriptedServer(on: reactor) { _, bytes in
            scene?.answerCall(String(decoding: bytes, as: UTF8.self))
        }
        let appServer = AppServerScript { scene?.answerAppServer($0) }
        let appServers = try ScriptedServer(on: reactor) { appServer.respond($1, $0) }
        host = BenchHost(
            reactor: reactor,
            settings: BenchHost.Settings(
                devices: devices.endpoint, https: https.endpoint,
                appServers: hasAppServers ? appServers.endpoint : nil, recorderKey: Redacted([0x4B]),
                file: self.file, serverTime: { Now(monotonic: $0.monotonic, wall: 7) }),
            log: .silent)
        self.https = https
        self.appServers = appServers
        scene = self
        host.start()
    }

    deinit {
        reactor.end()
        try? FileManager.default.removeItem(atPath: file)
    }

    /// What is in the file.
    var saved: VirtualDeviceFile.Content { get throws { try VirtualDeviceFile.read(file) } }

    /// Runs the reactor until something is so.
    func run(until isDone: () -> Bool) -> Bool { reactor.turn(seconds: 30, until: isDone) }

    /// Starts something and waits for what it reports; `nil` if it reports nothing.
    func outcome<Value>(_ start: (@escaping (Value) -> Void) -> Void) -> Value? {
        var outcome: Value?
        start { outcome = $0 }
        _ = run { outcome != nil }
        return outcome
    }

    /// The state of the device that `record` describes.
    var state: VirtualDeviceState? { try? host.state(of: Self.device) }

    private func answerCall(_ text: String) -> [UInt8]? {
        calls.append(text)
        return web(text)
    }

    /// A device of an earlier process.
    static func record(_ number: UInt64 = 5, isOnline: Bool = true) -> VirtualDeviceRecord {
        var record = VirtualDeviceRecord(
            identity: DeviceIdentity(androidID: number, securityToken: Redacted(6)), sender: sender,
            app: "org.example.app", token: "old", label: "label")
        record.isOnline = isOnline
        return record
    }

    static func ok(_ body: [UInt8]) -> [UInt8] {
        Array("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body
    }

    /// Answers every check-in, registration and removal.
    static func enrolling(_ call: String) -> [UInt8]? {
        if call.hasPrefix("POST /checkin ") {
            var body = ByteBuffer()
            CheckInResponse(time: 1, androidID: device.number, securityToken: 6).append(to: &body)
            return ok(body.copied())
        }
        return ok(Array((call.contains("delete=1") ? "deleted=app" : "token=new").utf8))
    }

    /// Refuses every login as that of a device that is not known, or with another code.
    static func refusing(_ code: Int32) -> (MCS.Message) -> [MCS.Message]? {
        { frame in
            guard case .loginRequest = frame else { return [] }
            var response = MCS.LoginResponse()
            response.error = MCS.ErrorInfo(code: code)
            return [.loginResponse(response)]
        }
    }
}
