import Basics
public import Operator

extension OperationForm {
    /// Returns the form of an operation on the command line of `ccsctl`.
    public static func of(_ operation: any OperatorCommand.Type) -> OperationForm {
        switch operation {
        case is ShowAuthority.Type: authorityForm
        case is ShowConfiguration.Type: configurationForm
        case is ChangeLogLevel.Type: logLevelForm
        case is ListAuditLog.Type: auditLogForm
        case is SenderStatistics.Type: OperationForm(SenderStatistics.self, optionalArguments: [\.sender])
        case is ListMessages.Type: messagesForm
        case is ListScheduled.Type: scheduledForm
        case is FindMessages.Type: findMessagesForm
        case is ListHistory.Type: historyForm
        case is CountMessages.Type: totalsForm
        case is CountHours.Type: hoursForm
        case is CheckHealth.Type: healthForm
        case is ShowFigures.Type: topForm
        case is CheckConfiguration.Type: checkForm
        case is ReloadConfiguration.Type: reloadForm
        case is DrainSessions.Type:
            OperationForm(
                DrainSessions.self, flags: [\.sender: "--sender"],
                examples: [
                    Example("Let one sender reconnect", "ccsctl drain --sender 100000000001"),
                    Example("Let no client in before the backup of a move", "ccsctl drain --hold"),
                ])
        case is AuditStore.Type:
            OperationForm(AuditStore.self, details: ["Exits with 1 if the check fails."])
        case is MakeBackup.Type: backupForm
        case is ExportRecords.Type: exportForm
        case is ImportRecords.Type: importForm
        case is HandOverPartition.Type: handoverForm
        case is AddOperator.Type: addOperatorForm
        case is SendMessage.Type: sendForm
        case is AddSender.Type: addSenderForm
        case is RotateKey.Type: OperationForm(RotateKey.self, supplied: [\.key], options: keyOptions)
        case is SetWebhook.Type: setWebhookForm
        case is RotateWebhookSecret.Type:
            OperationForm(
                RotateWebhookSecret.self, supplied: [\.secret], options: webhookSecretOptions)
        case is AddAccount.Type: addAccountForm
        case is ListAccounts.Type: OperationForm(ListAccounts.self, optionalArguments: [\.sender])
        case is AddAPNsCredential.Type: addAPNsCredentialForm
        case is TestAPNsCredential.Type:
            OperationForm(
                TestAPNsCredential.self,
                details: ["Exits with 1 unless Apple accepts the credential in every tested environment."])
        case is ListDevices.Type: devicesForm
        case is TraceDevice.Type:
            OperationForm(
                TraceDevice.self, details: ["Ctrl-C ends the trace."],
                examples: [Example("Trace for ten minutes", "ccsctl devices trace \"$TOKEN\" --seconds 600")])
        case is ListTopics.Type:
            OperationForm(
                ListTopics.self, flags: [\.sender: "--sender"],
                examples: [
                    Example("List the topics of one sender", "ccsctl topics list --sender 100000000001")
                ])
        case is AddVirtualDevice.Type:
            OperationForm(
                AddVirtualDevice.self,
                examples: [
                    Example("Create a device", "ccsctl virtual-devices add 100000000001 org.example.app")
                ])
        case is SendFromVirtualDevice.Type: sendFromVirtualDeviceForm
        case is AddFault.Type: addFaultForm
        default: plain(operation)
        }
    }

    /// The form of an operation that is described by its fields alone.
    private static func plain(_ operation: (some OperatorCommand).Type) -> OperationForm {
        OperationForm(operation)
    }

    private static let healthForm = OperationForm(
        CheckHealth.self,
        details: [
            "Exits with 0 if nothing is wrong, else with the code of the most urgent cause: "
                + CheckHealth.Cause.allCases.map { "\($0.exitCode.rawValue) \($0.rawValue)" }
                .joined(separator: ", ") + ". With \(ExitCode.unavailable.rawValue) no daemon answers."
        ],
        examples: [Example("Probe from a monitoring script", "ccsctl health --json")])

    private static let topForm = OperationForm(
        ShowFigures.self,
        options: [
            Option(
                "--interval", .integer(1...Limits.Client.topIntervalMaximumSeconds), "SECONDS",
                "The time between two refreshes.", preset: "\(Limits.Client.topIntervalSeconds)"),
            Option("--once", "Print one screen as text and exit."),
        ],
        details: [
            "On a terminal the screen is drawn again until Ctrl-C. With --json, or if standard output is not a terminal, one answer is printed; with --interval, one after the other.",
            "With --json an answer is a line with the counters since the start, else a screen with the rates of the interval.",
        ],
        examples: [
            Example("Print the rates of the last ten seconds", "ccsctl top --once --interval 10")
        ])

    private static let checkForm = OperationForm(
        CheckConfiguration.self, arguments: [Argument("FILE", "A configuration file.", isOptional: true)],
        details: [
            "With FILE, ccsd check is run on that file instead of the running daemon's configuration, and no daemon is needed."
        ],
        examples: [Example("Check a file before using it", "ccsctl check new.yaml")])

    private static let exportForm = OperationForm(
        ExportRecords.self, supplied: [\.part, \.after, \.limit],
        arguments: [Argument("FILE", "The file to create, with mode 0600; it must not exist.")],
        examples: [Example("Export the registry", "ccsctl export registry.jsonl")])

