import CoreData
import Testing

@Suite struct ImportTests {
  @Test("Importing Core Data imports Foundation.")
  func foundation() {
    #expect(NSNumber(value: 1) == 1)
  }
}
