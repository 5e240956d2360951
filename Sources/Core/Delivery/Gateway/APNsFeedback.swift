public import Basics

/// An entry of the feedback list: a device token that has ended (apns 2.3).
public struct APNsFeedback: Sendable, Equatable {
    /// The account that may send to the registration.
    public var sender: SenderID
    /// When this server received the verdict, milliseconds since 1970.
    public var seenAt: UnixMilliseconds
    /// The registration.
    public var registration: RegistrationName
    /// What the token of the registration begins with.
    public var tokenPrefix: TokenPrefix?
    /// The bundle ID of the app.
    public var bundle: [UInt8]
    /// The device token with its environment, as registered.
    public var apnsToken: [UInt8]
    /// Apple's verdict.
    public var verdict: APNsVerdict

    public init(
        sender: SenderID, seenAt: UnixMilliseconds, registration: RegistrationName, bundle: [UInt8],
        apnsToken: [UInt8], verdict: APNsVerdict
    ) {
        self.sender = sender
        self.seenAt = seenAt
        self.registration = registration
        self.bundle = bundle
        self.apnsToken = apnsToken
        self.verdict = verdict
    }

    /// The registration, as its token names it.
    public var token: TokenName { TokenName(registration, prefix: tokenPrefix) }

    /// The environment of the device token.
    public var environment: APNsEnvironment { APNsEnvironment(ofToken: apnsToken) }

    /// The hexadecimal digits of the device token.
    public var deviceToken: ArraySlice<UInt8> { AppleToken.shownDigits(ofStored: apnsToken) }

    /// Creates the entry of a registration. Returns `nil` if its device token has not ended, or no account may send to it.
    init?(_ registration: Registration) {
        guard let end = registration.apnsState.end, let sender = registration.sender else { return nil }
        self.init(
            sender: sender, seenAt: end.seenAt, registration: registration.name,
            bundle: registration.category,
            apnsToken: registration.apnsToken, verdict: end.verdict)
        tokenPrefix = registration.tokenName.prefix
    }
}

/// A position in a sender's feedback list: after all entries with an earlier time, or the same time and a smaller name.
public struct FeedbackPosition: Sendable, Comparable {
    /// The time of an entry, milliseconds since 1970.
    public var seenAt: UnixMilliseconds
    /// The registration of an entry; `nil` is before all entries of the time.
    public var registration: RegistrationName?

    public init(seenAt: UnixMilliseconds, registration: RegistrationName? = nil) {
        self.seenAt = seenAt
        self.registration = registration
    }

    /// The position of an entry.
    public init(_ feedback: APNsFeedback) {
        self.init(seenAt: feedback.seenAt, registration: feedback.registration)
    }

    public static func < (a: Self, b: Self) -> Bool {
        guard a.seenAt == b.seenAt else { return a.seenAt < b.seenAt }
        switch (a.registration, b.registration) {
        case (let first?, let second?): return first < second
        case (nil, .some): return true
        case (_, nil): return false
        }
    }
}

/// A page of an app server's feedback list.
public struct FeedbackQuery: Sendable, Equatable {
    /// The account whose list it is.
    public var sender: SenderID
    /// The bundle ID of the app.
    public var bundle: [UInt8]
    /// Where the page starts.
    public var after: FeedbackPosition
    /// Entries that are read for the page, of which those of other apps are left out.
    public var limit: Int

    public init(sender: SenderID, bundle: [UInt8], after: FeedbackPosition, limit: Int) {
        self.sender = sender
        self.bundle = bundle
        self.after = after
        self.limit = limit
    }
}
