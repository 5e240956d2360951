public import Basics

/// A Firebase installation.
public struct InstallationRow: Record {
    public var installation: String
    /// The sender of its project; `nil` if the installation names none.
    public var sender: SenderID?
    public var hasEnded: Bool
    public var createdAt: UnixMilliseconds
    /// The last use; `nil` if the clock was in doubt then.
    public var usedAt: UnixMilliseconds?
    public var registrations: Int

    /// Creates a row.
    public init(
        installation: String, sender: SenderID?, hasEnded: Bool, createdAt: UnixMilliseconds,
        usedAt: UnixMilliseconds?, registrations: Int
    ) {
        self.installation = installation
        self.sender = sender
        self.hasEnded = hasEnded
        self.createdAt = createdAt
        self.usedAt = usedAt
        self.registrations = registrations
    }

    public static let fields = Fields(
        InstallationRow.init(installation:sender:hasEnded:createdAt:usedAt:registrations:),
        .required("installation", .installation, \.installation, "The ID of the installation."),
        .nullable(
            "sender_id", .sender, \.sender, "The sender of the installation's project; null if it names none."
        ),
        .required("ended", .boolean, \.hasEnded, "Whether its tokens have been revoked or have expired."),
        .required("created_at", .time, \.createdAt, "When the installation was created."),
        .nullable("used_at", .time, \.usedAt, "The last use; null if the clock was in doubt then."),
        .required("registrations", .count, \.registrations, "The number of its registrations."))
}

/// Lists the Firebase installations.
public struct ListInstallations: OperatorCommand {
    public var limit: Int = Limits.Operator.listedRowsDefault
    /// The installation after which the page starts; `nil` for the first page.
    public var after: String?

    public static let summary = OperationSummary.reading(
        "installations list", "List the Firebase installations with their numbers of registrations.")
    public static let fields = Fields(
        ListInstallations.init(limit:after:),
        .preset(
            "limit", .integer(1...Limits.Operator.listedRows), \.limit, Limits.Operator.listedRowsDefault,
            "List up to N."),
        .optional("after", .installation, \.after, "Start after this installation."))

    /// A page of the installations, in the order of their IDs.
    public struct Answer: Record {
        public var installations: [InstallationRow]
        /// The installation after which the next page starts; `nil` on the last page.
        public var nextAfter: String?

        /// Creates an answer.
        public init(installations: [InstallationRow], nextAfter: String?) {
            self.installations = installations
            self.nextAfter = nextAfter
        }

        public static let fields = Fields(
            Answer.init(installations:nextAfter:),
            .required("installations", .list(.record), \.installations, "The installations."),
            .optional(
                "next_after", .installation, \.nextAfter,
                "The installation after which the next page starts; left out on the last page."))
    }
}

/// Shows a Firebase installation.
public struct ShowInstallation: OperatorCommand {
    public var installation: String

    public static let summary = OperationSummary.reading(
        "installations show", "Show a Firebase installation: project, last use and number of registrations.")
    public static let fields = Fields(
        ShowInstallation.init(installation:),
        .required(
            "installation", .installation, \.installation, audit: .installation,
            "The Firebase installation ID, \(InstallationToken.idLength) characters."))

    /// The installation.
    public typealias Answer = InstallationRow
}

/// Revokes the tokens of a Firebase installation.
public struct RevokeInstallation: OperatorCommand {
    public var installation: String

    public var consequence: String? {
        "The tokens of installation \(installation) stop working at once; its app must create a new installation."
    }

    public static let summary = OperationSummary.destroying(
        "installations revoke", "Revoke the tokens of a Firebase installation.",
        details: [
            "Its refresh token and access tokens stop working at once, and its ID is never reused; the app creates a new installation when it is next refused. Its registrations remain until the app or the device removes them."
        ])
    public static let fields = Fields(
        RevokeInstallation.init(installation:),
        .required(
            "installation", .installation, \.installation, audit: .installation,
            "The Firebase installation ID, \(InstallationToken.idLength) characters."))

    /// The installation after the change.
    public typealias Answer = InstallationRow
}
