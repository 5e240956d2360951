public import Operator

extension OperationName {
    /// How the operation stands on the command line of `ccsctl`. An operation without a form does not compile.
    public var form: OperationForm {
        switch self {
        case .showStatus: OperationForm(ShowStatus.self)
        case .checkConfiguration: Self.checkForm
        case .reloadConfiguration: Self.reloadForm
        case .showClock: OperationForm(ShowClock.self)
        case .acceptClock: OperationForm(AcceptClock.self)
        case .drainSessions:
            OperationForm(
                DrainSessions.self, flags: [\.sender: "--sender"],
                examples: [
                    Example("Move one sender to new connections", "ccsctl drain --sender 100000000001")
                ])
        case .auditStore:
            OperationForm(AuditStore.self, details: ["Exits with 1 where the law does not hold."])
        case .listSessions: OperationForm(ListSessions.self)
        case .sendMessage: Self.sendForm
        case .addSender: Self.addSenderForm
        case .listSenders: OperationForm(ListSenders.self)
        case .rotateKey: OperationForm(RotateKey.self, supplied: [\.key], options: Self.keyOptions)
        case .removeSender: OperationForm(RemoveSender.self)
        case .addAccount: Self.addAccountForm
        case .listAccounts: OperationForm(ListAccounts.self, optionalArguments: [\.sender])
        case .removeAccount: OperationForm(RemoveAccount.self)
        case .listDevices: OperationForm(ListDevices.self)
        case .showDevice: OperationForm(ShowDevice.self)
        case .traceDevice:
            OperationForm(
                TraceDevice.self, details: ["Ctrl-C ends it at once."],
                examples: [Example("For ten minutes", "ccsctl devices trace \"$TOKEN\" --seconds 600")])
        case .forgetDevice: OperationForm(ForgetDevice.self)
        case .listInstallations: OperationForm(ListInstallations.self)
        case .showInstallation: OperationForm(ShowInstallation.self)
        case .revokeInstallation: OperationForm(RevokeInstallation.self)
        case .listTopics:
            OperationForm(
                ListTopics.self, flags: [\.sender: "--sender"],
                examples: [Example("Those of one sender", "ccsctl topics list --sender 100000000001")])
        case .listRunningTopics: OperationForm(ListRunningTopics.self)
        }
    }

    private static let checkForm = OperationForm(
        CheckConfiguration.self, arguments: [Argument("FILE", "A configuration file.", isOptional: true)],
        details: [
            "With FILE no daemon is needed: ccsd check is run on it, in the place of the configuration of the running daemon."
        ],
        examples: [Example("Before it is put in place", "ccsctl check new.yaml")])

    private static let reloadForm = OperationForm(
        ReloadConfiguration.self,
        supplied: [\.certificate, \.privateKey, \.certificateFile, \.privateKeyFile],
        options: [
            Option("--certificate", .text, "FILE", "PEM file of the renewed certificate and its chain."),
            Option("--private-key", .text, "FILE", "PEM file of its private key."),
        ],
        details: [
            "With --certificate and --private-key ccsctl reads these files and hands them to ccsd.",
            "Exits with 1 where anything is wrong; the settings and the certificate of before stay in force.",
        ],
        examples: [
            Example(
                "After a renewal, as root",
                "ccsctl reload --certificate /etc/ccsd/certificate.pem --private-key /etc/ccsd/key.pem")
        ])

    private static let sendForm = OperationForm(
        SendMessage.self, supplied: [\.data],
        arguments: [Argument("KEY=VALUE", "A pair of the payload.", isOptional: true, isRepeatable: true)],
        details: ["Exits with 1 where the message is refused."],
        examples: [Example("Two pairs", "ccsctl send 100000000001 \"$TOKEN\" title=Hello body=World")])

    private static let addSenderForm = OperationForm(
        AddSender.self, supplied: [\.key], options: keyOptions,
        examples: [
            Example(
                "Move a sender from FCM with its key",
                "ccsctl senders add --sender-id 12345 --key-file key.txt")
        ])

    private static let addAccountForm = OperationForm(
        AddAccount.self, supplied: [\.publicKey],
        options: [
            Option(
                "--out", .path, "FILE", "The key file to make, mode 0600; it must not exist.",
                isRequired: true),
            Option(
                "--token-uri", .text, "URL", "Where the library fetches access tokens.",
                preset: "https://oauth2.googleapis.com/token"),
        ],
        details: [
            "The key is made by ccsctl: FILE has its private half, which is stored nowhere else. Hand FILE to firebase-admin or any other library in place of the one from Google, and let its host names lead to this server.",
            "The key file names the address where access tokens are fetched; a library that honours it needs no redirected name for that.",
        ],
        examples: [
            Example("For firebase-admin", "ccsctl service-accounts add 100000000001 --out key.json")
        ])

    private static let keyOptions = [
        Option(
            "--key-file", .path, "FILE",
            "Take the server key from the first line of a file, instead of making one."),
        Option("--key-stdin", "Take the server key from the first line of standard input."),
    ]
}
