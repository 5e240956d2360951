import APNsGateway
import Basics
import Delivery

/// An app on an iPhone, from Apple's view.
final class Phone {
    enum Kind: CaseIterable {
        case good
        /// It registers with the wrong environment.
        case otherEnvironment
        case unknown
        case mismatched
        /// It is removed from the phone, and installed again.
        case mortal
    }

    let number: Int
    let kind: Kind
    let bundle: [UInt8]
    let isSandbox: Bool
    /// The registration, once the server has confirmed it.
    var name: RegistrationName?
    /// When the app was removed from the phone.
    var removedAt: UnixMilliseconds?
    /// Whether it registers again.
    var isReviving = false

    init(_ number: Int, _ kind: Kind, isSandbox: Bool) {
        self.number = number
        self.kind = kind
        self.isSandbox = isSandbox
        bundle = Array("com.example.app\(number % 3)".utf8)
    }

    /// Whether each message reaches it.
    var isAlwaysGood: Bool { kind == .good || kind == .otherEnvironment }

    var digits: String { "\(1_000 + number)" }

    /// The token that the app reports.
    var token: [UInt8] { Array("\(isSandbox ? "s_" : "p_")\(digits)".utf8) }

    /// Apple's answer in an environment.
    func answer(in environment: APNsEnvironment) -> APNsAnswer {
        let isOwn = (environment == .sandbox) == isSandbox
        let isRight = kind == .otherEnvironment ? !isOwn : isOwn
        switch kind {
        case .mismatched: return APNsAnswer(status: 400, body: Samples.body("DeviceTokenNotForTopic"))
        case .good, .otherEnvironment, .unknown, .mortal:
            guard isRight, kind != .unknown else {
                return APNsAnswer(status: 400, body: Samples.body("BadDeviceToken"))
            }
            guard let removedAt else { return APNsAnswer(status: 200) }
            return APNsAnswer(status: 410, body: Samples.body("Unregistered", timestamp: removedAt))
        }
    }
}
