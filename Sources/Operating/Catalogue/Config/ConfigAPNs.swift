import Basics

extension ConfigKey {
    /// The gateway to Apple's push service.
    static let apns: [ConfigKey: Entry] = [
        .apnsProductionAddress: Entry(
            type: .endpoint, preset: .text("api.push.apple.com:443"),
            help: "Host and port of Apple's push service for apps from the App Store and TestFlight.",
            reason:
                "Another address is for tests, or for a relay where ccsd cannot reach Apple. Port 2197 is the same service, for firewalls that allow nothing else."
        ),
        .apnsSandboxAddress: Entry(
            type: .endpoint, preset: .text("api.sandbox.push.apple.com:443"),
            help: "Host and port of Apple's push service for apps that are run from Xcode.",
            reason: "Apple keeps both environments apart: a device token is valid in one of them."),
        .apnsCAFile: Entry(
            type: .path, preset: .text(""),
            help: "PEM file of the CAs that Apple's certificates must come from; empty: the system's CAs.",
            reason:
                "The package ca-certificates contains Apple's CA. A file is for tests and relays; connections made after a reload use it.",
            isReloadable: true),
        .apnsConnections: Entry(
            type: .integer(1...64), preset: .integer(Limits.APNsGateway.connections), unit: "connections",
            help: "Maximum number of connections to Apple for one credential and environment.",
            reason:
                "One is opened at first, and more only while it is busy: it carries a thousand messages at a time. Apple treats many short connections as an attack.",
            isReloadable: true),
        .iosDataOnly: Entry(
            type: .choice(["store", "silent"]), preset: .text("store"),
            help:
                "Messages to iOS apps without notification and content_available: store keeps them until the app connects, silent wakes the app through Apple.",
            reason:
                "GCM stored them. Apps with a current Firebase SDK never connect, so such messages reach them only with silent.",
            isReloadable: true),
        .collapseKeyToAPNs: Entry(
            type: .boolean, preset: .boolean(false),
            help: "Send collapse_key to Apple as apns-collapse-id.",
            reason:
                "FCM did not: notifications with one collapse_key replace each other on Android, but not on iOS.",
            isReloadable: true),
        .gcm2015Priority: Entry(
            type: .boolean, preset: .boolean(false),
            help: "Send notifications without a priority to Apple with normal priority.",
            reason:
                "GCM did so from August 2015 on; FCM sends notifications with high priority by default.",
            isReloadable: true),
    ]
}
