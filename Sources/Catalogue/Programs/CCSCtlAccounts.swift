extension Program {
    /// What `ccsctl` does with the accounts of HTTP v1.
    static let accountCommands = [
        Command(
            "service-accounts add", "Make a service account and the key file that SDKs of HTTP v1 take.",
            details: [
                "The key is made here: FILE has its private half, which is stored nowhere else, and the daemon keeps the public half. Hand FILE to firebase-admin or any other library in place of the one from Google, and let its host names lead to this server.",
                "The key file says where access tokens are fetched; a library that honours it needs no redirected name for that.",
            ],
            arguments: [Argument("SENDER_ID", "The sender that it sends as.")],
            options: [
                Option(
                    "--out", .path, "FILE", "The key file to make, mode 0600; it must not exist.",
                    isRequired: true),
                Option(
                    "--token-uri", .text, "URL", "Where the library fetches access tokens.",
                    preset: "https://oauth2.googleapis.com/token"),
            ],
            examples: [
                Example("For firebase-admin", "ccsctl service-accounts add 100000000001 --out key.json")
            ]),
        Command(
            "service-accounts list", "List the service accounts of one sender or of all.",
            arguments: [Argument("SENDER_ID", "The sender.", isOptional: true)]),
        Command(
            "service-accounts remove", "Remove a service account; its access tokens stop working at once.",
            arguments: [
                Argument("SENDER_ID", "The sender."),
                Argument("KEY_ID", "Its key, by private_key_id of the key file."),
            ]),
    ]
}
