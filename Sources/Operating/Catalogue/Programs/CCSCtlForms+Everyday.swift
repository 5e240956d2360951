import Operator

extension OperationForm {
    static let authorityForm = OperationForm(
        ShowAuthority.self,
        options: [
            Option("--fingerprint", "Print only the SHA-256 fingerprint of the certificate."),
            Option("--out", .path, "FILE", "Write the certificate to a new file instead of standard output."),
        ],
        examples: [
            Example(
                "Trust the authority on Debian, as root",
                "ccsctl ca --out /usr/local/share/ca-certificates/ccsd.crt"),
            Example("Compare the certificate with the one on another machine", "ccsctl ca --fingerprint"),
        ])

    static let handoverForm = OperationForm(
        HandOverPartition.self,
        examples: [
            Example("Give partition 3 to node 2", "ccsctl cluster handover 3 --to 2"),
            Example("Give it to the node with the fewest partitions", "ccsctl cluster handover 3"),
        ])

    static let addOperatorForm = OperationForm(
        AddOperator.self, flags: [\.seconds: "--expires"],
        examples: [
            Example("Let a monitoring script read for a year", "ccsctl operators add probe --expires 365d"),
            Example("Let a colleague change everything", "ccsctl operators add alice --role operator"),
        ])

    static let configurationForm = OperationForm(
        ShowConfiguration.self,
        examples: [Example("Show what differs from a new installation", "ccsctl config show --changed")])

    static let logLevelForm = OperationForm(
        ChangeLogLevel.self, flags: [\.seconds: "--for"], optionalArguments: [\.level],
        examples: [
            Example("Show the level", "ccsctl log level"),
            Example("Log every connection for ten minutes", "ccsctl log level debug --for 10m"),
        ])

    static let auditLogForm = OperationForm(
        ListAuditLog.self,
        examples: [
            Example("Show who changed senders", "ccsctl audit-log --command senders"),
            Example(
                "Show what was refused since a time", "ccsctl audit-log --failed --since 2026-11-20T00:00:00Z"
            ),
        ])

    static let messagesForm = OperationForm(
        ListMessages.self, flags: [\.sender: "--sender"], optionalArguments: [\.device],
        examples: [
            Example("List what waits for an app", "ccsctl messages list \"$TOKEN\""),
            Example(
                "List what waits for the app servers of a sender",
                "ccsctl messages list --sender 100000000001"),
        ])

    static let scheduledForm = OperationForm(
        ListScheduled.self, flags: [\.sender: "--sender"],
        examples: [
            Example("List what is sent next", "ccsctl messages scheduled --limit 20"),
            Example(
                "List what the app servers of a sender have scheduled",
                "ccsctl messages scheduled --sender 100000000001"),
        ])

    private static let following = Option(
        "--follow",
        "Go on with messages that have further steps, as these are recorded, until Ctrl-C, an hour at most.")

    static let findMessagesForm = OperationForm(
        FindMessages.self, flags: [\.sender: "--sender"], optionalArguments: [\.messageID],
        options: [following],
        examples: [
            Example("Show what happened to a message", "ccsctl messages find m-1366082849205"),
            Example(
                "List what was refused since a time",
                "ccsctl messages find --sender 100000000001 --outcome refused --since 2026-11-20T00:00:00Z"),
        ])

    static let historyForm = OperationForm(
        ListHistory.self, options: [following],
        examples: [
            Example("List the last messages of an app", "ccsctl messages history \"$TOKEN\" --limit 20")
        ])

    static let totalsForm = OperationForm(
        CountMessages.self, flags: [\.sender: "--sender"],
        examples: [
            Example(
                "Count what became of the messages of a sender in a month",
                "ccsctl messages totals --sender 100000000001 --days 30")
        ])

    static let hoursForm = OperationForm(
        CountHours.self,
        examples: [Example("Count the messages of the last day by hour", "ccsctl messages hours --hours 24")])

    static let devicesForm = OperationForm(
        ListDevices.self, flags: [\.filter.sender: "--sender"],
        examples: [
            Example(
                "List devices that are offline although messages wait",
                "ccsctl devices list --presence offline --waiting"),
            Example(
                "List devices of an app without contact since a day",
                "ccsctl devices list --app com.example.app --seen-before 2026-11-20T00:00:00Z"),
        ])

    static let addFaultForm = OperationForm(
        AddFault.self, flags: [\.sender: "--sender"],
        examples: [
            Example(
                "Refuse the next three messages to a device",
                "ccsctl faults add refuse --token \"$TOKEN\" --error SERVICE_UNAVAILABLE --count 3")
        ])

    static let backupForm = OperationForm(
        MakeBackup.self,
        details: [
            "A DIR without / is a name: the folder is created in /var/lib/ccsd-backup under the service unit, and in the current folder of ccsctl elsewhere. Any other relative DIR is taken from the current folder of ccsctl."
        ],
        examples: [
            Example("Back up the service to /var/lib/ccsd-backup/monday", "ccsctl backup monday")
        ])
}
