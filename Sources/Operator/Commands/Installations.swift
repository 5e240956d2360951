public import Basics

/// A Firebase installation.
public struct InstallationRow: Record {
    /// Its ID.
    public var installation: String
    /// The sender of its project; `nil` if it names none.
    public var sender: SenderID?
    /// Whether its tokens have ended.
    public var hasEnded: Bool
    /// When it was made.
    public var createdAt: UnixMilliseconds
    /// When it was used last; `nil` if the clock was in doubt then.
    public var usedAt: UnixMilliseconds?
    /// How many registrations it has.
    public var registrations: Int

    /// An installation.
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
        .required("installation", .installation, \.installation, "Its ID."),
        .nullable("sender_id", .sender, \.sender, "The sender of its project."),
        .required("ended", .truth, \.hasEnded, "Whether its tokens have ended."),
        .required("created_at", .time, \.createdAt, "When it was made."),
        .nullable("used_at", .time, \.usedAt, "When it was used last."),
        .required("registrations", .count, \.registrations, "How many registrations it has."))
}

/// Lists the Firebase installations.
public struct ListInstallations: OperatorCommand {
    /// How many to list at most.
    public var limit: Int
    /// The installation after which the page begins; `nil` for the first page.
    public var after: String?

    /// A page of the list.
    public init(limit: Int = Limits.Operator.listedRowsDefault, after: String? = nil) {
        self.limit = limit
        self.after = after
    }

    public static let summary = OperationSummary.reading(
        .listInstallations, "List the Firebase installations, with how many registrations each has.")
    public static let fields = Fields(
        ListInstallations.init(limit:after:),
        .preset(
            "limit", .integer(1...Limits.Operator.listedRows), \.limit, Limits.Operator.listedRowsDefault,
            "List up to N."),
        .optional("after", .installation, \.after, "Go on after this installation."))

    /// A page of the installations, in the order of their IDs.
    public struct Answer: Record {
        /// The installations.
        public var installations: [InstallationRow]
        /// After which installation the next page begins; `nil` if this is the last one.
        public var nextAfter: String?

        /// A page.
        public init(installations: [InstallationRow], nextAfter: String?) {
            self.installations = installations
            self.nextAfter = nextAfter
        }

        public static let fields = Fields(
            Answer.init(installations:nextAfter:),
            .required("installations", .list(.record), \.installations, "The installations."),
            .optional(
                "next_after", .installation, \.nextAfter, "After which installation the next page begins."))
    }
}

/// Shows a Firebase installation.
public struct ShowInstallation: OperatorCommand {
    /// Its ID.
    public var installation: String

    /// A look at an installation.
    public init(installation: String) { self.installation = installation }

    public static let summary = OperationSummary.reading(
        .showInstallation, "Show a Firebase installation: project, use, and how many registrations it has.")
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
    /// Its ID.
    public var installation: String

    /// The end of an installation's tokens.
    public init(installation: String) { self.installation = installation }

    public static let summary = OperationSummary.changing(
        .revokeInstallation, "Revoke the tokens of a Firebase installation.",
        details: [
            "Its refresh token and access tokens stop working at once, and its ID is given to no other; the app makes a new installation when it is next refused. Its registrations stay until the app or the device ends them."
        ])
    public static let fields = Fields(
        RevokeInstallation.init(installation:),
        .required(
            "installation", .installation, \.installation, audit: .installation,
            "The Firebase installation ID, \(InstallationToken.idLength) characters."))

    /// The installation as it is afterwards.
    public typealias Answer = InstallationRow
}
