import CoreData
import Testing

@Suite struct ImportTests {
  @Test("Core Data brings Foundation along")
  func foundation() {
    #expect(NSNumber(value: 1) == 1)
  }
}
