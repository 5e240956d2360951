import Basics
import Client
import ClientProtocol
import Testing
import Wire

@Suite struct DeviceCallsTests {
    private func answer(_ body: String, _ status: Int = 200) -> HTTPAnswer {
        HTTPAnswer(status: status, headers: [], body: Array(body.utf8), closes: false)
    }

    @Test("A registration has exactly these bytes")
    func register() {
        var out = ByteBuffer()
        let app = DeviceCalls.App(category: "com.example.app", sender: "123", subtype: "a b")
        DeviceCalls.register(app, DeviceBench.identity).append(host: "h:1", to: &out)
        let form = "app=com.example.app&device=600000000000000001&sender=123&X-subtype=a%20b"
        #expect(
            String(decoding: out.copied(), as: UTF8.self)
                == "POST /c2dm/register3 HTTP/1.1\r\nHost: h:1\r\n"
                + "Authorization: AidLogin 600000000000000001:700000000000000002\r\n"
                + "Content-Type: application/x-www-form-urlencoded\r\n"
                + "Content-Length: \(form.utf8.count)\r\n\r\n\(form)")
    }

    @Test(
        "A subscription to a topic has exactly these fields, and is answered by a token",
        arguments: [false, true])
    func topic(isEnd: Bool) throws {
        let app = DeviceCalls.App(category: "com.example.app", sender: "123")
        let call = DeviceCalls.topic("a%b", token: "t:1", isEnd: isEnd, app, DeviceBench.identity)
        #expect(call.path == "/c2dm/register3")
        #expect(
            String(decoding: call.body, as: UTF8.self)
                == "app=com.example.app&device=600000000000000001&sender=t%3A1&X-subtype=t%3A1"
                + "&X-subscription=t%3A1&X-gcm.topic=%2Ftopics%2Fa%25b&X-scope=%2Ftopics%2Fa%25b"
                + (isEnd ? "&delete=1" : ""))
        #expect(try DeviceCalls.token(answer("token=t:1")) == "t:1")
    }

    @Test("Descriptions of a request and of a device contain no secret")
    func secrets() {
        let call = DeviceCalls.register(
            DeviceCalls.App(category: "a", sender: "1"), DeviceBench.identity)
        #expect(!"\(call)".contains("700000000000000002"))
        #expect(!"\(DeviceBench.identity)".contains("700000000000000002"))
        #expect(call.headers[0].value.revealed.contains("700000000000000002"))
    }

    @Test("A token is the text after the equals sign")
    func token() throws {
        #expect(try DeviceCalls.token(answer("token=abc:def")) == "abc:def")
        #expect(try DeviceCalls.unregistered(answer("deleted=a.b")) == "a.b")
    }

    @Test("Refusals and malformed answers are distinguished (canary for the case above)")
    func refusals() {
        for text in ["Error=INVALID_SENDER", "token=", "nonsense", ""] {
            #expect(throws: ClientError.self) { try DeviceCalls.token(answer(text)) }
        }
        #expect(throws: ClientError.self) { try DeviceCalls.token(answer("token=abc", 500)) }
        do throws(ClientError) {
            _ = try DeviceCalls.token(answer("Error=INVALID_SENDER"))
        } catch { #expect("\(error)" == "the server refused: INVALID_SENDER") }
    }
}
