public import Basics

/// An environment of APNs.
public enum APNsCredentialEnvironment: String, CaseIterable, Sendable {
    case sandbox
    case production
}

/// A credential for APNs, without its private half.
public struct APNsCredentialRow: Record {
    /// What a credential is.
    public enum Kind: String, CaseIterable, Sendable {
        case certificate
        case key
    }

    public var credential: String
    public var kind: Kind
    public var bundle: String?
    public var sender: SenderID?
    public var team: String?
    public var keyID: String?
    public var environments: [APNsCredentialEnvironment]
    public var topics: [String]
    public var addedAt: UnixMilliseconds
    public var expiresAt: UnixMilliseconds?
    public var daysLeft: Int?

    /// Creates a row.
    public init(
        credential: String, kind: Kind, bundle: String? = nil, sender: SenderID? = nil, team: String? = nil,
        keyID: String? = nil, environments: [APNsCredentialEnvironment], topics: [String] = [],
        addedAt: UnixMilliseconds,
        expiresAt: UnixMilliseconds? = nil, daysLeft: Int? = nil
    ) {
        self.credential = credential
        self.kind = kind
        self.bundle = bundle
        self.sender = sender
        self.team = team
        self.keyID = keyID
        self.environments = environments
        self.topics = topics
        self.addedAt = addedAt
        self.expiresAt = expiresAt
        self.daysLeft = daysLeft
    }

    public static let fields = Fields(
        APNsCredentialRow.init(
            credential:kind:bundle:sender:team:keyID:environments:topics:addedAt:expiresAt:daysLeft:),
        .required("credential", .apnsCredential, \.credential, "The ID of the credential."),
        .required("kind", .word, \.kind, "A certificate, or a key that signs provider tokens."),
        .optional("bundle_id", .bundle, \.bundle, "The app; absent if it is for all apps of the team."),
        .optional(
            "sender_id", .sender, \.sender,
            "The only sender whose messages it is used for; absent if it is for all senders."),
        .optional("team_id", .text, \.team, "The team of a key."),
        .optional("key_id", .text, \.keyID, "Apple's ID of a key."),
        .required("environments", .list(.word), \.environments, "The environments that it is used for."),
        .required("topics", .list(.text), \.topics, "The topics of a certificate."),
        .required("added_at", .time, \.addedAt, "When it was added."),
        .optional("expires_at", .time, \.expiresAt, "When a certificate expires; keys do not."),
        .optional("days_left", .whole, \.daysLeft, "Whole days until then."))
}

/// The result of a self-test in one environment.
public struct APNsTestRow: Record {
    /// What Apple answered.
    public enum Result: String, CaseIterable, Sendable {
        /// Apple accepts the credential, and refuses only the token that the test made up.
        case accepted
        /// Apple refuses the credential.
        case refused
        /// Apple did not answer, or with something else than a verdict on the credential.
        case unclear
        /// Nothing was sent.
        case notTested = "not_tested"
    }

    /// Where it was tested.
    public var environment: APNsCredentialEnvironment
    public var result: Result
    public var detail: String

    /// Creates a row.
    public init(environment: APNsCredentialEnvironment, result: Result, detail: String) {
        self.environment = environment
        self.result = result
        self.detail = detail
    }

    public static let fields = Fields(
        APNsTestRow.init(environment:result:detail:),
        .required("environment", .word, \.environment, "The environment."),
        .required("result", .word, \.result, "Whether Apple accepts the credential."),
        .required("detail", .text, \.detail, "Apple's answer, or the reason for the lack of one."))
}

/// Adds a credential for APNs.
public struct AddAPNsCredential: OperatorCommand {
    public var file: Redacted<[UInt8]>
    public var privateKey: Redacted<[UInt8]>?
    public var password: Redacted<String>?
    public var keyID: String?
    public var team: String?
    public var bundle: String?
    public var sender: SenderID?
    public var environment: APNsCredentialEnvironment?
    public var testBundle: String?

