// Tests/ServerTests
