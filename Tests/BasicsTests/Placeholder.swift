// Tests/BasicsTests
