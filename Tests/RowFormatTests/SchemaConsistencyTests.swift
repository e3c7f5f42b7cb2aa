import RowFormat
import Testing

@Suite("A schema that does not agree with itself is refused")
struct SchemaConsistencyTests {
  @Test("but one that does is read as it was written")
  func sound() throws {
    #expect(try Schema(Samples.schema.bytes) == Samples.schema)
    #expect(try Schema(Schema().bytes) == Schema())
  }

  @Test("numbers that are used twice, are 0, or were not given out")
  func numbers() {
    refuse { $0.entities[1].number = 1 }
    refuse { $0.entities[0].properties[0].number = 3 }
    refuse { $0.entities[0].constraints[0].number = 1 }
    refuse { $0.entities[2].number = 0 }
    refuse { $0.entities[2].number = 11 }
    refuse { $0.nextNumber = 0 }
    refuse { $0.nextNumber = .max }
  }

  @Test("names that are used twice")
  func names() {
    refuse { $0.entities[1].name = "Person" }
    refuse { $0.entities[0].properties[1].name = "name" }
  }

  @Test("numbers that lead nowhere")
  func unknownNumbers() {
    refuse { $0.entities[2].superentity = 2 }
    refuse { $0.entities[0].constraints[0].attributes = [1] }
    for relationship in [
      Schema.Relationship(destination: 2, inverse: 0, deleteRule: 0),
      Schema.Relationship(destination: 1, inverse: 1, deleteRule: 0),
    ] {
      refuse { $0.entities[0].properties[1].kind = .toOne(relationship) }
    }
  }

  @Test("entities that inherit from themselves")
  func circles() {
    refuse { $0.entities[0].superentity = 1 }
    refuse { $0.entities[1].superentity = 10 }
  }

  private func refuse(_ change: (inout Schema) -> Void, _ location: SourceLocation = #_sourceLocation) {
    var schema = Samples.schema
    change(&schema)
    #expect(throws: RowDamage.self, sourceLocation: location) { try Schema(schema.bytes) }
  }
}
