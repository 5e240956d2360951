import Basics

extension ConfigKey {
    /// Webhooks of senders.
    static let webhooks: [ConfigKey: Entry] = [
        .webhookCAFile: Entry(
            type: .path, preset: .text(""),
            help:
                "PEM file of the CAs that the certificates of webhook endpoints must come from; empty: the system's CAs.",
            reason:
                "Endpoints inside a company may have certificates of its own CA. Requests that begin after a reload use the file.",
            isReloadable: true),
        .webhookPrivateAddresses: Entry(
            type: .boolean, preset: .boolean(false),
            help: "Send webhooks also to private, loopback and link-local addresses.",
            reason:
                "A name that leads into the network of this server could reach what trusts requests from there. Allow it for endpoints in the same network.",
            isReloadable: true),
    ]
}
