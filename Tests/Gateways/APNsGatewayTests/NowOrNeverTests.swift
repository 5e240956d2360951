import APNsGateway
import Basics
import Delivery
import Testing
import Wire

/// Now-or-never messages whose first request has an unknown outcome (apns 1.7).
@Suite("the gateway and now-or-never messages")
struct NowOrNeverTests {
    /// A desk on which a now-or-never message is in flight.
    private static func sending() throws -> (desk: GatewayDesk, send: APNsSend) {
        let (desk, _) = GatewayDesk.connected()
        let effects = desk.feed(.deliver(Samples.delivery(1, isStored: false)))
        return (desk, try #require(effects.sends.first))
    }

    @Test(
        "a request without an answer is sent once more after a second, with the same ID",
        arguments: [.connectionEnded, .reset(code: 2), .malformedAnswer, .answerTooLong]
            as [HTTP2RequestFailure])
    func again(failure: HTTP2RequestFailure) throws {
        let (desk, send) = try Self.sending()
        let lost = desk.fail(send, failure)
        #expect(lost.answers.isEmpty && lost.sends.isEmpty)
        #expect(desk.pass(milliseconds: 999).sends.isEmpty)
        let second = try #require(desk.pass(milliseconds: 1).sends.first)
        #expect(second.request.id == send.request.id)
        let end = desk.fail(second, failure)
        #expect(end.sends.isEmpty && end.waits == [1_000], "the core refuses it")
        #expect(desk.pass(milliseconds: 10_000).sends.isEmpty)
    }

    @Test("the answer to the second request is that of the message")
    func accepted() throws {
        let (desk, send) = try Self.sending()
        _ = desk.feed(.closed(send.connection))
        let opened = desk.open(desk.pass(milliseconds: 1_000))
        #expect(desk.answer(opened.sends.first, 200).outcomes == [.accepted(.production)])
    }

    @Test("it is not sent again when its app server no longer waits")
    func late() throws {
        for (age, isAgain) in [(3_999, true), (4_000, false)] as [(Int64, Bool)] {
            let (desk, send) = try Self.sending()
            _ = desk.pass(milliseconds: age)
            #expect(desk.fail(send, .connectionEnded).answers.isEmpty == isAgain, "after \(age) ms")
        }
    }

    @Test("while it pauses, no other message goes to its device, and others do")
    func lane() throws {
        let (desk, send) = try Self.sending()
        _ = desk.fail(send, .connectionEnded)
        let same = Samples.delivery(2, registration: 2, isStored: false)
        #expect(desk.feed(.deliver(same)).sends.isEmpty)
        #expect(desk.deliver(3).sends.map(\.request.id) == ["3"])
        let again = desk.pass(milliseconds: 1_000).sends
        #expect(again.map(\.request.id) == ["1"])
        #expect(desk.answer(again.first, 200).sends.map(\.request.id) == ["2"])
    }

    @Test("a drain answers it at once")
    func drain() throws {
        let (desk, send) = try Self.sending()
        _ = desk.fail(send, .connectionEnded)
        #expect(desk.feed(.drain).waits.count == 1 && desk.isDrained)
        let (second, sent) = try Self.sending()
        _ = second.feed(.drain)
        #expect(second.fail(sent, .connectionEnded).waits.count == 1, "nor does a new one pause")
    }

    @Test("a stored message comes back to the core, and a busy answer is none that is lost")
    func others() throws {
        let (desk, _) = GatewayDesk.connected()
        #expect(desk.fail(desk.deliver(1).sends.first, .connectionEnded).waits == [1_000])
        let (second, send) = try Self.sending()
        #expect(second.answer(send, 503, "ServiceUnavailable").waits == [1_000])
    }
}

/// Verdicts about the token of a Live Activity.
@Suite("the gateway and Live Activities")
struct LiveActivityTests {
    @Test(
        "a Live Activity that has ended is refused as such, and its registration lives",
        arguments: [
            (410, "Unregistered"), (410, "ExpiredToken"), (400, "BadDeviceToken"),
            (400, "DeviceTokenNotForTopic"),
        ])
    func ended(status: Int, reason: String) throws {
        let (desk, _) = GatewayDesk.connected(Samples.key())
        let mapping = Samples.mapping
        _ = desk.feed(
            .settings(
                APNsSettings { (delivery, now) throws(APNsRefusal) in
                    var request = try mapping(delivery, now)
                    request.deviceToken = AppleToken.Digits(of: [0xac, 0x71])
                    return request
                }))
        let send = try #require(desk.deliver(1).sends.first)
        let effects = desk.answer(send, status, reason)
        #expect(effects.sends.isEmpty, "the other environment is not tried")
        guard case .refused(let refusal)? = effects.outcomes.first else {
            Issue.record("\(effects.outcomes)")
            return
        }
        #expect(refusal.kind == .activityEnded && refusal.verdict?.reason == reason)
    }
}