    /// Creates the command.
    public init(
        file: Redacted<[UInt8]>, privateKey: Redacted<[UInt8]>? = nil, password: Redacted<String>? = nil,
        keyID: String? = nil, team: String? = nil, bundle: String? = nil, sender: SenderID? = nil,
        environment: APNsCredentialEnvironment? = nil, testBundle: String? = nil
    ) {
        self.file = file
        self.privateKey = privateKey
        self.password = password
        self.keyID = keyID
        self.team = team
        self.bundle = bundle
        self.sender = sender
        self.environment = environment
        self.testBundle = testBundle
    }

    public static let summary = OperationSummary.changing(
        "apns add",
        "Add a credential with which iOS apps get their messages through Apple, and test it.",
        details: [
            "An app has one certificate for each environment, and a team one .p8 key, or one for each app: a new credential replaces that of the same app or team, and for the same sender, in the environments that it is for. A certificate for both environments replaces both.",
            "Any sender that has a device token of an app can import it. Where senders must not reach each other's apps, add each credential for one sender; for the messages of this sender it takes precedence over one for all.",
            "The private key is stored encrypted, the password never.",
        ])
    public static let fields = Fields(
        AddAPNsCredential.init(
            file:privateKey:password:keyID:team:bundle:sender:environment:testBundle:),
        .required(
            "file", .secretFile(upTo: Limits.APNsCredentials.fileBytes), \.file,
            "A .p12 archive, a certificate, or a .p8 key."),
        .optional(
            "private_key", .secretFile(upTo: Limits.APNsCredentials.fileBytes), \.privateKey,
            "The private key of the certificate, if the file does not contain it."),
        .optional(
            "password",
            .secret(
                1...Limits.APNsCredentials.passwordBytes,
                "a password of up to \(Limits.APNsCredentials.passwordBytes) bytes", as: "PASSWORD"),
            \.password, "The password of the archive or key."),
        .optional(
            "key_id", .appleIdentifier(as: "KEY_ID"), \.keyID, audit: .keyID,
            "Apple's ID of a .p8 key."),
        .optional("team_id", .appleIdentifier(as: "TEAM_ID"), \.team, "The team that a .p8 key belongs to."),
        .optional(
            "bundle_id", .bundle, \.bundle, audit: .bundle,
            "The only app that a .p8 key is used for. Default: all apps of the team."),
        .optional(
            "sender_id", .sender, \.sender, audit: .sender,
            "The only sender whose messages it is used for. Default: all senders."),
        .optional(
            "environment", .word, \.environment,
            "The only environment that it is used for. Default: all that it allows."),
        .optional(
            "test_bundle_id", .bundle, \.testBundle,
            "The app that the test of a .p8 key names. Default: that of bundle_id."))

    /// The added credential.
    public struct Answer: Record {
        public var credential: APNsCredentialRow
        public var replaced: [String]
        public var warnings: [String]
        public var tests: [APNsTestRow]

        /// Creates an answer.
        public init(
            credential: APNsCredentialRow, replaced: [String], warnings: [String], tests: [APNsTestRow]
        ) {
            self.credential = credential
            self.replaced = replaced
            self.warnings = warnings
            self.tests = tests
        }

        public static let fields = Fields(
            Answer.init(credential:replaced:warnings:tests:),
            .required("credential", .record, \.credential, "The credential."),
            .required(
                "replaced", .list(.text), \.replaced, "The IDs of credentials that were removed for it."),
            .required("warnings", .list(.text), \.warnings, "What is unusual about it."),
            .required("tests", .list(.record), \.tests, "The results of its test at Apple."))
    }
}

/// Lists the credentials for APNs.
public struct ListAPNsCredentials: OperatorCommand {
    public static let summary = OperationSummary.reading(
        "apns list",
        "List the credentials for APNs, when they expire, and whether Apple accepts them.")
    public static let fields = Fields(ListAPNsCredentials.init)

    /// A file that is not usable as a credential.
    public struct Unreadable: Record {
        public var file: String
        public var problem: String

        /// Creates an entry.
        public init(file: String, problem: String) {
            self.file = file
            self.problem = problem
        }

        public static let fields = Fields(
            Unreadable.init(file:problem:), .required("file", .text, \.file, "The path of the file."),
            .required("problem", .text, \.problem, "What is wrong with it."))
    }

    /// All credentials.
    public struct Answer: Record {
        public var credentials: [APNsCredentialRow]
        public var states: [APNsStateRow]
        public var problem: String?
        public var unreadable: [Unreadable]

