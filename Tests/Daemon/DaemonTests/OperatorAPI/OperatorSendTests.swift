import Foundation
import Testing
import Wire

/// Messages that an operator sends: their forms, and the words of a refusal.
@Suite("Messages of operators", .serialized)
struct OperatorSendTests {
    private func send(_ daemon: RunningDaemon, _ arguments: String...) throws -> Tool {
        try Tool.run("ccsctl", ["--socket", daemon.controlSocket, "--json", "send"] + arguments)
    }

    @Test("a refusal has the words of the NACK, which no front end escapes twice")
    func refusal() throws {
        let bench = try OperatorAPIBench()
        let sender = try bench.daemon.firstSender.id
        let token = try TestDevice(bench.daemon, sender: sender).token
        let words = "InvalidJson: INVALID_DATA_KEY : Field \"data\" must not hold the reserved key: from"
        let tool = try send(bench.daemon, sender, token, "from=1")
        #expect(tool.object?["error_description"] as? String == words, "\(tool)")
        let text = try Tool.run(
            "ccsctl", ["--socket", bench.daemon.controlSocket, "send", sender, token, "from=1"])
        #expect(text.output == "NACK INVALID_JSON: \(words)\n", "\(text)")
        let answer = try bench.ask(
            "POST", "/operator/v1/send",
            body: #"{"sender_id":"\#(sender)","to":"\#(token)","data":{"from":"1"}}"#)
        #expect(answer.json["error_description"]?.text == words, "\(answer)")
        let long = try send(bench.daemon, sender, "<a href=\"x\">", "a=1")
        #expect(
            long.object?["error_description"] as? String == "Invalid token on 'to' field: <a href=\"x\">",
            "\(long)")
    }

    @Test("a notification, a message ID and a message of HTTP v1 are sent as an app server would")
    func forms() throws {
        let daemon = try RunningDaemon()
        let sender = try daemon.firstSender.id
        let device = try TestDevice(daemon, sender: sender)
        let shown = try send(
            daemon, sender, device.token, "--notification", #"{"title":"Hello","body":"World"}"#,
            "--message-id", "mine-1")
        #expect(shown.object?["message_id"] as? String == "mine-1", "\(shown)")
        let first = try device.expectMessage { _ in true }
        #expect(first["gcm.notification.title"] == "Hello" && first["gcm.notification.body"] == "World")

        let scratch = try Scratch()
        let file = scratch.url.appendingPathComponent("v1.json")
        let resource =
            #"{"token":"\#(device.token)","data":{"n":"v1"},"android":{"ttl":"60s"},"notification":{"title":"T"}}"#
        for text in [resource, #"{"message":\#(resource)}"#] {
            try text.write(to: file, atomically: true, encoding: .utf8)
            let sent = try send(daemon, sender, "--message", file.path)
            #expect(sent.object?["outcome"] as? String == "ack", "\(sent)")
            let message = try device.expectMessage { _ in true }
            #expect(message["n"] == "v1" && message["gcm.notification.title"] == "T")
        }
        try #"{"token":"\#(device.token)","android":{"ttl":"never"}}"#.write(
            to: file, atomically: true, encoding: .utf8)
        let refused = try send(daemon, sender, "--message", file.path)
        #expect(refused.object?["outcome"] as? String == "nack", "\(refused)")
        #expect((refused.object?["error_description"] as? String)?.contains("message.android.ttl") == true)
        let both = try send(daemon, sender, device.token, "a=b", "--message", file.path)
        #expect(
            both.code == 64 && both.errors.contains("message cannot be given with other fields"), "\(both)")
        let neither = try send(daemon, sender)
        #expect(neither.code == 64 && neither.errors.contains("to or message must be given"), "\(neither)")
        extendLifetime(scratch)
    }
}
