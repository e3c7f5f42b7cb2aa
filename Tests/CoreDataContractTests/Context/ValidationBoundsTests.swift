import CoreData
import Testing

/// Bounds come from model files, which have to be compiled first on Apple's platforms.
#if !canImport(Darwin)
  @Suite("Bounds in a model file", .anyStore)
  struct ValidationBoundsTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
      path: "../../Data/Models")

    private func code(_ model: String, _ entity: String, _ key: String, _ value: any Sendable) throws -> Int? {
      let url = Self.folder.appending(path: model).standardizedFileURL
      let model = try NSManagedObjectModel(modelFileAt: url)
      for entity in model.entities { entity.managedObjectClassName = "NSManagedObject" }
      let stack = try Stack<RecordingStore>(model, Backing())
      return stack.work { context in
        let object = context.make(entity)
        object[key] = value
        let error = thrown { try object.validateForInsert() }
        let errors = error?.userInfo[NSDetailedErrorsKey] as? [NSError] ?? error.map { [$0] } ?? []
        return errors.first { $0.userInfo["NSValidationErrorKey"] as? String == key }?.code
      }
    }

    @Test(
      "Validation finds numbers that are larger or smaller than the bounds of a model file.",
      arguments: [(4, 1610), (-4, 1620), (3, nil), (-3, nil)])
    func numbers(_ mood: Int, _ expected: Int?) throws {
      #expect(try code("Diary.xcdatamodeld", "Entry", "mood", mood) == expected)
    }

    @Test(
      "Validation finds dates that are later or earlier than the bounds of a model file.",
      arguments: [(4e9, 1630), (-16e9, 1640), (0, nil)] as [(Double, Int?)])
    func dates(_ seconds: Double, _ expected: Int?) throws {
      let date = Date(timeIntervalSinceReferenceDate: seconds)
      #expect(try code("Library.xcdatamodeld", "Magazine", "published", date) == expected)
    }

    @Test(
      "Validation finds strings that are too long, too short, or do not match the model file's pattern.",
      arguments: [(String(repeating: "x", count: 81), 1660), ("", 1670), (" x", 1680), ("x", nil)])
    func strings(_ name: String, _ expected: Int?) throws {
      #expect(try code("Library.xcdatamodeld", "Author", "name", name) == expected)
    }
  }
#endif
