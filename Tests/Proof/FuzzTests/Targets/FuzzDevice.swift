import Basics
import Delivery
import Sessions
import Wire

/// For any input of a logged-in device: the split has no effect on the events for the core, and the output consists of
/// frames.
///
/// The first byte is the size of pieces.
func fuzzDevice(_ input: [UInt8]) throws(Violation) {
    guard let first = input.first else { return }
    let stream = Array(input.dropFirst())
    let whole = try link(stream, piece: .max)
    let cut = try link(stream, piece: Int(first) + 1)
    try demand(whole == cut, "the split changed the events for the core")
    // Each call sends a stream ack, so the output depends on the split.
}

private func link(_ stream: [UInt8], piece: Int) throws(Violation) -> [String] {
    var settings = FuzzWorld.settings
    settings.idleNotifications = true
    var run = SessionRun(
        DeviceSession(
            connection: FuzzWorld.connection, settings: SharedSettings(settings), now: FuzzWorld.now))
    var login = MCS.LoginRequest()
    login.id = Array("chrome-63.0.3234.0".utf8)
    login.domain = Array("mcs.android.com".utf8)
    login.user = Array("600000000000000001".utf8)
    login.resource = login.user
    login.authToken = Array("700000000000000002".utf8)
    var hello = ByteBuffer()
    hello.append(byte: MCS.version)
    MCS.Message.loginRequest(login).append(to: &hello)
    run.receive(hello.copied())
    run.answerEvents()
    try demand(run.events.contains { $0.contains("device.login") }, "the fuzzer could not log in")
    run.receive(stream, piece: piece)
    run.answerEvents()
    if run.close == nil { run.wait(2) }
    var reader = MCS.FrameReader()
    var bytes = run.output
    if bytes.first != MCS.version { bytes.insert(MCS.version, at: 0) }
    do throws(MCSError) {
        try reader.read(bytes.raw) { (tag, message) throws(MCSError) in
            _ = try MCS.Message(tag: tag, decoding: message)
            return true
        }
    } catch {
        throw Violation(description: "the output is not a frame: \(error)")
    }
    return run.events + [run.close?.rawValue ?? "open"]
}
