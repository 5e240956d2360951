import Basics

/// The XMPP side of an app server of the bench.
struct AppServerTalk: SenderTalk {
    static let what = "app server"
    private var login: StreamLogin
    private var numbers = MarkScanner(mark: Template.numberMark, digits: Template.numberDigits)

    init(_ credential: StreamCredential) { login = StreamLogin(credential) }

    var isReady: Bool { login.isReady }

    mutating func begin(_ outbox: inout Outbox) { login.begin(&outbox) }

    mutating func consume(
        _ bytes: RawSpan, _ outbox: inout Outbox, _ answered: (Answer) -> Void
    ) -> TalkVerdict {
        guard login.isReady else { return login.consume(bytes, &outbox) }
        numbers.scan(bytes) { span, at in answered(.number(Digits.number(in: span, at: at))) }
        return Bytes.contains(bytes, "\"nack\"") ? .refused : .fine
    }
}
