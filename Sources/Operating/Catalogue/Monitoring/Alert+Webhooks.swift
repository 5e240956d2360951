extension Alert {
    /// Whether the endpoints of webhooks take their messages.
    static let webhooks = [
        Alert(
            "CcsdWebhookGone", .warning, #"ccs_webhook_endpoints{state="gone"} > 0"#, for: "5m",
            "{{ $value }} endpoints of webhooks have answered 410 Gone and get no messages.",
            action:
                "ccsctl senders webhook list names the senders. Ask their owner: set the new URL with ccsctl senders webhook set, resume the endpoint with ccsctl senders webhook resume, or remove it with ccsctl senders webhook clear."
        ),
        Alert(
            "CcsdWebhookFailing", .warning, #"ccs_webhook_endpoints{state="paused"} > 0"#, for: "15m",
            "{{ $value }} endpoints of webhooks have failed for a quarter of an hour; their messages expire in time.",
            action:
                "ccsctl senders webhook list names the senders and their last failures; webhook_paused in the log has the reasons. Mend the endpoint; ccsctl senders webhook resume tries it at once."
        ),
    ]
}
