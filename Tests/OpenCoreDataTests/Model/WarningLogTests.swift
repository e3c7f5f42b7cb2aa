import Testing

@testable import OpenCoreData

/// The warnings of models, on standard error.
@Suite struct WarningLogTests {
  private let expected = [
    "/contents:2: warning: deleteRule is not known in <relationship>; deletionRule may be meant; it is passed over",
    "CoreData: warning: A.b has no inverse relationship",
  ]

  @Test("The warnings of a model are written once in a process, when stores are added.")
  func written() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let model = try model()
      for model in [model, copied(model)] { try addStores(model) }
    }
    let lines = lines(result)
    #expect(lines.count == 2)
    #expect(zip(lines, expected).allSatisfy { $0.hasPrefix("CoreData: ") && $0.hasSuffix($1) }, "\(lines)")
  }

  @Test("The warnings of a model that does not log them are not written, and neither are those of its copy.")
  func silenced() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let model = try model()
      model.logsWarnings = false
      try addStores(copied(model))
      try addStores(model)
    }
    #expect(lines(result).isEmpty)
  }

  private func lines(_ result: ExitTest.Result?) -> [String] {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self).split(separator: "\n")
      .filter { $0.contains("CoreData") }.map(String.init)
  }
}

private func model() throws -> NSManagedObjectModel {
  try Fixtures.read(
    "<model><entity name='A'>", "<relationship name='b' maxCount='1' deleteRule='Cascade' destinationEntity='A'/>",
    "</entity></model>")
}

private func addStores(_ model: NSManagedObjectModel) throws {
  let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
  for _ in 0..<2 {
    _ = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
  }
}