        /// Creates an answer.
        public init(
            credentials: [APNsCredentialRow], states: [APNsStateRow] = [], problem: String? = nil,
            unreadable: [Unreadable]
        ) {
            self.credentials = credentials
            self.states = states
            self.problem = problem
            self.unreadable = unreadable
        }

        public static let fields = Fields(
            Answer.init(credentials:states:problem:unreadable:),
            .required("credentials", .list(.record), \.credentials, "The credentials."),
            .required(
                "states", .list(.record), \.states,
                "The state of each credential in each of its environments."),
            .optional("problem", .text, \.problem, "Why the states are not known."),
            .required(
                "unreadable", .list(.record), \.unreadable, "Files that could not be read at the start."))
    }
}

/// Shows a credential for APNs.
public struct ShowAPNsCredential: OperatorCommand {
    public var credential: String

    public static let summary = OperationSummary.reading(
        "apns show", "Show a credential for APNs, without its private half.")
    public static let fields = Fields(
        ShowAPNsCredential.init(credential:),
        .required(
            "credential", .apnsCredential, \.credential, audit: .credential, "The ID of the credential."))

    /// The credential.
    public struct Answer: Record {
        public var credential: APNsCredentialRow
        public var name: String?
        public var issuer: String?
        public var fingerprint: String
        public var warnings: [String]

        /// Creates an answer.
        public init(
            credential: APNsCredentialRow, name: String? = nil, issuer: String? = nil, fingerprint: String,
            warnings: [String]
        ) {
            self.credential = credential
            self.name = name
            self.issuer = issuer
            self.fingerprint = fingerprint
            self.warnings = warnings
        }

        public static let fields = Fields(
            Answer.init(credential:name:issuer:fingerprint:warnings:),
            .required("credential", .record, \.credential, "The credential."),
            .optional("name", .text, \.name, "The common name of a certificate."),
            .optional("issuer", .text, \.issuer, "The common name of its issuer."),
            .required(
                "fingerprint", .text, \.fingerprint,
                "SHA-256 of the certificate, or of the public half of the key, in hexadecimal."),
            .required("warnings", .list(.text), \.warnings, "What is unusual about it."))
    }
}

/// Tests a credential at Apple.
public struct TestAPNsCredential: OperatorCommand {
    public var credential: String
    public var testBundle: String?

    public static let summary = OperationSummary.changing(
        "apns test", "Test a credential at Apple, in each environment that it is used for.",
        details: [
            "The test sends a message to a device token that does not exist: if Apple refuses only the token, the credential is good. No device gets anything."
        ])
    public static let fields = Fields(
        TestAPNsCredential.init(credential:testBundle:),
        .required(
            "credential", .apnsCredential, \.credential, audit: .credential, "The ID of the credential."),
        .optional(
            "test_bundle_id", .bundle, \.testBundle, audit: .bundle,
            "The app that the test of a .p8 key names. Default: the only app that it is used for."))

    /// The results.
    public struct Answer: Record {
        public var tests: [APNsTestRow]

        /// Creates an answer.
        public init(tests: [APNsTestRow]) { self.tests = tests }

        public static let fields = Fields(
            Answer.init(tests:),
            .required("tests", .list(.record), \.tests, "The result in each environment."))
    }
}

/// Removes a credential for APNs.
public struct RemoveAPNsCredential: OperatorCommand {
    public var credential: String

    public static let summary = OperationSummary.destroying(
        "apns remove",
        "Remove a credential for APNs; without another one, messages to its apps are refused.")

    public var consequence: String? {
        "The credential \(Printable.text(credential)) and its private key are removed; without another one, messages to its apps are refused."
    }
    public static let fields = Fields(
        RemoveAPNsCredential.init(credential:),
        .required(
            "credential", .apnsCredential, \.credential, audit: .credential, "The ID of the credential."))

    /// The removed credential.
    public struct Answer: Record {
        public var credential: String

        /// Creates an answer.
        public init(credential: String) { self.credential = credential }

        public static let fields = Fields(
            Answer.init(credential:),
            .required("credential", .apnsCredential, \.credential, "The ID of the credential."))
    }
}
