/// Limits of device groups.
extension Limits {
    /// Members of a device group: as with the real service (http 6.1).
    public static let groupMembers = 20
    /// Bytes of the name of a group.
    public static let groupLabelBytes = 1_024
    /// Requests about groups that wait for the store; beyond it they are told to try again.
    public static let groupRequestsWaiting = 10_000
    /// Messages to groups that wait for the store or for members; each holds up to twenty answers.
    public static let groupSendsWaiting = 10_000
}
