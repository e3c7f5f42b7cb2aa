import Foundation
import OpenCoreData
import Testing

@Suite struct LargestWindowTests {
  @Test("The largest offset and limit are valid beside unsaved changes and with several stores.")
  func largest() throws {
    let family = try Family()
    _ = try family.coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    try family.run { context, _ in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      func names(_ offset: Int) throws -> [String?] {
        (request.fetchOffset, request.fetchLimit) = (offset, .max)
        let objects = try context.fetch(request)
        #expect(try context.count(for: request) == objects.count)
        return objects.map { $0["name"] as? String }
      }
      for name in ["a", "b", "c"] { context.make("Person", name) }
      try context.save()
      #expect(try names(1) == ["b", "c"])
      try context.fetch(request)[0]["name"] = "bb"
      context.make("Person", "d")
      #expect(try names(1) == ["bb", "c", "d"])
      #expect(try names(.max) == [])
    }
  }
}