    private static let importForm = OperationForm(
        ImportRecords.self, supplied: [\.rows, \.line, \.replaces],
        arguments: [Argument("FILE", "A file of ccsctl export.")],
        options: [Option("--replace", "Replace rows that differ from those in the file.")],
        details: [
            "A file without the end of an export, or of another format, is refused before anything is imported. Exits with 65 if a line is invalid, and with 1 if valid lines were not imported."
        ],
        examples: [Example("Import into a new server", "ccsctl import registry.jsonl")])

    private static let reloadForm = OperationForm(
        ReloadConfiguration.self,
        supplied: [\.certificate, \.privateKey, \.certificateFile, \.privateKeyFile],
        options: [
            Option("--certificate", .text, "FILE", "PEM file of the renewed certificate and its chain."),
            Option("--private-key", .text, "FILE", "PEM file of the certificate's private key."),
        ],
        details: [
            "With --certificate and --private-key, ccsctl reads these files and sends their content to ccsd.",
            "Exits with 1 if anything is invalid; the previous settings and certificate then stay in use.",
        ],
        examples: [
            Example(
                "After a certificate renewal, as root",
                "ccsctl reload --certificate /etc/ccsd/certificate.pem --private-key /etc/ccsd/key.pem")
        ])

    private static let sendForm = OperationForm(
        SendMessage.self, optionalArguments: [\.to], supplied: [\.data, \.notification, \.message],
        arguments: [pairArgument],
        options: [
            Option(
                "--notification", .text, "JSON",
                "The notification to show: an object with title, body and the other fields of legacy HTTP."),
            Option(
                "--message", .path, "FILE",
                "File with a message of HTTP v1, or with the body of a request with one, instead of TOKEN and the other options."
            ),
        ],
        details: ["Exits with 1 if the message is refused."],
        examples: [
            Example("Send two key-value pairs", "ccsctl send 100000000001 \"$TOKEN\" title=Hello body=World"),
            Example(
                "Show a notification",
                "ccsctl send 100000000001 \"$TOKEN\" --notification '{\"title\": \"Hello\", \"body\": \"World\"}'"
            ),
            Example("Send what an app server sends by HTTP v1", "ccsctl send 100000000001 --message v1.json"),
        ])

    private static let pairArgument = Argument(
        "KEY=VALUE", "A key-value pair of the payload.", isOptional: true, isRepeatable: true)

    private static let sendFromVirtualDeviceForm = OperationForm(
        SendFromVirtualDevice.self, supplied: [\.data], arguments: [pairArgument],
        details: ["Exits with 1 if the message is refused."],
        examples: [
            Example("Send a key-value pair", "ccsctl virtual-devices send \"$DEVICE\" action=reply")
        ])

    private static let addSenderForm = OperationForm(
        AddSender.self, supplied: [\.key], options: keyOptions,
        examples: [
            Example(
                "Move a sender from FCM and keep its key",
                "ccsctl senders add --sender-id 12345 --key-file key.txt")
        ])

    private static let setWebhookForm = OperationForm(
        SetWebhook.self, supplied: [\.secret], options: webhookSecretOptions,
        examples: [
            Example(
                "Take upstream messages over HTTPS",
                "ccsctl senders webhook set 100000000001 https://app.example.com/ccs")
        ])

    private static let addAccountForm = OperationForm(
        AddAccount.self, supplied: [\.publicKey],
        options: [
            Option(
                "--out", .path, "FILE", "The key file to create, with mode 0600; it must not exist.",
                isRequired: true),
            Option(
                "--token-uri", .text, "URL", "The address at which libraries fetch access tokens.",
                preset: "https://oauth2.googleapis.com/token"),
        ],
        details: [
            "ccsctl creates the key pair: FILE contains the private key, which is stored nowhere else. Give FILE to firebase-admin or another library instead of Google's key file, and point Google's host names to this server.",
            "The key file contains the address at which access tokens are fetched; for a library that uses it, oauth2.googleapis.com need not point to this server.",
        ],
        examples: [
            Example(
                "Create a key file for firebase-admin",
                "ccsctl service-accounts add 100000000001 --out key.json")
        ])

    private static let addAPNsCredentialForm = OperationForm(
        AddAPNsCredential.self, supplied: [\.file, \.privateKey, \.password],
        arguments: [Argument("FILE", "A .p12 archive, a certificate in PEM or DER, or a .p8 key.")],
        options: [
            Option(
                "--private-key", .path, "FILE",
                "The private key of the certificate, if FILE does not contain it."),
            Option(
                "--password-file", .path, "FILE",
                "Read the password of the archive or key from the first line of a file."),
            Option(
                "--password-stdin",
                "Read the password of the archive or key from the first line of standard input."),
        ],
        details: [
            "The content of FILE determines its format; archives exported from Keychain Access on macOS need no conversion. If FILE is named AuthKey_KEY_ID.p8, as Apple names it, --key-id may be left out."
        ],
        examples: [
            Example(
                "Add a key for all apps of a team",
                "ccsctl apns add AuthKey_ABC123DEFG.p8 --team-id TEAM123456"),
            Example(
                "Add a certificate that was exported from Keychain Access",
                "ccsctl apns add push.p12 --password-file password.txt"),
        ])

    private static let webhookSecretOptions = [
        Option(
            "--secret-file", .path, "FILE",
            "Read the secret from the first line of a file. Default: a generated secret."),
        Option("--secret-stdin", "Read the secret from the first line of standard input."),
    ]

    private static let keyOptions = [
        Option(
            "--key-file", .path, "FILE",
            "Read the server key from the first line of a file. Default: a generated key."),
        Option("--key-stdin", "Read the server key from the first line of standard input."),
    ]
}
