import RowFormat
import Testing

@Suite("Consistency of a schema")
struct SchemaConsistencyTests {
  @Test("A consistent schema is read as it was written.")
  func sound() throws {
    #expect(try Schema(Samples.schema.bytes) == Samples.schema)
    #expect(try Schema(Schema().bytes) == Schema())
  }

  @Test("A schema in the former format is read: without indexes it ends after the entities.")
  func formerFormat() throws {
    var entity = Schema.Entity(number: 1, name: "A", superentity: 0, isAbstract: true)
    entity.properties = [Schema.Property(number: 2, name: "x", kind: .attribute(100))]
    entity.constraints = [Schema.Constraint(number: 3, attributes: [2])]
    var schema = Schema()
    (schema.nextNumber, schema.entities, schema.knowsOptionality) = (5, [entity], false)
    let bytes: [UInt8] = [1, 5, 1, 1, 1, 65, 0, 1, 1, 2, 1, 120, 0, 100, 1, 3, 1, 2]
    #expect(try Schema(bytes) == schema)
    schema.indexes = [Schema.Index(number: 4, entity: 1, properties: [2])]
    #expect(try Schema(bytes + [1, 4, 1, 1, 2, 0, 1]) == schema)
    #expect(try Schema(schema.bytes).indexes == schema.indexes && Schema(schema.bytes).knowsOptionality)
    #expect(throws: RowDamage.self) { try Schema(bytes + [0]) }
    #expect(throws: RowDamage.self) { try Schema([3] + bytes.dropFirst()) }
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

  @Test("A schema is refused if something in use is to be removed, or a number that was not given out.")
  func removals() throws {
    for number in [0, 1, 2, 5, 11] as [UInt32] {
      refuse { $0.removals = [.table(number)] }
      refuse { $0.removals = [.entries(number)] }
    }
    var schema = Samples.schema
    (schema.nextNumber, schema.removals) = (13, [.table(11), .entries(12)])
    #expect(try Schema(schema.bytes) == schema)
    refuse { ($0.nextNumber, $0.removals) = (13, [.table(11), .entries(11)]) }
  }

  @Test("Values for rows without a field are read as they were written, and refused for relationships.")
  func values() throws {
    let value = try Self.value
    var schema = Samples.schema
    schema.entities[0].properties[0].valueIfAbsent = value
    schema.entities[0].properties[0].valueIfNull = value
    schema.entities[0].formerNames = ["Human", "Being"]
    schema.migrations = .max
    #expect(try Schema(schema.bytes) == schema)
    refuse { $0.entities[0].properties[1].valueIfAbsent = value }
    refuse { $0.entities[1].properties[1].valueIfNull = value }
  }

  private static var value: Schema.StoredField {
    get throws {
      var row = FieldWriter()
      row.begin(1, .string)
      row.withOutput { $0.text("new") }
      return Schema.StoredField(try #require(try FieldReader.field(1, of: row.bytes)), of: row.bytes)
    }
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
