import RowFormat
import Testing

@Suite("Consistency of a schema")
struct SchemaConsistencyTests {
  @Test("A consistent schema is read as it was written.")
  func sound() throws {
    #expect(try Schema(Samples.schema.bytes) == Samples.schema)
    #expect(try Schema(Schema().bytes) == Schema())
  }

  @Test("A schema is refused if a number is used twice, is 0, or was not given out.")
  func numbers() {
    refuse { $0.entities[1].number = 1 }
    refuse { $0.entities[0].properties[0].number = 3 }
    refuse { $0.entities[0].constraints[0].number = 1 }
    refuse { $0.entities[2].number = 0 }
    refuse { $0.entities[2].number = 11 }
    refuse { $0.nextNumber = 0 }
    refuse { $0.nextNumber = .max }
  }

  @Test("A schema is refused if a name is used twice.")
  func names() {
    refuse { $0.entities[1].name = "Person" }
    refuse { $0.entities[0].properties[1].name = "name" }
  }

  @Test("A schema is refused if a number leads nowhere.")
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

  @Test("A schema is refused if an entity inherits from itself.")
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
